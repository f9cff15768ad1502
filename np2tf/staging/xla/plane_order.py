"""The arrays of a loop that are kept as planes while the loop runs (`np2tf.arrays.array.slice_updates`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod

import tensorflow as tf

from np2tf.arrays.array.slice_updates import array_of, axis_in_front, in_own_order
from np2tf.arrays.tensors.graph_queries import entries_of, is_noted_block
from np2tf.arrays.tensors.storage import Storage

#: Smaller arrays stay in the processor's caches (tridiagonal systems, milliseconds with planes and without:
#: 740 kB 2.3 and 1.9, 1.6 MB 4.6 and 5.3, 3.5 MB 13 and 30).
LARGE_BYTES = 2**20
#: Elements side by side of at least so many bytes are read as fast as whole planes.
_CACHE_LINE = 64


class PlaneOrder:
    """The arrays of a loop that are kept as planes, and their axes."""

    def __init__(
        self,
        graphs: Sequence[tf.Graph],
        inputs: Sequence[tf.Tensor],
        storages: Iterable[Storage],
        rounds: int | None,
    ) -> None:
        """Find the arrays.

        Args:
            graphs: the graph of an iteration that was traced before, and the graphs of its branches and
                loops; none if the order of arrays should not change.
            inputs: the loop's variables before it; the first is its counter.
        """
        self._axes: dict[int, int] = {}
        self._storage_axes: dict[Storage, int] = {}
        if not graphs or rounds is None:
            return
        aliases = _aliases(graphs)
        for k, tensor in enumerate(inputs):
            axis = _plane_axis(tensor, aliases, graphs[0], rounds)
            if axis is not None:
                self._axes[k] = axis
        variable_ids = {id(tensor) for tensor in inputs}
        for storage in storages:
            if id(storage._value) not in variable_ids:
                axis = _plane_axis(storage._value, aliases, None, rounds)
                if axis is not None:
                    self._storage_axes[storage] = axis

    def __bool__(self) -> bool:
        """Return whether there are such arrays."""
        return bool(self._axes or self._storage_axes)

    def enter(self, tensors: Sequence[tf.Tensor]) -> list[tf.Tensor]:
        """Return variables for the loop, as planes. Let arrays that the loop only reads be made of planes."""
        for storage, axis in self._storage_axes.items():
            storage.rebase(array_of(axis_in_front(storage._value, axis), axis))
        return [in_own_order(tensor) for tensor in self.keep(tensors)]

    def keep(self, tensors: Sequence[tf.Tensor]) -> list[tf.Tensor]:
        """Return variables at the end of an iteration, as planes."""
        return [
            axis_in_front(tensor, self._axes[k]) if k in self._axes else tensor
            for k, tensor in enumerate(tensors)
        ]

    def leave(self, tensors: Sequence[tf.Tensor]) -> list[tf.Tensor]:
        """Return variables of the loop as arrays."""
        return [
            array_of(tensor, self._axes[k]) if k in self._axes else tensor for k, tensor in enumerate(tensors)
        ]

    def shapes(self, shapes: Sequence[tf.TensorShape]) -> list[tf.TensorShape]:
        """Return the shapes of the loop's variables, from the shapes of the arrays."""
        return [
            shape
            if (axis := self._axes.get(k)) is None
            else tf.TensorShape([shape[axis], *shape[:axis], *shape[axis + 1 :]])
            for k, shape in enumerate(shapes)
        ]


def _aliases(graphs: Sequence[tf.Graph]) -> dict[int, list[tf.Tensor]]:
    """Return the placeholders for each tensor that graphs capture, by its identity."""
    aliases: dict[int, list[tf.Tensor]] = {}
    for graph in graphs:
        for outer, inner in entries_of(graph):
            aliases.setdefault(id(outer), []).append(inner)
    return aliases


def _plane_axis(
    array: tf.Tensor, aliases: dict[int, list[tf.Tensor]], written_in: tf.Graph | None, rounds: int
) -> int | None:
    """Return the axis of the planes that a loop takes of an array.

    Args:
        array: the array before the loop.
        aliases: the placeholders for captured tensors.
        written_in: the graph in which planes may be written.

    Returns:
        None if the loop takes other parts as well, or would not gain.
    """
    shape = array.shape
    if not shape.is_fully_defined() or shape.rank < 2:
        return None
    if shape.num_elements() * array.dtype.size < LARGE_BYTES:
        return None
    states, axes, at_run_time = list(aliases.get(id(array), ())), set[int | None](), False
    for state in states:
        states += aliases.get(id(state), ())
        for op in state.consumers():
            if is_noted_block(op):
                continue
            if op.type == "XlaDynamicSlice":
                part, starts = op.outputs[0], op.inputs[1]
            elif op.type == "XlaDynamicUpdateSlice" and op.inputs[1] is not state and op.graph is written_in:
                part, starts = op.inputs[1:]
                states.append(op.outputs[0])
            else:
                return None
            axes.add(_cut_axis(part.shape, shape))
            at_run_time |= tf.get_static_value(starts) is None
    axis = axes.pop() if len(axes) == 1 else None
    if not axis or not at_run_time or 2 * rounds < shape[axis]:
        return None
    return axis if prod(shape[axis + 1 :]) * array.dtype.size < _CACHE_LINE else None


def _cut_axis(part: tf.TensorShape, whole: tf.TensorShape) -> int | None:
    """Return the axis along which a part is one plane; None for other parts."""
    axes = [k for k, (size, length) in enumerate(zip(part, whole, strict=True)) if size != length]
    return axes[0] if len(axes) == 1 and part[axes[0]] == 1 else None
