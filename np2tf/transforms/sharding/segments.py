"""The parts of a replica between collectives, compiled by XLA, and the axis along which the
collectives run.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf
from tensorflow.python.ops import gen_array_ops

from np2tf.arrays.array.ndarray import is_array, tensor_array, tensor_scalar, weak_scalar, wrap_tensor
from np2tf.arrays.operands.conversion import as_tensor
from np2tf.arrays.tensors.graphs import default_graph
from np2tf.arrays.tensors.storage import current_scope
from np2tf.arrays.tensors.violations import apart, record_violation
from np2tf.core.errors import NotStagedError
from np2tf.staging.trace.trace import Trace, trace_of
from np2tf.staging.xla.placement import ops_of, xla_pays
from np2tf.transforms.lanes.axes import Combine, LaneStop, StagedLanes, refuse_inner_derivative
from np2tf.transforms.lanes.effects import watched_run
from np2tf.transforms.recordings import recordings
from np2tf.transforms.sharding.replicas import Replicas
from np2tf.transforms.values import Structure, dtype_of

__all__ = [
    "ReplicaAxis",
    "SegmentError",
    "Segments",
    "key_of",
]


# -- segments ------------------------------------------------------------------------------------------------
# XLA segments: the parts of a replica between collectives, which XLA compiles.
#
# TensorFlow's collective operations have no form for XLA on processors, so that a whole replica is a graph.
# The function is staged up to its first collective, as a program of XLA; the collective is an operation of
# the graph; then the function is staged again with its result, and so on. The operations that a later
# segment does not need are not compiled for it.

#: A function with more segments is a graph: each segment repeats the operations that it needs.
MOST_SEGMENTS = 4


class SegmentError(Exception):
    """Raised if a replica cannot be staged as segments. Nothing of the graph may be used."""


class Segments:
    """The segments of one replica, and the collectives between them.

    Args:
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
        if default_graph() is not self._graph:
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
        mark = trace.effects.mark()

        def build() -> Sequence[tf.Tensor]:
            segments[:] = [self._stage()]
            return segments[0].tensors

        with trace.stage_for_xla():
            function = tf.function(build, jit_compile=True, autograph=False).get_concrete_function()
        if trace.effects.mark() != mark:
            trace.effects.forget(mark)
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
        self._graph, self._met_count = default_graph(), 0
        with apart(self._trace.violations):
            segment, written = watched_run(self._trace, self._function, self._staged)
        if written:
            raise SegmentError
        return segment

    def _staged(self) -> _StagedSegment:
        violations = self._trace.violations
        stop: LaneStop | None = None
        try:
            value = self._call()
        except LaneStop as error:
            value, stop = error.value, error
        structure = Structure(value)
        tensors = [as_tensor(leaf) for leaf in structure.leaves if dtype_of(leaf) is not None]
        may_fail = violations.value.op.type != "Const"
        tensors = [tf.identity(tensor) for tensor in tensors]
        tensors += [violations.value] if may_fail else []
        return _StagedSegment(structure, stop, tensors, may_fail)


@dataclass(frozen=True)
class _Outcome:
    """The function's result, or the operand of the collective `stop`, in the graph around the segment."""

    value: Any
    stop: LaneStop | None


@dataclass(frozen=True)
class _StagedSegment:
    """The value that a segment gives, in its own graph.

    Args:
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


# -- replica axis --------------------------------------------------------------------------------------------
# The axis of the replicas: collectives over it are collective operations between devices.


class ReplicaAxis:
    """The axis of the replicas while a function is staged for each of them.

    Attributes:
        lane: the number of the replica that is staged now, a staged int.
        sources: the tensors that vary from replica to replica because of what they are.
        met_count: the number of collectives that the replica has met.
        segments: the segments of XLA that the replica is staged as; None for a graph.

    Args:
        label: a text that is the same in all processes and differs from function to function.
    """

    def __init__(self, name: Any, replicas: Replicas, label: str) -> None:
        self.name = name
        self.lane: Any = 0
        self.sources: list[tf.Tensor] = []
        self._replicas, self._label = replicas, label
        self._place = self.met_count = 0
        self.segments: Segments | None = None
        self._recordings = recordings.depth

    def begin(self, place: int) -> None:
        """Begin to stage the replica at a place among this process's devices."""
        self._place, self.met_count = place, 0
        # No constant: all replicas have the same code, which only finds out when it runs which replica it is.
        number = gen_array_ops.PlaceholderWithDefault(
            input=tf.constant(self._replicas.first + place, tf.int64), shape=()
        )
        self.sources.append(number)
        self.lane = weak_scalar(number, int)

    def vary(self, leaf: Any) -> Any:
        """Return a leaf of a block's structure, marked as a source."""
        if dtype_of(leaf) is None:
            return leaf
        tensor = tf.identity(as_tensor(leaf))
        self.sources.append(tensor)
        return wrap_tensor(tensor)

    def collective(self, name: str, x: Any, combine: Combine, inner: Sequence[StagedLanes]) -> Any:
        """Return the result of a collective, in the replica that is staged now."""
        if inner:
            raise NotStagedError(f"{name} over the axis {self.name!r}, which is around a vmap")
        refuse_inner_derivative(name, x, self.name, self._recordings)
        if self.segments is not None:
            return self.segments.meet(self, name, x, combine)
        return self._combine(name, x, combine)

    def combine_stop(self, stop: LaneStop) -> Any:
        """Return the result of the collective that a segment has ended with."""
        return self._combine(stop.name, stop.value, stop.combine)

    def _combine(self, name: str, x: Any, combine: Combine) -> Any:
        structure = Structure(x)
        return structure.build([self._combine_leaf(name, leaf, combine) for leaf in structure.leaves])

    def _combine_leaf(self, name: str, leaf: Any, combine: Combine) -> Any:
        if dtype_of(leaf) is None:
            raise NotStagedError(f"{name} takes arrays and numbers, but got a {type(leaf).__name__}")
        tensor = as_tensor(leaf)
        group, key = self._replicas.group, self._key(name, tensor)
        if combine.of_sum is not None:
            total = group.sum(tensor, self._place, key)
            if total is not None:
                return combine.of_sum(wrap_tensor(total), group.size)
        return combine.of_stack(tensor_array(group.stack(tensor, self._place, key)))

    def gather(self, leaf: Any, axis: int) -> tf.Tensor:
        """Return the values of a leaf of the result in all replicas, joined along an axis."""
        tensor = as_tensor(leaf)
        stack = self._replicas.group.stack(tensor, self._place, self._key("result", tensor))
        return tf.concat(tf.unstack(stack, self._replicas.count), axis)

    def _key(self, name: str, tensor: tf.Tensor) -> int:
        scope = current_scope()
        assert scope is not None
        trace = trace_of(scope)
        trace.loops.have_collectives = True
        if not trace.throw_aways:  # which are traced as often as needed
            self.met_count += 1
        return key_of(self._label, name, self.met_count, tensor.dtype.name, tensor.shape)


def key_of(*parts: Any) -> int:
    """Return the key of a collective operation, which is the same in all processes and on all devices."""
    return zlib.crc32(repr(parts).encode()) & 0x3FFFFFFF
