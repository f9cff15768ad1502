"""The lanes of a `vmap`, staged once and run together: the size of the graph does not depend on their number.

One lane is traced into a throw-away graph. If it only computes, all lanes run as batches of TensorFlow's
operations (`tf.vectorized_map`), or as a staged loop where an operation has no batched form. A lane that
draws, prints, or writes to an object that it has not made is not run together with other lanes.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from np2tf import tnp
from np2tf.arrays.array.ndarray import is_array, tensor_array, weak_scalar, wrap_tensor
from np2tf.arrays.front.at import at
from np2tf.arrays.operands.conversion import as_tensor
from np2tf.arrays.tensors.axis_reductions import reduce_any
from np2tf.arrays.tensors.batches import quiet_tensorflow
from np2tf.arrays.tensors.graphs import new_graph, new_placeholder
from np2tf.arrays.tensors.storage import current_scope, staging_scope
from np2tf.arrays.tensors.symbolic_integers import SymInt
from np2tf.arrays.tensors.violations import apart, record_violation
from np2tf.staging.control.statements import for_loop
from np2tf.staging.trace.trace import Trace, trace_of
from np2tf.transforms.lanes.axes import LaneCall, LaneStop, MetCounts, NamedAxis, StagedLanes, enter_axis
from np2tf.transforms.lanes.effects import (
    BRANCHES,
    FAILURES,
    LOOPS,
    dependents_of,
    effects_among,
    operations_within,
    watched_run,
)
from np2tf.transforms.values import TREES, Structure, as_array, dtype_of

#: The ways to run lanes together, the preferred first.
ROUTES: tuple[str, ...] = ("batches", "loop")
#: Fewer lanes are staged one by one.
FEW_LANES = 2
#: The limit for the memory of all lanes together, in elements of the largest array.
LARGEST = 2**26


@dataclass(frozen=True)
class Lanes(LaneCall):
    """A call of `vmap` with arguments for all lanes."""

    size: int

    def stacks(self) -> list[tf.Tensor]:
        """Return the leaves that are sliced, with the lanes along the first axis."""
        arrays = [
            tnp.moveaxis(tnp.asarray(as_array(leaf)), axis, 0)
            for leaf, axis in zip(self.structure.leaves, self.slices, strict=True)
            if axis is not None
        ]
        return [as_tensor(array) for array in arrays]

    def call(self, slices: Sequence[tf.Tensor]) -> Any:
        """Return the result of a lane."""
        slice_iterator = iter(slices)
        leaves = [
            as_array(leaf) if axis is None else wrap_tensor(tf.identity(next(slice_iterator)))
            for leaf, axis in zip(self.structure.leaves, self.slices, strict=True)
        ]
        args, kwargs = self.structure.build(leaves)
        return self.run(*args, **kwargs)


@dataclass(frozen=True)
class Together:
    """The results of all lanes.

    Args:
        rows: the leaves of the results, with the lanes along the first axis.
        equal: for each leaf whether its value is visibly the same in all lanes.
    """

    structure: Structure
    rows: list[tf.Tensor]
    equal: list[bool]


def run_together(lanes: Lanes, axis_name: Any) -> Together | None:
    """Return the results of lanes that are staged once; None if they must be staged one by one."""
    scope = current_scope()
    assert scope is not None
    trace = trace_of(scope)
    before = trace.violations.value
    axis = None if axis_name is None else NamedAxis(axis_name, lanes.size)
    counts = MetCounts()
    try:
        staging = _Staging(lanes, trace, axis, counts)
        while True:
            outcome = staging.trial()
            if outcome is None:
                return None
            rows = staging.rows(outcome)
            if rows is None:
                return None
            if outcome.stop is None:
                return Together(outcome.structure, rows, outcome.equal)
            if outcome.stop.axis is not axis:
                outer_stop = _stop_together(outcome, rows)
                break
            axis.results.append((_combine(outcome, rows, lanes.size), outcome.stop))
    except FAILURES:
        trace.violations.rebase(before)
        counts.restore()
        return None
    raise outer_stop


@dataclass(frozen=True)
class _Outcome:
    """The result of a lane, or the operand of the collective at which the lane has stopped."""

    structure: Structure
    stop: LaneStop | None

    def tensors(self) -> list[tf.Tensor]:
        """Return the leaves as tensors of stacked results' dtypes; raise TypeError if one is no number."""
        if any(dtype_of(leaf) is None for leaf in self.structure.leaves):
            raise TypeError("a result is not a number")
        return [as_tensor(tnp.asarray(leaf)) for leaf in self.structure.leaves]


@dataclass(frozen=True)
class _TrialOutcome(_Outcome):
    """An outcome, and the facts about a lane that a trial has shown.

    Args:
        kinds: shape and dtype of each leaf.
        equal: for each leaf whether it depends on no sliced argument.
        kinds_of_ops: the types of the operations, also in loops and branches.
        largest: the number of elements of the largest tensor.
    """

    kinds: list[tuple[list[int], tf.DType]]
    equal: list[bool]
    kinds_of_ops: frozenset[str]
    largest: int


class _Staging:
    def __init__(self, lanes: Lanes, trace: Trace, axis: NamedAxis | None, counts: MetCounts) -> None:
        self._lanes, self._trace, self._axis, self._counts = lanes, trace, axis, counts
        self._stacks = lanes.stacks()

    def _outcome(self, counter: tf.Tensor, slices: Sequence[tf.Tensor]) -> _Outcome:
        axis = self._axis
        self._counts.restore()
        if axis is not None:
            axis.begin(weak_scalar(counter, int, SymInt.fresh(counter, 0, self._lanes.size - 1)))
        with enter_axis(StagedLanes(counter)), nullcontext() if axis is None else enter_axis(axis):
            try:
                return _Outcome(Structure(self._lanes.call(slices), TREES), None)
            except LaneStop as stop:
                return _Outcome(Structure(stop.value, TREES), stop)

    def trial(self) -> _TrialOutcome | None:
        """Trace a lane into a throw-away graph, and return its facts; None if it does more than compute."""
        function, trace = self._lanes.function, self._trace
        with new_graph("lane").as_default() as graph:
            counter = new_placeholder(tf.int64, ())
            slices = [new_placeholder(array.dtype, array.shape[1:]) for array in self._stacks]

            def run() -> tuple[_Outcome, list[tf.Tensor]]:
                outcome = self._outcome(counter, slices)
                return outcome, outcome.tensors()

            with trace.all_at_once():
                (outcome, tensors), written = watched_run(trace, function, run)
            operations = graph.get_operations()
        if written or not all(tensor.shape.is_fully_defined() for tensor in tensors):
            return None
        all_operations = operations_within(operations)
        if effects_among(all_operations):
            return None
        dependents = dependents_of(operations, [counter, *slices])
        inner_ops = [
            op for op in all_operations if op.type != "Placeholder"
        ]  # placeholders are values from outside
        sizes = [tensor.shape.num_elements() for op in inner_ops for tensor in op.outputs]
        return _TrialOutcome(
            outcome.structure,
            outcome.stop,
            [(tensor.shape.as_list(), tensor.dtype) for tensor in tensors],
            [tensor.ref() not in dependents for tensor in tensors],
            frozenset(op.type for op in all_operations),
            max((size or 0 for size in sizes), default=0),
        )

    def rows(self, outcome: _TrialOutcome) -> list[tf.Tensor] | None:
        """Return the leaves for all lanes, along a new first axis; None if no way to compute them fits."""
        for route in ROUTES:
            before = self._trace.violations.value
            try:
                if route == "loop":
                    return self._in_a_loop(outcome)
                if self._fits_in_batches(outcome):
                    return self._in_batches(outcome)
            except FAILURES:
                self._trace.violations.rebase(before)
        return None

    def _fits_in_batches(self, outcome: _TrialOutcome) -> bool:
        """Return whether a batch computes what single lanes compute, in a reasonable amount of memory."""
        if outcome.kinds_of_ops & (BRANCHES | LOOPS):
            return False
        return outcome.largest * self._lanes.size <= LARGEST

    def _in_batches(self, outcome: _TrialOutcome) -> list[tf.Tensor]:
        trace = self._trace

        def row(inputs: tuple[tf.Tensor, ...]) -> tuple[tf.Tensor, ...]:
            with apart(trace.violations), staging_scope(trace), trace.all_at_once():
                tensors = self._outcome(inputs[0], inputs[1:]).tensors()
                return (*tensors, trace.violations.value)

        counters = tf.range(self._lanes.size, dtype=tf.int64)
        with quiet_tensorflow():
            *rows, violations = tf.vectorized_map(
                row, (counters, *self._stacks), fallback_to_while_loop=False
            )
        if tf.get_static_value(violations) is None or tf.get_static_value(violations).any():
            record_violation(reduce_any(violations))
        return [self._check(row, kind) for row, kind in zip(rows, outcome.kinds, strict=True)]

    def _check(self, row: tf.Tensor, kind: tuple[list[int], tf.DType]) -> tf.Tensor:
        shape, dtype = kind
        if row.dtype != dtype:
            raise TypeError("a batch has another dtype than a lane")
        return tf.ensure_shape(row, [self._lanes.size, *shape])

    def _in_a_loop(self, outcome: _TrialOutcome) -> list[tf.Tensor]:
        stacks: list[Any] = [tensor_array(array) for array in self._stacks]
        buffers = [
            tnp.zeros((self._lanes.size, *shape), dtype.as_numpy_dtype) for shape, dtype in outcome.kinds
        ]

        def step(k: Any, *buffers: Any) -> tuple[Any, ...]:
            slices = [as_tensor(array[k]) for array in stacks]
            tensors = self._outcome(tf.cast(as_tensor(k), tf.int64), slices).tensors()
            return tuple(
                at(buffer)[k].set(wrap_tensor(tensor))
                for buffer, tensor in zip(buffers, tensors, strict=True)
            )

        results = for_loop(range(self._lanes.size), step, tuple(buffers))
        return [self._check(as_tensor(row), kind) for row, kind in zip(results, outcome.kinds, strict=True)]


def _stop_together(outcome: _TrialOutcome, rows: Sequence[tf.Tensor]) -> LaneStop:
    """Return the stop of all lanes at a collective over an axis around them: the operands are stacked."""
    stop, leaves, stacks = outcome.stop, list(outcome.structure.leaves), []
    assert stop is not None
    for place, (row, depth) in enumerate(zip(rows, stop.stacks, strict=True)):
        if is_array(leaves[place]):
            leaves[place] = wrap_tensor(row)
        stacks.append(depth + 1 if is_array(leaves[place]) else depth)
    return LaneStop(
        stop.axis, outcome.structure.build(leaves), stop.combine, stop.name, stacks, stop.depth + 1
    )


def _combine(outcome: _TrialOutcome, rows: Sequence[tf.Tensor], size: int) -> Any:
    """Return the result of a collective."""
    assert outcome.stop is not None
    return outcome.structure.build(
        [
            wrap_tensor(as_tensor(combine.of_stack(tensor_array(row))))
            if is_array(leaf)
            else combine.lanes([leaf] * size)
            for leaf, row, combine in zip(outcome.structure.leaves, rows, outcome.stop.combines, strict=True)
        ]
    )
