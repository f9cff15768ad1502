"""The interface of staged lists to the op library: rows that NumPy would stack."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf


class StackableSequence:
    """A sequence of values of one shape and dtype; `np2tf.runtime.structures.staged_list` implements it."""

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
        """Return the rows as one array, stacked along a new first axis.

        Args:
            joins: whether the caller is a function that joins arrays, and not ``np.array``.
        """
        raise NotImplementedError
