"""XLA segments: the parts of a replica between collectives, which XLA compiles.

TensorFlow's collective operations have no form for XLA on processors, so that a whole replica is a graph.
The function is staged up to its first collective, as a program of XLA; the collective is an operation of the
graph; then the function is staged again with its result, and so on. The operations that a later segment does
not need are not compiled for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from np2tf.runtime.arguments.traced_arguments import same_contents
from np2tf.runtime.control_flow.attribute_staging import attributes_within
from np2tf.runtime.structures.containers import guard_closures
from np2tf.runtime.tracing.trace import Trace
from np2tf.runtime.xla.op_placement import ops_of, xla_pays
from np2tf.tnp._array.ndarray import is_array, tensor_scalar, wrap_tensor
from np2tf.tnp._operands.conversion import as_tensor
from np2tf.tnp._tensor.index_bounds import record_violation
from np2tf.tnp._tensor.storage import staging_scope
from np2tf.transforms.core.leaves import dtype_of
from np2tf.transforms.core.structures import Structure
from np2tf.transforms.lanes.axes import Combine, LaneStop

#: A function with more segments is a graph: each segment repeats the operations that it needs.
MOST_SEGMENTS = 4


class SegmentError(Exception):
    """Raised if a replica cannot be staged as segments. Nothing of the graph may be used."""


class Segments:
    """The segments of one replica, and the collectives between them.

    Args:
        trace: the trace of the graph.
        function: the user's function.
        call: stages the function, and returns its result.
    """

    def __init__(self, trace: Trace, function: Any, call: Callable[[], Any]) -> None:
        self._trace, self._function, self._call = trace, function, call
        self._results: list[Any] = []
        self._graph: Any = None
        self._met_count = 0

    def run(self, combine: Callable[[LaneStop], Any]) -> Any:
        """Return the result of the function.

        Args:
            combine: returns the result of a collective, given the operand in the graph.

        Raises:
            SegmentError: the function does more than compute, or XLA should not compile it.
        """
        while len(self._results) <= MOST_SEGMENTS:
            outcome = self._segment()
            if outcome.stop is None:
                return outcome.value
            outcome.stop.value = outcome.value
            self._results.append(combine(outcome.stop))
        raise SegmentError

    def meet(self, axis: Any, name: str, x: Any, combine: Combine) -> Any:
        """Return the result of a collective inside a segment, if it is known; end the segment otherwise."""
        if tf.compat.v1.get_default_graph() is not self._graph:
            raise SegmentError  # in a loop or branch
        self._met_count += 1
        if self._met_count <= len(self._results):
            return self._results[self._met_count - 1]
        raise LaneStop(axis, x, combine, name, [0] * len(Structure(x).leaves))

    def _segment(self) -> _Outcome:
        try:
            return self._staged_segment()
        except Exception as error:  # the graph that is made instead raises errors of the user's
            raise SegmentError from error

    def _staged_segment(self) -> _Outcome:
        trace = self._trace
        segments: list[_StagedSegment] = []
        mark = trace.log.mark() if trace.log else 0

        def build() -> Sequence[tf.Tensor]:
            segments[:] = [self._stage()]
            return segments[0].tensors

        with trace.stage_for_xla():
            function = tf.function(build, jit_compile=True, autograph=False).get_concrete_function()
        if trace.log and trace.log.mark() != mark:
            trace.log.forget(mark)
            raise SegmentError
        if not xla_pays(ops_of(function.graph)) or not all(
            output.shape.is_fully_defined() for output in function.outputs
        ):
            raise SegmentError
        structure, stop, tensors = segments[0].structure, segments[0].stop, list(function())
        if segments[0].may_fail:
            record_violation(tensors.pop())
        numbers = iter(tensors)
        leaves = [leaf if dtype_of(leaf) is None else _like(leaf, next(numbers)) for leaf in structure.leaves]
        return _Outcome(structure.build(leaves), stop)

    def _stage(self) -> _StagedSegment:
        """Stage the function in the graph of a segment, up to a collective or its end."""
        trace = self._trace
        self._graph, self._met_count = tf.compat.v1.get_default_graph(), 0
        guard, objects = guard_closures(self._function), attributes_within(trace, self._function)
        attributes, violation = objects.read(), trace.violations.value
        with staging_scope(trace) as scope:
            trace.violations.rebase(tf.constant(False))
            try:
                (value, stop), after = objects.run_apart(self._value)
                structure = Structure(value)
                tensors = [as_tensor(leaf) for leaf in structure.leaves if dtype_of(leaf) is not None]
                may_fail = trace.violations.value.op.type != "Const"
                tensors = [tf.identity(tensor) for tensor in tensors]
                tensors += [trace.violations.value] if may_fail else []
            finally:
                writes, poisoned_storages = set(scope.writes), list(scope.poisoned_storages)
                scope.undo()
                trace.violations.rebase(violation)
                guard.check()
        if writes - {trace.violations} or poisoned_storages:
            raise SegmentError
        if len(attributes) != len(after) or not all(map(same_contents, attributes, after)):
            raise SegmentError
        return _StagedSegment(structure, stop, tensors, may_fail)

    def _value(self) -> tuple[Any, LaneStop | None]:
        try:
            return self._call(), None
        except LaneStop as stop:
            return stop.value, stop


@dataclass(frozen=True)
class _Outcome:
    """The value that a segment gives, in the graph around it.

    Args:
        value: the function's result, or the operand of a collective.
        stop: the collective; None for the result.
    """

    value: Any
    stop: LaneStop | None


@dataclass(frozen=True)
class _StagedSegment:
    """The value that a segment gives, in its own graph.

    Args:
        structure: the structure of the value, with its leaves.
        stop: the collective; None for the function's result.
        tensors: the leaves that are numbers or arrays, and whether NumPy raises an error if it may.
        may_fail: whether the last tensor says whether NumPy raises an error.
    """

    structure: Structure
    stop: LaneStop | None
    tensors: Sequence[tf.Tensor]
    may_fail: bool


def _like(leaf: Any, tensor: tf.Tensor) -> Any:
    return wrap_tensor(tensor) if is_array(leaf) else tensor_scalar(tensor)


__all__ = ["SegmentError", "Segments"]
