"""Keys with index arrays: the basic part is applied first, then elements of the indexed axes are read or
written.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.staging import DuplicateIndicesError
from np2tf.tnp._indexing.boolean_masks import check_mask, true_places
from np2tf.tnp._indexing.keys import FULL
from np2tf.tnp._slicing import slicing
from np2tf.tnp._tensor.dtype_dispatch import gather_parts
from np2tf.tnp._tensor.index_bounds import checks_bounds, record_violation
from np2tf.tnp._tensor.reductions_of_axes import reduce_any
from np2tf.tnp._tensor.storage import current_scope, staging_for_xla
from np2tf.tnp._tensor.symint import SymInt


def positions(index: Any, length: Any, axis: int) -> tf.Tensor:
    """Return indices into an axis, counted from the start.

    Raises:
        IndexError: a known index is out of bounds. (An index that is staged is recorded, see `index_bounds`.)
    """
    tensor = index.tensor if isinstance(index, SymInt) else tf.convert_to_tensor(index, tf.int64)
    values = tf.get_static_value(tensor) if isinstance(length, int) else None
    if values is not None:
        if values.size and (values.min() < -length or values.max() >= length):
            bad = values[(values < -length) | (values >= length)].flat[0] if values.ndim else values
            raise IndexError(f"index {bad} is out of bounds for axis {axis} with size {length}")
        return tf.constant(np.where(values < 0, values + length, values))
    is_proven = isinstance(index, SymInt) and isinstance(length, int) and index.in_range(length)
    if not is_proven:
        tensor = tf.where(tensor < 0, tensor + length, tensor)
        if current_scope() is not None and checks_bounds():
            record_violation(reduce_any((tensor < 0) | (tensor >= length)))
    return tensor


class AdvancedKey:
    """A key with index arrays, applied to one tensor.

    Args:
        base: the tensor.
        items: the key, with one item per axis (`keys.expand`).
        parted: whether a slice or new axis stands between the indices (`keys.is_parted`).
        value: the value to assign, if any.

    Raises:
        IndexError: an index is out of bounds, or the index arrays do not broadcast.
        ValueError: `value` does not broadcast to the elements of the key.
    """

    def __init__(
        self, base: tf.Tensor, items: list[Any], parted: bool, value: tf.Tensor | None = None
    ) -> None:
        self.base = base
        items = _masks_to_integers(base, items)
        # NumPy treats integers beside index arrays as index arrays of shape ().
        axes = [k for k, item in enumerate(items) if isinstance(item, (tf.Tensor, int, SymInt, _Truth))]
        self.basic = tuple(
            None if isinstance(item, _Truth) else FULL if k in axes else item for k, item in enumerate(items)
        )
        self.part = base if self._is_whole() else slicing.read(base, self.basic)
        self.axes = axes
        self.place = 0 if parted else axes[0]
        indices = {k: items[k].index if isinstance(items[k], _Truth) else items[k] for k in axes}
        common = _common_shape(list(indices.values()))
        # NumPy checks the integers first, then the assigned value, then the index arrays.
        for k, index in indices.items():
            if not isinstance(index, tf.Tensor):
                indices[k] = positions(index, self._length(k), k)
        self.common = common
        if value is not None:
            self.check_value(value)
        if common is not None and 0 in common:
            # NumPy does not check indices that are broadcast to no elements.
            self.indices = [tf.zeros(common, tf.int64)] * len(indices)
            return
        self.indices = _broadcast(
            [
                index
                if indices[k] is not items[k] and not isinstance(items[k], _Truth)
                else positions(index, self._length(k), k)
                for k, index in indices.items()
            ],
            common,
        )

    def _is_whole(self) -> bool:
        return all(item is not None and item == FULL for item in self.basic)

    @property
    def rank(self) -> int:
        """Return the number of axes of the elements of the key."""
        return int(self.part.shape.rank) - len(self.axes) + int(self.indices[0].shape.rank)

    def _length(self, axis: int) -> Any:
        size = self.part.shape[axis]
        return size if size is not None else tf.shape(self.part, tf.int64)[axis]

    def check_value(self, value: tf.Tensor) -> None:
        """Check that a value broadcasts to the elements of the key, as far as the lengths are known.

        Raises:
            ValueError: the value does not broadcast.
        """
        if self.common is None:
            return
        other_lengths = [n for k, n in enumerate(self.part.shape.as_list()) if k not in self.axes]
        result = [*other_lengths[: self.place], *self.common, *other_lengths[self.place :]]
        have = value.shape.as_list()
        while len(have) > len(result) and have[0] == 1:
            have = have[1:]
        pairs = zip(reversed(have), reversed(result), strict=False)
        if len(have) > len(result) or any(n not in (1, None, m) and m is not None for n, m in pairs):
            raise ValueError(
                f"shape mismatch: value array of shape {tuple(value.shape)} could not be broadcast to "
                f"indexing result of shape {tuple(result)}"
            )

    def gather(self) -> tf.Tensor:
        """Return the elements of the key."""
        if len(self.indices) == 1:
            return gather_parts(self.part, self.indices[0], self.axes[0])
        front = tf.transpose(self.part, self._to_front())
        if front.shape.num_elements() == 0:
            # TensorFlow refuses to gather from an empty tensor.
            inner_shape = tf.shape(front)[len(self.axes) :]
            elements = tf.zeros(tf.concat([tf.shape(self.indices[0]), inner_shape], 0), front.dtype)
        else:
            elements = tf.gather_nd(front, tf.stack(self.indices, axis=-1))
        return elements if self.place == 0 else tf.transpose(elements, self._into_place(elements.shape.rank))

    def scatter(self, value: tf.Tensor, combine: Any = None) -> tf.Tensor:
        """Return the base with the elements of the key replaced, or combined with `value` once for every
        index.
        """
        front = tf.transpose(self.part, self._to_front())
        if front.shape.num_elements() == 0:
            return self.base
        places_of = tf.stack(self.indices, axis=-1)
        one_value = value.shape.num_elements() == 1
        value = self._in_front(value, front)
        width = self.indices[0].shape.rank
        if combine is None and staging_for_xla() and width and not one_value and not self._distinct():
            raise DuplicateIndicesError(
                "an index array that may hold duplicates is assigned through under XLA"
            )
        front = (combine or tf.tensor_scatter_nd_update)(front, places_of, value)
        part = tf.transpose(front, np.argsort(self._to_front()))
        return part if self._is_whole() else slicing.write(self.base, self.basic, part)

    def _in_front(self, value: tf.Tensor, front: tf.Tensor) -> tf.Tensor:
        """Return the value, broadcast to the elements of the key, with the indexed axes in front."""
        inner_shape = tf.shape(front)[len(self.axes) :]
        places = tf.shape(self.indices[0])
        total = self.indices[0].shape.rank + front.shape.rank - len(self.axes)
        if not self.place:
            return _broadcast_value(value, tf.concat([places, inner_shape], 0), total)
        target = tf.concat([inner_shape[: self.place], places, inner_shape[self.place :]], 0)
        value = _broadcast_value(value, target, total)
        return tf.transpose(value, np.argsort(self._into_place(total)))

    def _distinct(self) -> bool:
        """Return whether no place is written twice, so that the order of the writes does not matter."""
        values = [tf.get_static_value(index) for index in self.indices]
        if any(index is None for index in values):
            return False
        rows = np.stack([np.ravel(index) for index in values], -1)
        return len(np.unique(rows, axis=0)) == len(rows)

    def _to_front(self) -> list[int]:
        return self.axes + [k for k in range(self.part.shape.rank) if k not in self.axes]

    def _into_place(self, rank: int) -> list[int]:
        width = self.indices[0].shape.rank
        other_axes = list(range(width, rank))
        return other_axes[: self.place] + list(range(width)) + other_axes[self.place :]


class _Truth:
    """A boolean without axes in a key. It adds an axis of length 1 if it is true, and of length 0 if it is
    false.
    """

    def __init__(self, flag: tf.Tensor) -> None:
        value = tf.get_static_value(flag)
        if value is None:
            self.index = tf.zeros([tf.cast(flag, tf.int32)], tf.int64)
        else:
            self.index = tf.zeros([int(value)], tf.int64)


def _masks_to_integers(base: tf.Tensor, items: list[Any]) -> list[Any]:
    flat: list[Any] = []
    axis = 0
    for item in items:
        if isinstance(item, tf.Tensor) and item.dtype == tf.bool:
            if item.shape.rank == 0:
                flat.append(_Truth(item))
                continue
            check_mask(item, base, axis)
            flat.extend(tf.unstack(tf.transpose(true_places(item)), num=item.shape.rank))
            axis += item.shape.rank
        else:
            flat.append(item)
            axis += item is not None
    return flat


def _common_shape(indices: list[Any]) -> tuple[int, ...] | None:
    """Return the broadcast shape of all index arrays; None if it is known only at run time.

    Raises:
        IndexError: the index arrays do not broadcast.
    """
    shapes = [index.shape for index in indices if isinstance(index, tf.Tensor)]
    if not all(shape.is_fully_defined() for shape in shapes):
        return None
    try:
        return np.broadcast_shapes(*(tuple(shape.as_list()) for shape in shapes))
    except ValueError:
        raise IndexError("shape mismatch: indexing arrays could not be broadcast together") from None


def _broadcast(indices: list[tf.Tensor], shape: tuple[int, ...] | None) -> list[tf.Tensor]:
    if len(indices) == 1:
        return indices
    if shape is not None:
        return [index if index.shape == shape else tf.broadcast_to(index, shape) for index in indices]
    static = [index.shape for index in indices]
    if all(shape.rank == static[0].rank and 1 not in shape.as_list() for shape in static):
        # If the indices differ in length (the results of `nonzero` do not), `tf.stack` raises.
        return indices
    common = tf.shape(indices[0])
    for index in indices[1:]:
        common = tf.broadcast_dynamic_shape(common, tf.shape(index))
    return [tf.broadcast_to(index, common) for index in indices]


def _broadcast_value(value: tf.Tensor, shape: tf.Tensor, rank: int) -> tf.Tensor:
    extra = value.shape.rank - rank
    if extra > 0:
        value = tf.squeeze(value, list(range(extra)))
    static = tf.get_static_value(shape)
    return tf.broadcast_to(value, shape if static is None else static)
