"""The axis of the replicas: collectives over it are collective operations between devices."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from np2tf.distribute.replicas import Replicas
from np2tf.distribute.segments import Segments
from np2tf.runtime.tracing.trace import trace_of
from np2tf.staging import NotStagedError
from np2tf.tnp._array.ndarray import tensor_array, weak_scalar, wrap_tensor
from np2tf.tnp._operands.conversion import as_tensor
from np2tf.tnp._tensor.storage import current_scope
from np2tf.transforms.core.leaves import dtype_of
from np2tf.transforms.core.recordings import recordings
from np2tf.transforms.core.structures import Structure
from np2tf.transforms.lanes.axes import Combine, LaneStop, StagedLanes, refuse_inner_derivative


class ReplicaAxis:
    """The axis of the replicas while a function is staged for each of them.

    Attributes:
        name: the name of the axis.
        lane: the number of the replica that is staged now, a staged int.
        sources: the tensors that vary from replica to replica because of what they are.
        met_count: the number of collectives that the replica has met.
        segments: the segments of XLA that the replica is staged as; None for a graph.

    Args:
        name: the name of the axis.
        replicas: the replicas.
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
        number = tf.raw_ops.PlaceholderWithDefault(
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
            raise NotStagedError(f"{name} takes arrays and numbers, and got a {type(leaf).__name__}")
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
        trace.has_collectives = True
        if not trace.throw_aways:  # which are traced as often as needed
            self.met_count += 1
        return key_of(self._label, name, self.met_count, tensor.dtype.name, tensor.shape)


def key_of(*parts: Any) -> int:
    """Return the key of a collective operation, which is the same in all processes and on all devices."""
    return zlib.crc32(repr(parts).encode()) & 0x3FFFFFFF


__all__ = ["ReplicaAxis", "key_of"]
