"""``x[key]`` and ``x[key] = value`` for tensor arrays, with every form of key that NumPy has.

A key is expanded to one item per axis. Without index arrays it is a view (`lenses.Basic`). With them the
basic part is cut first, the indexed axes are gathered from (or scattered to), and the new axes go where NumPy
puts them.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.staging import StagingError
from np2tf.tnp import slicing
from np2tf.tnp.bounds import record_violation
from np2tf.tnp.cells import current_region, staging_for_xla
from np2tf.tnp.conversion import as_tensor
from np2tf.tnp.lenses import Basic
from np2tf.tnp.ndarray import is_array, ndarray, scalar, tensor_array, tensor_scalar
from np2tf.tnp.ordering import compute_before_write
from np2tf.tnp.selection import mask_selection, selected_array, selection_of, write_selection
from np2tf.tnp.symint import SymInt

_FULL = slice(None)


def getitem(array: ndarray, key: Any) -> Any:
    """``array[key]`` of a tensor array: a view, a number, or a copy for advanced keys.

    Raises:
        IndexError: as NumPy does.
    """
    tensor = array.tensor
    items = expand(key, tensor.shape.rank)
    if not any(isinstance(item, tf.Tensor) for item in items):
        if Ellipsis not in _parts(key) and all(isinstance(item, (int, SymInt)) for item in items):
            return tensor_scalar(slicing.read(tensor, tuple(items)))
        view = array.view_through(Basic(tuple(items)))
        if selection_of(view) is None:
            _ = view.tensor
        return view
    mask = leading_mask(items)
    if mask is not None:
        _check_mask(mask, tensor)
        selection = mask_selection(tensor, mask) if staging_for_xla() else None
        return selected_array(selection) if selection is not None else tensor_array(masked(tensor, mask))
    result = Advanced(tensor, items).gather()
    return tensor_array(result) if result.shape.rank != 0 else tensor_scalar(result)


def setitem(array: ndarray, key: Any, value: Any) -> None:
    """``array[key] = value`` of a tensor array.

    Raises:
        IndexError, ValueError: as NumPy does.
    """
    if type(array) is scalar:
        raise TypeError("'numpy.generic' object does not support item assignment")
    tensor = array.tensor
    items = expand(key, tensor.shape.rank)
    selection = selection_of(value)
    written = write_selection(tensor, items, selection) if selection is not None else None
    if written is not None:
        array.store(written)
        return
    new = _assignable(value, tensor.dtype)
    if not any(isinstance(item, tf.Tensor) for item in items):
        if all(isinstance(item, (int, SymInt)) for item in items):
            new = compute_before_write(array, new)
        array.store(slicing.write(tensor, tuple(items), new))
        return
    mask = leading_mask(items)
    if mask is not None:
        _check_mask(mask, tensor)
        array.store(_write_masked(tensor, mask, new))
    else:
        array.store(Advanced(tensor, items).scatter(new))


def _assignable(value: Any, dtype: tf.DType) -> tf.Tensor:
    kind = type(value)
    if kind is int or kind is float:
        value = (
            np.asarray(value).astype(dtype.as_numpy_dtype)
            if kind is float
            else np.asarray(value, dtype.as_numpy_dtype)
        )
        return tf.constant(value)
    return as_tensor(value, dtype.as_numpy_dtype)


def _parts(key: Any) -> tuple[Any, ...]:
    parts = key if type(key) is tuple else (key,)
    return tuple(part for part in parts if part is Ellipsis or part is None)


def expand(key: Any, rank: int | None) -> list[Any]:
    """One item per axis: int, SymInt, slice, None (new axis), or an index tensor (int64 or bool).

    Raises:
        IndexError: too many indices, or something that is not an index.
    """
    if rank is None:
        raise StagingError("indexing an array of unknown rank")
    parts = [_item(part) for part in (key if type(key) is tuple else (key,))]
    used = sum(_axes_used(part) for part in parts)
    if used > rank:
        raise IndexError(f"too many indices for array: array is {rank}-dimensional, but {used} were indexed")
    ellipses = [k for k, part in enumerate(parts) if part is Ellipsis]
    if len(ellipses) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    where = ellipses[0] if ellipses else len(parts)
    return [*parts[:where], *[_FULL] * (rank - used), *parts[where + 1 :]]


def _axes_used(item: Any) -> int:
    if item is None or item is Ellipsis:
        return 0
    if isinstance(item, tf.Tensor) and item.dtype == tf.bool:
        return int(item.shape.rank)
    return 1


def _item(part: Any) -> Any:
    kind = type(part)
    if kind is int or part is None or part is Ellipsis:
        return part
    if kind is slice:
        return slice(*(None if end is None else _integer(end) for end in (part.start, part.stop, part.step)))
    if isinstance(part, (bool, np.bool_)):
        return tf.constant(bool(part))
    if isinstance(part, np.integer):
        return int(part)
    if kind is scalar and part.dtype.kind in "iu":
        return _integer(part)
    if isinstance(part, (list, tuple)) and len(part) == 0:
        return tf.zeros((0,), tf.int64)
    if isinstance(part, (str, float)):
        raise IndexError(
            "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean "
            "arrays are valid indices"
        )
    return _index_array(part)


def _index_array(part: Any) -> Any:
    if not is_array(part) and isinstance(part, np.ndarray) and part.ndim == 0 and part.dtype.kind in "iu":
        return int(part)
    index = as_tensor(part)
    if index.dtype == tf.bool:
        return index
    if not index.dtype.is_integer:
        raise IndexError("arrays used as indices must be of integer (or boolean) type")
    if index.shape.rank == 0:
        return _integer(tensor_scalar(index))
    return tf.cast(index, tf.int64)


def _integer(value: Any) -> int | SymInt:
    """An end of a slice or an index: known, or staged with what is known about it."""
    if is_array(value):
        tensor = value.tensor
        if not hasattr(tensor, "numpy"):
            if not tensor.dtype.is_integer or tensor.shape.rank != 0:
                raise TypeError("slice indices must be integers or None or have an __index__ method")
            static = tf.get_static_value(tensor)
            if static is not None:
                return int(static)
            known = value.known if type(value) is scalar else None
            return known if known is not None else SymInt.fresh(tf.cast(tensor, tf.int64))
    if isinstance(value, tf.Tensor):
        return _integer(tensor_scalar(value))
    return int(value.__index__())


def leading_mask(items: list[Any]) -> tf.Tensor | None:
    """The boolean array of a key like ``x[mask]`` or ``x[mask, :]``, None for any other key."""
    first = items[0] if items else None
    if isinstance(first, tf.Tensor) and first.dtype == tf.bool and first.shape.rank and _plain(items[1:]):
        return first
    return None


def _plain(items: list[Any]) -> bool:
    return all(isinstance(item, slice) and item == _FULL for item in items)


def true_places(mask: tf.Tensor) -> tf.Tensor:
    """Positions of the true elements, one row each: a constant where the mask is known."""
    known = None if tf.executing_eagerly() else tf.get_static_value(mask)
    return tf.where(mask) if known is None else tf.constant(np.argwhere(known).reshape(-1, known.ndim))


def masked(tensor: tf.Tensor, mask: tf.Tensor, axis: int = 0) -> tf.Tensor:
    """The elements where `mask`, which lies along the axes from `axis` on, is true."""
    if tf.executing_eagerly() or tf.get_static_value(mask) is None:
        return tf.boolean_mask(tensor, mask, axis=axis)
    if mask.shape.rank == 1:
        return tf.gather(tensor, true_places(mask)[:, 0], axis=axis)
    return tf.gather_nd(tensor, true_places(mask))


def _check_mask(mask: tf.Tensor, base: tf.Tensor) -> None:
    for axis, (have, want) in enumerate(zip(mask.shape.as_list(), base.shape.as_list(), strict=False)):
        if have is not None and want is not None and have != want:
            raise IndexError(
                f"boolean index did not match indexed array along axis {axis}; size of axis is {want} "
                f"but size of corresponding boolean axis is {have}"
            )


def _write_masked(base: tf.Tensor, mask: tf.Tensor, value: tf.Tensor) -> tf.Tensor:
    """``base[mask] = value`` without a data-dependent shape: the k-th true element takes the k-th value."""
    rank = base.shape.rank
    inner = rank - mask.shape.rank
    wide = tf.reshape(mask, tf.concat([tf.shape(mask), tf.ones(inner, tf.int32)], 0)) if inner else mask
    if value.shape.rank == inner + 1 and value.shape[0] != 1:
        count = tf.math.count_nonzero(mask)
        _check_count(count, value, mask)
        flat = tf.reshape(tf.cast(mask, tf.int64), [-1])
        source = tf.reshape(tf.cumsum(flat) - 1, tf.shape(mask))
        last = tf.maximum(tf.shape(value, tf.int64)[0] - 1, 0)
        if not value.shape[0]:
            # There may be no value at all, and then nothing that can be gathered from.
            value = tf.pad(value, [[0, 1]] + [[0, 0]] * inner)
        value = tf.gather(value, tf.clip_by_value(source, 0, last))
    elif value.shape.rank == inner + 1:
        value = value[0]
    return tf.where(wide, value, base)


def _check_count(count: tf.Tensor, value: tf.Tensor, mask: tf.Tensor) -> None:
    given = tf.shape(value, tf.int64)[0]
    if hasattr(count, "numpy"):
        if int(given) != int(count):
            raise ValueError(
                f"NumPy boolean array indexing assignment cannot assign {int(given)} input values to "
                f"the {int(count)} output values where the mask is true"
            )
    elif value.shape[0] is not None:
        record_violation(tf.not_equal(given, count))


def positions(index: Any, length: Any, axis: int) -> tf.Tensor:
    """Indices into an axis, counted from the start.

    Raises:
        IndexError: a known one is out of bounds (one that is staged is recorded, see `bounds`).
    """
    tensor = index.tensor if isinstance(index, SymInt) else tf.convert_to_tensor(index, tf.int64)
    known = tf.get_static_value(tensor) if isinstance(length, int) else None
    if known is not None:
        if known.size and (known.min() < -length or known.max() >= length):
            bad = known[(known < -length) | (known >= length)].flat[0] if known.ndim else known
            raise IndexError(f"index {bad} is out of bounds for axis {axis} with size {length}")
        return tf.constant(np.where(known < 0, known + length, known))
    proven = isinstance(index, SymInt) and isinstance(length, int) and index.in_range(length)
    if not proven:
        tensor = tf.where(tensor < 0, tensor + length, tensor)
        if current_region() is not None:
            record_violation(tf.reduce_any((tensor < 0) | (tensor >= length)))
    return tensor


class Advanced:
    """A key with index arrays, applied to one tensor."""

    def __init__(self, base: tf.Tensor, items: list[Any]) -> None:
        self.base = base
        items = self._with_masks_as_integers(items)
        arrays = [k for k, item in enumerate(items) if isinstance(item, tf.Tensor)]
        # Integers beside index arrays are index arrays of shape () in NumPy's reckoning.
        indexed = [k for k, item in enumerate(items) if k in arrays or isinstance(item, (int, SymInt))]
        self.basic = tuple(_FULL if k in indexed else item for k, item in enumerate(items))
        self.cut = base if self._is_whole() else slicing.read(base, self.basic)
        self.axes = indexed
        lengths = [self._length(k) for k in indexed]
        given = [positions(items[k], length, k) for k, length in zip(indexed, lengths, strict=True)]
        self.indices = _broadcast(given)
        adjacent = all(b - a == 1 for a, b in pairwise(indexed))
        self.place = indexed[0] if adjacent else 0

    def _is_whole(self) -> bool:
        return all(item is not None and item == _FULL for item in self.basic)

    def _with_masks_as_integers(self, items: list[Any]) -> list[Any]:
        flat: list[Any] = []
        for item in items:
            if isinstance(item, tf.Tensor) and item.dtype == tf.bool:
                if item.shape.rank == 0:
                    raise StagingError("a boolean scalar in an index", "NP2TF503")
                flat.extend(tf.unstack(tf.transpose(true_places(item)), num=item.shape.rank))
            else:
                flat.append(item)
        return flat

    def _length(self, axis: int) -> Any:
        size = self.cut.shape[axis]
        return size if size is not None else tf.shape(self.cut, tf.int64)[axis]

    def gather(self) -> tf.Tensor:
        """The elements of the key."""
        if len(self.indices) == 1:
            return tf.gather(self.cut, self.indices[0], axis=self.axes[0])
        front = tf.transpose(self.cut, self._to_front())
        taken = tf.gather_nd(front, tf.stack(self.indices, axis=-1))
        return taken if self.place == 0 else tf.transpose(taken, self._into_place(taken.shape.rank))

    def scatter(self, value: tf.Tensor, combine: Any = None) -> tf.Tensor:
        """The base with the elements of the key replaced, or combined with `value` once for every index."""
        front = tf.transpose(self.cut, self._to_front())
        places_of = tf.stack(self.indices, axis=-1)
        rest = tf.shape(front)[len(self.axes) :]
        places = tf.shape(self.indices[0])
        width = self.indices[0].shape.rank
        one_value = value.shape.num_elements() == 1
        if self.place:
            target = tf.concat([rest[: self.place], places, rest[self.place :]], 0)
            total = width + front.shape.rank - len(self.axes)
            value = _broadcast_value(value, target, total)
            value = tf.transpose(value, np.argsort(self._into_place(total)))
        else:
            value = _broadcast_value(
                value, tf.concat([places, rest], 0), width + front.shape.rank - len(self.axes)
            )
        if combine is None and staging_for_xla() and width and not one_value and not self._distinct():
            raise StagingError(
                "an index array that may hold duplicates is assigned through under XLA", "NP2TF505"
            )
        front = (combine or tf.tensor_scatter_nd_update)(front, places_of, value)
        cut = tf.transpose(front, np.argsort(self._to_front()))
        return cut if self._is_whole() else slicing.write(self.base, self.basic, cut)

    def _distinct(self) -> bool:
        """Whether no place is written twice, so that the order of the writes does not matter."""
        known = [tf.get_static_value(index) for index in self.indices]
        if any(index is None for index in known):
            return False
        rows = np.stack([np.ravel(index) for index in known], -1)
        return len(np.unique(rows, axis=0)) == len(rows)

    def _to_front(self) -> list[int]:
        return self.axes + [k for k in range(self.cut.shape.rank) if k not in self.axes]

    def _into_place(self, rank: int) -> list[int]:
        width = self.indices[0].shape.rank
        rest = list(range(width, rank))
        return rest[: self.place] + list(range(width)) + rest[self.place :]


def _broadcast(indices: list[tf.Tensor]) -> list[tf.Tensor]:
    if len(indices) == 1:
        return indices
    static = [index.shape for index in indices]
    if all(shape.is_fully_defined() for shape in static):
        try:
            shape: Any = np.broadcast_shapes(*(tuple(s.as_list()) for s in static))
        except ValueError:
            raise IndexError("shape mismatch: indexing arrays could not be broadcast together") from None
        return [index if index.shape == shape else tf.broadcast_to(index, shape) for index in indices]
    if all(shape.rank == static[0].rank and 1 not in shape.as_list() for shape in static):
        # Of equal lengths (what `nonzero` returned), or `tf.stack` says that they are not.
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
