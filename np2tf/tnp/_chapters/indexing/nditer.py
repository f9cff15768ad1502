"""``nditer`` over arrays on TensorFlow: writes through the iterator reach the arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.counts import counts
from np2tf.tnp._array.ndarray import is_array, ndarray
from np2tf.tnp._array.strides import host_view
from np2tf.tnp._operands.conversion import to_numpy
from np2tf.tnp._operands.differentiated_values import refuse_to_leave
from np2tf.tnp._tensor.storage import current_scope

__all__ = ["nditer"]

_WRITES = frozenset({"readwrite", "writeonly"})


def nditer(op: Any, flags: Any = None, op_flags: Any = None, *args: Any, **kwargs: Any) -> Any:
    """Return NumPy's own iterator over arrays.

    The iterator goes over copies of tensor arrays. If an operand is written to, every step copies the changes
    to the array.

    Args:
        op: array, or sequence of arrays.
        flags: NumPy's flags of the iterator.
        op_flags: NumPy's flags of each operand.
        *args: further arguments of np.nditer.
        **kwargs: further keyword arguments of np.nditer.

    See https://numpy.org/doc/stable/reference/generated/numpy.nditer.html.
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
