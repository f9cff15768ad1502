"""The interfaces of staged sequences to the op library: rows that NumPy would stack, and Python's numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import tensorflow as tf

if TYPE_CHECKING:
    from np2tf.arrays.array.ndarray import ndarray


class StackableSequence:
    """A sequence of values of one shape and dtype; `np2tf.staging.values.staged_list` implements it."""

    __slots__ = ()

    def flatten(self) -> tuple[list[Any], Callable[[Sequence[Any]], Any], Any]:
        """Return the leaves, a function that rebuilds the sequence from leaves, and an outline for
        comparison.
        """
        raise NotImplementedError

    def known_length(self) -> int:
        """Return the number of values, which must be known while staging."""
        raise NotImplementedError

    def copy(self) -> StackableSequence:
        """Return another sequence of the same values."""
        raise NotImplementedError

    def take(self, sequence: Any) -> StackableSequence:
        """Replace the contents by the contents of `sequence`."""
        raise NotImplementedError

    def stack(self, joins: bool = False) -> tf.Tensor:
        """Return the rows as one array, stacked along a new first axis; `joins` says that ``np.array`` is not
        the caller.
        """
        raise NotImplementedError


class NumberSequence:
    """A list or range of Python's numbers whose length is known only at run time."""

    __slots__ = ()

    def make_array(self, dtype: Any = None) -> ndarray:
        """Return the new array that NumPy makes of the sequence.

        Raises:
            StagingError: if the dtype could refuse some of the numbers.
        """
        raise NotImplementedError

    def make_index(self) -> ndarray:
        """Return the index array that NumPy makes of the sequence."""
        raise NotImplementedError


def is_number_sequence(value: Any) -> bool:
    """Return whether `value` is a sequence of numbers whose length is known only at run time."""
    return issubclass(type(value), NumberSequence)


def operand_of(value: Any) -> Any:
    """Return `value` as an operand: a sequence of numbers as an array, any other value as it is."""
    return value.make_array() if is_number_sequence(value) else value


def key_of(key: Any) -> Any:
    """Return a key with every sequence of numbers in it replaced by an index array."""
    if type(key) is tuple:
        return tuple(map(key_of, key)) if any(map(is_number_sequence, key)) else key
    return key.make_index() if is_number_sequence(key) else key
