"""Lanes over rows of different lengths, and over axes of unknown length: one staged loop for all of them.

One lane is traced into a throw-away graph, which shows the forms of its results. The loop then computes lane
after lane, each on exactly its own row: nothing is padded or masked. Results whose lengths depend on the row
are ragged arrays again. Nothing is traced again for other lengths.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, NamedTuple

import tensorflow as tf

from np2tf import tnp
from np2tf.arrays.array.ndarray import tensor_array, weak_scalar, wrap_tensor
from np2tf.arrays.operands.conversion import as_tensor
from np2tf.arrays.ragged import RaggedArray
from np2tf.arrays.tensors.graphs import new_graph, new_placeholder
from np2tf.arrays.tensors.storage import current_scope, staging_scope
from np2tf.arrays.tensors.symbolic_integers import SymInt
from np2tf.arrays.tensors.violations import apart, record_violation, refuse_where
from np2tf.core.errors import NotStagedError, RaggedRowsError, ShapeNeededError, TransformArgumentError
from np2tf.staging.trace.trace import Trace, trace_of
from np2tf.transforms.lanes.axes import LaneCall, LaneStop, NamedAxis, StagedLanes, enter_axis
from np2tf.transforms.lanes.effects import (
    dependents_of,
    effects_among,
    operations_within,
    refuse_draws,
    watched_run,
)
from np2tf.transforms.runnable import origin_of
from np2tf.transforms.values import TREES, Structure, as_array, dtype_of

#: In the graph of a plain tf.function, a check of NumPy's errors is an operation.
_CHECKS = frozenset({"Assert"})


class RowLanes(LaneCall):
    """A call of `vmap` with rows of different lengths, or of an unknown number."""

    def sources(self) -> list[Any]:
        """Return the leaves with the lanes along the first axis: ragged arrays, and tensors."""
        return [
            leaf.copy()
            if isinstance(leaf, RaggedArray)
            else as_tensor(tnp.moveaxis(tnp.asarray(as_array(leaf)), axis, 0))
            for leaf, axis in zip(self.structure.leaves, self.slices, strict=True)
            if axis is not None
        ]

    def call(self, sources: Sequence[Any], k: tf.Tensor) -> Any:
        """Return the result of lane `k`."""
        iterator = iter(sources)
        leaves = [
            as_array(leaf) if axis is None else _row(next(iterator), k)
            for leaf, axis in zip(self.structure.leaves, self.slices, strict=True)
        ]
        args, kwargs = self.structure.build(leaves)
        return self.run(*args, **kwargs)


def _row(source: Any, k: tf.Tensor) -> Any:
    """Return a row, to which the lane may write."""
    if isinstance(source, tf.Tensor):
        return wrap_tensor(tf.identity(source[k]))
    start, end = source.starts[k], source.ends[k]
    values = source.values
    if isinstance(values, RaggedArray):
        return RaggedArray(values.values, values.starts[start:end], values.ends[start:end]).copy()
    return wrap_tensor(tf.identity(values.tensor[start:end]))


def _count(sources: Sequence[Any]) -> int | tf.Tensor:
    """Return the number of lanes; raise TransformArgumentError if the sources' numbers of rows differ."""
    firsts = [source.starts if isinstance(source, RaggedArray) else source for source in sources]
    known_counts = {first.shape[0] for first in firsts} - {None}
    error = TransformArgumentError(
        "vmap got inconsistent sizes for array axes to be mapped; all sliced axes must have one length"
    )
    if len(known_counts) > 1:
        raise error
    counts = [tf.shape(first, out_type=tf.int64)[0] for first in firsts]
    for first, count in zip(firsts[1:], counts[1:], strict=True):
        if first.shape[0] is None or firsts[0].shape[0] is None:
            refuse_where(tf.not_equal(count, counts[0]), error)
    return known_counts.pop() if known_counts else counts[0]


class _Form(NamedTuple):
    """The form that a leaf of the result has in every lane.

    Attributes:
        depth: the number of axes, from the first on, whose lengths depend on the lane.
        shape: the lengths of the other axes.
    """

    depth: int
    shape: tuple[int, ...]
    dtype: tf.DType

    @property
    def shapes(self) -> list[tuple[int | None, ...]]:
        """The shapes of the tensors of a leaf: the lengths of rows, and the elements."""
        if not self.depth:
            return [self.shape]
        return [(), *[(None,)] * (self.depth - 1), (None, *self.shape)]

    @property
    def dtypes(self) -> list[tf.DType]:
        """The dtypes of these tensors."""
        return [*[tf.int64] * self.depth, self.dtype]


def _encode(leaf: Any) -> tuple[_Form, list[tf.Tensor]]:
    """Return the form and the tensors of a leaf; raise RaggedRowsError if it is no number or array."""
    if isinstance(leaf, RaggedArray):
        tensor = leaf.ragged_tensor
    elif dtype_of(leaf) is None:
        raise RaggedRowsError(f"vmap cannot stack results of type {type(leaf).__name__}")
    else:
        tensor = as_tensor(tnp.asarray(leaf))
        if tensor.shape.rank is None:
            raise RaggedRowsError("vmap cannot stack results with an unknown number of axes")
        unknown = [axis for axis, length in enumerate(tensor.shape) if length is None]
        if not unknown:
            return _Form(0, tuple(tensor.shape), tensor.dtype), [tensor]
        if unknown[-1]:
            tensor = tf.RaggedTensor.from_tensor(tensor, ragged_rank=unknown[-1])
    if isinstance(tensor, tf.Tensor):
        flat, lengths = tensor, [tf.shape(tensor, out_type=tf.int64)[0]]
    else:
        flat, rows = tensor.flat_values, tensor.nested_row_lengths()
        lengths = [tf.cast(length, tf.int64) for length in (tensor.nrows(), *rows)]
    if not flat.shape[1:].is_fully_defined():
        raise RaggedRowsError("the shapes of a function's results for a row are not known")
    return _Form(len(lengths), tuple(flat.shape[1:]), flat.dtype), [*lengths, flat]


class _Outcome:
    """The result of a lane, or the operand of the collective at which it has stopped.

    Attributes:
        stop: the stop at a collective; None if the lane has ended.
        forms, tensors: the form and the tensors of each leaf, as they are now.
    """

    def __init__(self, result: Any, stop: LaneStop | None = None) -> None:
        self.structure, self.stop = Structure(result, TREES), stop
        pairs = [_encode(leaf) for leaf in self.structure.leaves]
        self.forms, self.tensors = [form for form, _ in pairs], [tensors for _, tensors in pairs]


@dataclass(frozen=True)
class Rows:
    """The results of all lanes.

    Args:
        leaves: the leaves of the results of all lanes: tensors and ragged arrays.
        equal: for each leaf whether its value is visibly the same in all lanes.
    """

    structure: Structure
    leaves: list[Any]
    equal: list[bool]


def run_rows(lanes: RowLanes, axis_name: Any) -> Rows:
    """Return the results of lanes whose rows have lengths that are known only at run time.

    Raises:
        NotStagedError: a lane does more than compute.
        ShapeNeededError: XLA will compile the graph, and needs to know all lengths.
        RaggedRowsError: the results have no form of a ragged tensor.
    """
    scope = current_scope()
    if scope is not None:
        trace = trace_of(scope)
        if trace.xla:
            raise ShapeNeededError(
                "the number of the slices of a vmap, or their lengths, are known only at run time"
            )
        trace.loops.how.append("graph")
    staging = _RowStaging(lanes, axis_name)
    while True:
        outcome, forms, equal = staging.trial()
        leaves = staging.loop(forms)
        if outcome.stop is None or staging.axis is None:
            return Rows(outcome.structure, leaves, equal)
        if any(form.depth for form in forms):
            raise RaggedRowsError(f"{outcome.stop.name} of arrays whose lengths differ between the lanes")
        results = [
            wrap_tensor(as_tensor(combine.of_stack(tensor_array(rows))))
            for combine, rows in zip(outcome.stop.combines, leaves, strict=True)
        ]
        staging.axis.results.append((outcome.structure.build(results), outcome.stop))


class _RowStaging:
    def __init__(self, lanes: RowLanes, axis_name: Any) -> None:
        scope = current_scope()
        self._lanes = lanes
        self._trace: Trace | None = None if scope is None else trace_of(scope)
        self._sources = lanes.sources()
        self._count = _count(self._sources)
        size = self._count if isinstance(self._count, int) else None
        self.axis = None if axis_name is None else NamedAxis(axis_name, size)

    def _outcome(self, k: tf.Tensor) -> _Outcome:
        axis = self.axis
        if axis is not None:
            top = None if axis.size is None else axis.size - 1
            axis.begin(weak_scalar(k, int, SymInt.fresh(k, 0, top)))
        with (
            enter_axis(StagedLanes(k, may_stop=False)),
            nullcontext() if axis is None else enter_axis(axis),
        ):
            try:
                return _Outcome(self._lanes.call(self._sources, k))
            except LaneStop as stop:
                return _Outcome(stop.value, stop)

    def trial(self) -> tuple[_Outcome, list[_Form], list[bool]]:
        """Trace a lane into a throw-away graph. Return its outcome, and for each leaf its form, and whether
        it depends on no row.

        Raises:
            NotStagedError: the lane does more than compute.
        """
        with new_graph("row").as_default() as graph:
            k = new_placeholder(tf.int64, ())
            outcome = self._watch(lambda: self._outcome(k))
            operations = graph.get_operations()
        effects = effects_among(
            operations_within(operations), _CHECKS if self._trace is None else frozenset()
        )
        if effects:
            raise NotStagedError(f"a function that vmap applies to rows has side effects:  {effects}")
        dependents = dependents_of(operations, [k])
        equal = [all(tensor.ref() not in dependents for tensor in parts) for parts in outcome.tensors]
        return outcome, outcome.forms, equal

    def _watch(self, run: Callable[[], _Outcome]) -> _Outcome:
        """Return a lane's outcome, and undo its writes; raise NotStagedError if any went outside."""
        trace = self._trace
        if trace is None:
            with refuse_draws(origin_of(self._lanes.function), self._lanes.structure.leaves):
                return run()
        with trace.all_at_once():
            outcome, written = watched_run(trace, self._lanes.function, run)
        if written:
            raise NotStagedError(f"a function that vmap applies to rows writes to {written} from outside")
        return outcome

    def loop(self, forms: Sequence[_Form]) -> list[Any]:
        """Return the leaves of all lanes, as tensors and ragged arrays."""
        arrays = [
            tf.TensorArray(dtype, tf.cast(self._count, tf.int32), infer_shape=False, element_shape=shape)
            for form in forms
            for shape, dtype in zip(form.shapes, form.dtypes, strict=True)
        ]

        def step(k: tf.Tensor, fails: tf.Tensor, *arrays: tf.TensorArray) -> Any:
            tensors, violation = self._lane(k, forms)
            arrays_now = [
                array.write(tf.cast(k, tf.int32), part) for array, part in zip(arrays, tensors, strict=True)
            ]
            return k + 1, fails | violation, *arrays_now

        start = (tf.constant(0, tf.int64), tf.constant(False), *arrays)
        count = tf.cast(self._count, tf.int64)
        _, fails, *arrays = tf.while_loop(lambda k, *_: k < count, step, start)
        if self._trace is not None:
            record_violation(fails)
        parts = iter(arrays)
        return [self._join(form, [next(parts) for _ in form.dtypes]) for form in forms]

    def _lane(self, k: tf.Tensor, forms: Sequence[_Form]) -> tuple[list[tf.Tensor], tf.Tensor]:
        """Return the tensors of lane `k`, and whether NumPy would have raised an error in it."""
        trace = self._trace
        if trace is None:
            outcome, violation = self._outcome(k), tf.constant(False)
        else:
            with apart(trace.violations), staging_scope(trace):
                outcome = self._outcome(k)
                violation = trace.violations.value
        if outcome.forms != list(forms):
            raise RaggedRowsError(
                "the function of a row returns values of another form when it is traced again"
            )
        return [part for parts in outcome.tensors for part in parts], violation

    def _join(self, form: _Form, arrays: Sequence[tf.TensorArray]) -> Any:
        size = self._count if isinstance(self._count, int) else None
        if not form.depth:
            return tf.ensure_shape(arrays[0].stack(), [size, *form.shape])
        lengths = [tf.ensure_shape(arrays[0].stack(), [size]), *[array.concat() for array in arrays[1:-1]]]
        flat = tf.ensure_shape(arrays[-1].concat(), [None, *form.shape])
        tensor = tf.RaggedTensor.from_nested_row_lengths(flat, lengths, validate=False)
        return RaggedArray.of_tensor(tensor, may_be_dense=True)


__all__ = ["RowLanes", "Rows", "run_rows"]
