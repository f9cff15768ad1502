"""Keys in every form that NumPy accepts: one item per axis, masks, index arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.arrays.array import slicing
from np2tf.arrays.array.ndarray import is_array, scalar, tensor_scalar
from np2tf.arrays.operands.axes import MOST_AXES
from np2tf.arrays.operands.conversion import as_tensor, without_class
from np2tf.arrays.operands.path_dependent import as_index
from np2tf.arrays.operands.promotion import default_dtype, kind_of
from np2tf.arrays.tensors.axis_reductions import reduce_any
from np2tf.arrays.tensors.dtype_dispatch import gather_parts
from np2tf.arrays.tensors.storage import current_scope, need_mask, staging_for_xla
from np2tf.arrays.tensors.symbolic_integers import SymInt
from np2tf.arrays.tensors.violations import checks_bounds, record_violation
from np2tf.core.errors import DuplicateIndicesError, ShapeNeededError, UnsupportedDtypeError

# -- keys ----------------------------------------------------------------------------------------------------
# Index keys: every form that NumPy accepts, converted to one item per axis.

FULL = slice(None)

_NOT_AN_INDEX = (
    "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean "
    "arrays are valid indices"
)


def expand(key: Any, rank: int | None) -> list[Any]:
    """Return a key as one item per axis.

    Args:
        key: the key as the program writes it.
        rank: the number of axes of the array.

    Returns:
        For each axis an int, SymInt, slice or index tensor (int64 or bool); None for each new axis.

    Raises:
        IndexError: the key has too many indices, or an item that is not an index.
    """
    if rank is None:
        raise ShapeNeededError("indexing an array of unknown rank")
    parts = [_item(part) for part in (key if isinstance(key, tuple) else (key,))]
    axis_count = sum(_axes_used(part) for part in parts)
    if axis_count > rank:
        raise IndexError(
            f"too many indices for array: array is {rank}-dimensional, but {axis_count} were indexed"
        )
    ellipses = [k for k, part in enumerate(parts) if part is Ellipsis]
    if len(ellipses) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    where = ellipses[0] if ellipses else len(parts)
    if rank - axis_count + len(parts) > MOST_AXES:
        raise IndexError(f"number of dimensions must be within [0, {MOST_AXES}]")
    parts = [_settle_sequence(part) if type(part) is slice else part for part in parts]
    return [*parts[:where], *[FULL] * (rank - axis_count), *parts[where + 1 :]]


def _settle_sequence(part: slice) -> slice:
    return slice(*(None if end is None else _integer(end) for end in (part.start, part.stop, part.step)))


def is_parted(key: Any) -> bool:
    """Return whether a slice, an Ellipsis (also of no length) or a new axis stands between two other indices.

    If so, the axes that index arrays pick are the first axes of the result.
    """
    parts = key if isinstance(key, tuple) else (key,)
    basic = (type(part) is slice or part is None or part is Ellipsis for part in parts)
    advanced_places = [place for place, is_basic in enumerate(basic) if not is_basic]
    return bool(advanced_places) and advanced_places[-1] - advanced_places[0] >= len(advanced_places)


def holds(key: Any, value: Any) -> bool:
    """Return whether `value` (Ellipsis or None) is a part of a key."""
    return any(part is value for part in key) if isinstance(key, tuple) else key is value


def holds_0d_array(key: Any) -> bool:
    """Return whether an index is an array without axes: NumPy then copies, while an integer would give a
    view.
    """
    return any(map(_is_0d_array, key)) if isinstance(key, tuple) else _is_0d_array(key)


def _is_0d_array(part: Any) -> bool:
    kind = type(part)
    if kind is int or kind is slice or part is None or part is Ellipsis or kind is scalar:
        return False
    return (is_array(part) or isinstance(part, np.ndarray)) and part.ndim == 0


def _axes_used(item: Any) -> int:
    if item is None or item is Ellipsis:
        return 0
    if isinstance(item, tf.Tensor) and item.dtype == tf.bool:
        return int(item.shape.rank)
    return 1


def _item(part: Any) -> Any:
    part = as_index(part)
    kind = type(part)
    if kind is int or part is None or part is Ellipsis:
        return part
    if kind is slice:
        # The ends of the slice are converted after the check that there is an axis for it.
        return part
    if isinstance(part, (bool, np.bool_)):
        return tf.constant(bool(part))
    if isinstance(part, np.integer):
        return int(part)
    if kind is scalar and part.dtype.kind in "iu":
        return _integer(part)
    if isinstance(part, (str, bytes, float, complex, dict)):
        raise IndexError(_NOT_AN_INDEX)
    return _index_array(part)


def _index_array(part: Any) -> Any:
    if not is_array(part) and isinstance(part, np.ndarray) and part.ndim == 0 and part.dtype.kind in "iu":
        return int(part)
    if isinstance(part, (list, tuple)):
        index = _sequence_to_index(part)
    else:
        index = as_tensor(without_class(part))
    if index.shape.rank is None:
        raise ShapeNeededError("an index of unknown rank")
    if index.dtype == tf.bool:
        return index
    if not index.dtype.is_integer:
        raise IndexError("arrays used as indices must be of integer (or boolean) type")
    if index.shape.rank == 0:
        return _integer(tensor_scalar(index))
    return tf.cast(index, tf.int64)


def _sequence_to_index(values: Any) -> tf.Tensor:
    """Return a list or tuple as an index array; an empty list or tuple becomes an integer array."""
    try:
        index = as_tensor(values)
    except UnsupportedDtypeError:
        raise IndexError(_NOT_AN_INDEX) from None
    return tf.cast(index, tf.int64) if index.shape.num_elements() == 0 and index.dtype != tf.bool else index


def _integer(value: Any) -> int | SymInt:
    """Return an index or an end of a slice: an int, or a staged integer with its known bounds."""
    if is_array(value):
        value = as_index(value)
        tensor = value.tensor
        if not hasattr(tensor, "numpy"):
            if tensor.shape.rank is None:
                return _integer(tf.reshape(tensor, []))
            if not tensor.dtype.is_integer or tensor.shape.rank != 0:
                raise TypeError("slice indices must be integers or None or have an __index__ method")
            static = tf.get_static_value(tensor)
            if static is not None:
                return int(static)
            integer = value.staged_integer if type(value) is scalar else None
            return integer if integer is not None else SymInt.fresh(tf.cast(tensor, tf.int64))
    if isinstance(value, tf.Tensor):
        return _integer(tensor_scalar(value))
    try:
        return int(value.__index__())
    except AttributeError:
        raise TypeError("slice indices must be integers or None or have an __index__ method") from None


# -- boolean masks -------------------------------------------------------------------------------------------
# Boolean arrays as keys: ``x[mask]`` and ``x[mask] = value``.


def where_mask(where: Any) -> tf.Tensor:
    """Return the argument `where` of a function that writes, as a boolean tensor.

    Numbers and lists are converted; an array must be boolean.

    Raises:
        TypeError: the array is not boolean.
    """
    if hasattr(where, "dtype") and default_dtype(kind_of(where)).kind != "b":
        raise TypeError("Cannot cast array data to dtype('bool') according to the rule 'safe'")
    return as_tensor(where, np.bool_)


def leading_mask(items: list[Any]) -> tf.Tensor | None:
    """Return the boolean array of a key like ``x[mask]`` or ``x[mask, :]``; None for any other key."""
    first = items[0] if items else None
    if (
        isinstance(first, tf.Tensor)
        and first.dtype == tf.bool
        and first.shape.rank
        and _drop_ellipsis(items[1:])
    ):
        return first
    return None


def _drop_ellipsis(items: list[Any]) -> bool:
    return all(isinstance(item, slice) and item == FULL for item in items)


def true_places(mask: tf.Tensor) -> tf.Tensor:
    """Return the positions of the true elements, one row each; a constant if the mask is known."""
    static = _static_mask(mask)
    if static is None:
        return tf.where(mask)
    return tf.constant(np.argwhere(static).reshape(-1, static.ndim))


def _static_mask(mask: tf.Tensor) -> np.ndarray | None:
    """Return the elements of a mask; None if they are not known while staging, and in eager code."""
    if tf.executing_eagerly():
        return None
    static: np.ndarray | None = tf.get_static_value(mask)
    if static is None:
        need_mask(mask)
    return static


def get_masked(tensor: tf.Tensor, mask: tf.Tensor, axis: int = 0) -> tf.Tensor:
    """Return the elements at which `mask`, which lies along the axes from `axis` on, is true."""
    if _static_mask(mask) is None:
        return tf.boolean_mask(tensor, mask, axis=axis)
    if mask.shape.rank == 1:
        return gather_parts(tensor, true_places(mask)[:, 0], axis)
    return tf.gather_nd(tensor, true_places(mask))


def check_mask(mask: tf.Tensor, base: tf.Tensor, first: int = 0) -> None:
    """Check that a mask, which begins at axis `first`, has the lengths of its axes.

    Raises:
        IndexError: the lengths differ.
    """
    for axis, (have, want) in enumerate(
        zip(mask.shape.as_list(), base.shape.as_list()[first:], strict=False), first
    ):
        if have is not None and want is not None and have != want:
            raise IndexError(
                f"boolean index did not match indexed array along axis {axis}; size of axis is {want} "
                f"but size of corresponding boolean axis is {have}"
            )
        if have is None or want is None:
            record_violation(tf.not_equal(tf.shape(mask)[axis - first], tf.shape(base)[axis]))


def expand_mask(mask: tf.Tensor, rank: int) -> tf.Tensor:
    """Return a mask of the leading axes with an axis of length 1 for each other axis of an array."""
    inner = rank - mask.shape.rank
    return tf.reshape(mask, tf.concat([tf.shape(mask), tf.ones(inner, tf.int32)], 0)) if inner else mask


def write_masked(base: tf.Tensor, mask: tf.Tensor, value: tf.Tensor) -> tf.Tensor:
    """Return `base` after ``base[mask] = value``, without a data-dependent shape.

    The k-th true element takes the k-th value.

    Args:
        base: the tensor.
        mask: a boolean tensor over the leading axes of `base`.
        value: a tensor that broadcasts to the masked elements.

    Raises:
        ValueError: the value does not broadcast.
    """
    inner = base.shape.rank - mask.shape.rank
    wide = expand_mask(mask, base.shape.rank)
    value = _fit_value(value, base.shape.as_list()[mask.shape.rank :], mask)
    if value.shape.rank <= inner:
        return tf.where(wide, value, base)
    count = tf.math.count_nonzero(mask)
    _check_count(count, value)
    flat = tf.reshape(tf.cast(mask, tf.int64), [-1])
    source = tf.reshape(tf.cumsum(flat) - 1, tf.shape(mask))
    last = tf.maximum(tf.shape(value, tf.int64)[0] - 1, 0)
    if not value.shape[0]:
        # There may be no value at all, and gathering from an empty tensor fails.
        value = tf.pad(value, [[0, 1]] + [[0, 0]] * inner)
    return tf.where(wide, tf.gather(value, tf.clip_by_value(source, 0, last)), base)


def _fit_value(value: tf.Tensor, inner_lengths: list[int | None], mask: tf.Tensor) -> tf.Tensor:
    """Return `value` without leading axes of length 1; the axes behind the mask must broadcast to
    `inner_lengths`.
    """
    while value.shape.rank > len(inner_lengths) and value.shape[0] == 1:
        value = value[0]
    inner = value.shape.as_list()[max(value.shape.rank - len(inner_lengths), 0) :]
    pairs = zip(reversed(inner), reversed(inner_lengths), strict=False)
    if value.shape.rank > len(inner_lengths) + 1 or any(
        n not in (1, None, m) and m is not None for n, m in pairs
    ):
        raise ValueError(
            f"shape mismatch: value array of shape {tuple(value.shape)} could not be broadcast to indexing "
            f"result of shape {(tf.get_static_value(tf.math.count_nonzero(mask)), *inner_lengths)}"
        )
    return value


def _check_count(count: tf.Tensor, value: tf.Tensor) -> None:
    value_count = tf.shape(value, tf.int64)[0]
    if hasattr(count, "numpy"):
        if int(value_count) != int(count):
            raise ValueError(
                f"NumPy boolean array indexing assignment cannot assign {int(value_count)} input values to "
                f"the {int(count)} output values where the mask is true"
            )
    elif value.shape[0] is not None:
        record_violation(tf.not_equal(value_count, count))


# -- advanced keys -------------------------------------------------------------------------------------------
# Keys with index arrays: the basic part is applied first, then elements of the indexed axes are read or
# written.


def positions(index: Any, length: Any, axis: int) -> tf.Tensor:
    """Return indices into an axis, counted from the start.

    Raises:
        IndexError: a known index is out of bounds. (An index that is staged is recorded, see `violations`.)
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
                "an assignment under XLA uses an index array that may hold duplicates"
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
