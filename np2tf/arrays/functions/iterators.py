"""x.flat and nditer: arrays as iterators through which a program reads and writes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.arrays.array.layout import host_view, is_contiguous
from np2tf.arrays.array.ndarray import is_array, ndarray, tensor_array
from np2tf.arrays.array.view_transforms import Reshape, is_read_only
from np2tf.arrays.functions.reshape import lengths
from np2tf.arrays.indexing.get_set import getitem, setitem
from np2tf.arrays.operands.conversion import convert_assigned, refuse_unfit, to_numpy
from np2tf.arrays.operands.differentiated_values import refuse_to_leave
from np2tf.arrays.operands.numpy_warnings import ask_numpy
from np2tf.arrays.tensors.storage import current_scope
from np2tf.core.counts import counts
from np2tf.core.errors import StagingError

__all__ = [
    "nditer",
]


# -- flatiter ------------------------------------------------------------------------------------------------
# ``x.flat``: the elements of an array in C order, to read and to write.


def flat_view(array: ndarray) -> ndarray:
    """Return all elements of a tensor array along one axis, as a view, even where NumPy would copy."""
    have = lengths(array)
    size = int(np.prod(have)) if all(isinstance(n, int) for n in have) else -1
    return array.view_through(Reshape((size,)))


def repeat_to_length(values: tf.Tensor, count: int) -> tf.Tensor:
    """Return `count` values that repeat the given values."""
    flat = tf.reshape(values, [-1])
    if flat.shape[0] == count:
        return flat
    if flat.shape[0] == 1:
        return tf.broadcast_to(flat, [count])
    have = tf.shape(flat, tf.int64)[0] if flat.shape[0] is None else flat.shape[0]
    return tf.gather(flat, tf.range(count, dtype=tf.int64) % have)


class flatiter:
    """An iterator over all elements of an array in C order, which can be indexed like an array of one axis.

    See https://numpy.org/doc/stable/reference/generated/numpy.flatiter.html.
    """

    __slots__ = ("_iterator", "base")

    def __init__(self, array: ndarray) -> None:
        self.base = array
        self._iterator = np.empty(array.shape, bool).flat

    def __len__(self) -> int:
        return len(self._iterator)

    def __iter__(self) -> Iterator[Any]:
        elements: Any = flat_view(self.base)
        while (place := self._iterator.index) < len(self):
            next(self._iterator)
            yield elements[place]

    def __next__(self) -> Any:
        place = self._iterator.index
        next(self._iterator)
        return self[place]

    @property
    def index(self) -> int:
        """Return the position of the next element."""
        return self._iterator.index

    @property
    def coords(self) -> tuple[int, ...]:
        """Return the position of the next element, with one number for each axis."""
        return self._iterator.coords

    def copy(self) -> ndarray:
        """Return a copy of all elements as an array of one axis."""
        return tensor_array(flat_view(self.base).tensor)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        result = np.array(self.copy().numpy(), dtype=dtype)
        # A write to a copy does not reach the array.
        result.flags.writeable = is_contiguous(self.base) and not self.base.is_read_only
        return result

    def __getitem__(self, key: Any) -> Any:
        result = getitem(flat_view(self.base), self._check_key(key, writing=False))
        return tensor_array(result.tensor) if type(result) is ndarray else result

    def __setitem__(self, key: Any, value: Any) -> None:
        if is_read_only(self.base.storage_and_chain()[1]):
            raise ValueError("underlying array is read-only")
        view = flat_view(self.base)
        try:
            key = self._check_key(key, writing=True)
        except IndexError:
            self._write_before(key, value)
            raise
        target = getitem(view, key)
        try:
            if target.tensor.shape.rank == 0:
                refuse_unfit(value, self.base.dtype)
            tensor = convert_assigned(value, self.base.dtype)
        except (OverflowError, TypeError, ValueError):
            if target.tensor.shape.rank:
                raise
            raise ValueError("Error setting single item of array.") from None
        if target.tensor.shape.rank == 0 and tensor.shape.rank != 0:
            raise ValueError("Error setting single item of array.")
        if tensor.shape.num_elements() == 0:
            return
        if target.tensor.shape.rank == 0:
            setitem(view, key, tensor_array(tensor))
            return
        count = target.tensor.shape[0]
        if count is None:
            tensor = (
                tf.reshape(tensor, [-1])[0] if tensor.shape.num_elements() == 1 else tf.reshape(tensor, [-1])
            )
        else:
            tensor = repeat_to_length(tensor, count)
        setitem(view, key, tensor_array(tensor))

    def __delitem__(self, key: Any) -> None:
        raise TypeError("Cannot delete iterator elements")

    def _write_before(self, key: Any, value: Any) -> None:
        """Write up to the first index that is out of bounds, as NumPy does before it raises."""
        places = np.asarray(to_numpy(key)) if isinstance(key, (list, np.ndarray)) or is_array(key) else None
        if places is None or places.dtype.kind not in "iu" or places.ndim != 1:
            return
        size = self.base.size
        wrong = (places < -size) | (places >= size)
        if wrong.any() and wrong.argmax():
            self[places[: wrong.argmax()]] = value

    def _check_key(self, key: Any, writing: bool) -> Any:
        """Return a key that the flat view accepts; NumPy checks it, as an iterator accepts fewer keys."""
        kind = type(key)
        if kind is int or (kind is slice and all(type(end) in _PLAIN_ENDS for end in _ends(key))):
            return key
        if kind is tuple and len(key) == 1:
            return self._check_key(key[0], writing)
        try:
            numpy_key = to_numpy(key)
        except StagingError:
            if kind is tuple:
                raise IndexError("unsupported iterator index") from None
            return key
        size = math.prod(n if isinstance(n, int) else 0 for n in lengths(self.base))
        probe = np.arange(size).flat

        def ask_probe() -> Any:
            if writing:
                np.empty(size, bool).flat[numpy_key] = False
            return probe[numpy_key]

        places = ask_numpy(ask_probe)
        return tensor_array(tf.constant(places)) if isinstance(places, np.ndarray) else int(places)

    def __eq__(self, other: Any) -> Any:
        return self.copy() == (other.copy() if isinstance(other, flatiter) else other)

    __hash__ = None  # type: ignore[assignment]


_PLAIN_ENDS = (int, type(None))


def _ends(key: slice) -> tuple[Any, Any, Any]:
    return key.start, key.stop, key.step


def write_flat(array: ndarray, value: Any) -> None:
    """Assign to all elements, as ``x.flat = value`` does."""
    flatiter(array)[...] = value


# -- nditer --------------------------------------------------------------------------------------------------
# ``nditer`` over arrays on TensorFlow: writes through the iterator reach the arrays.

_WRITES = frozenset({"readwrite", "writeonly"})


def nditer(op: Any, flags: Any = None, op_flags: Any = None, *args: Any, **kwargs: Any) -> Any:
    """Return NumPy's own iterator over arrays.

    The iterator goes over copies of tensor arrays. If an operand is written to, every step copies the changes
    to the array.
    """
    is_sequence = isinstance(op, (tuple, list))
    operands = list(op) if is_sequence else [op]
    refuse_to_leave("numpy.nditer", operands)
    numpy_operands = [_copy_memory(operand) for operand in operands]
    operand_flags = [_flags_of(op_flags, place, is_sequence) for place in range(len(operands))]
    copies = []
    for place, operand in enumerate(operands):
        if is_array(operand) and not _WRITES.isdisjoint(operand_flags[place]):
            copies.append((operand, numpy_operands[place]))
    iterator = np.nditer(
        numpy_operands if is_sequence else numpy_operands[0], flags or (), op_flags, *args, **kwargs
    )
    if any(map(is_array, operands)) and current_scope() is None:
        counts.host += 1
    return WritingIterator(iterator, copies) if copies else iterator


def _copy_memory(value: Any) -> Any:
    """Return `value` for NumPy; an array becomes the same view of a copy of its memory."""
    return host_view(value) if type(value) is ndarray and tf.executing_eagerly() else to_numpy(value)


def _flags_of(op_flags: Any, place: int, is_sequence: bool) -> Any:
    """Return the flags of one operand, from a list of flags for each operand or from one list for all."""
    if not op_flags:
        return ()
    if isinstance(op_flags[0], str):
        return op_flags
    return op_flags[place] if is_sequence or len(op_flags) == 1 else ()


class WritingIterator:
    """NumPy's iterator over copies; after every step it writes the changes in a copy to the copied array."""

    __slots__ = ("_before", "_copies", "_iterator")

    def __init__(self, iterator: Any, copies: list[tuple[ndarray, np.ndarray]]) -> None:
        object.__setattr__(self, "_iterator", iterator)
        object.__setattr__(self, "_copies", copies)
        object.__setattr__(self, "_before", [copy.copy() for _, copy in copies])

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """Return np.nditer, so that ``isinstance`` accepts the iterator."""
        return np.nditer

    def _exchange(self) -> None:
        """Write the changes to the arrays, and copy changes that were made to the arrays in another way."""
        for (array, copy), before in zip(self._copies, self._before, strict=True):
            both_nan = (copy != copy) & (before != before)
            mask = (copy != before) & ~both_nan
            current = np.array(array.numpy())
            if mask.any():
                np.copyto(current, copy, where=mask)
                array.store(tf.constant(current))
            np.copyto(copy, current)
            np.copyto(before, current)

    def __iter__(self) -> WritingIterator:
        return self

    def __next__(self) -> Any:
        try:
            return next(self._iterator)  # writes NumPy's buffer, if it has a buffer, to the copies
        finally:
            self._exchange()

    def iternext(self) -> bool:
        """Go on to the next element, and return whether it exists."""
        more: bool = self._iterator.iternext()
        self._exchange()
        return more

    def reset(self) -> None:
        """Go back to the first element."""
        self._iterator.reset()
        self._exchange()

    def close(self) -> None:
        """End the iteration after writing all changes."""
        self._iterator.close()
        self._exchange()

    def __enter__(self) -> WritingIterator:
        self._iterator.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._iterator.__exit__(*error)
        self._exchange()

    def __len__(self) -> int:
        return len(self._iterator)

    def __getitem__(self, key: Any) -> Any:
        return self._iterator[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._iterator[key] = to_numpy(value)
        self._exchange()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._iterator, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._iterator, name, to_numpy(value))
        self._exchange()
