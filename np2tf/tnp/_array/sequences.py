"""What a list that grows in staged code is to the op library: rows that NumPy would stack."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf


class Rows:
    """A sequence of values of one shape and dtype: in np2tf, only `np2tf.runtime.structures.staged_list`."""

    __slots__ = ()

    def flat(self) -> tuple[list[Any], Callable[[Sequence[Any]], Any], Any]:
        """Leaves, a function to rebuild the sequence of leaves, and a comparable outline."""
        raise NotImplementedError

    def known_length(self) -> int:
        """The number of values, where it is known while staging."""
        raise NotImplementedError

    def copy(self) -> Rows:
        """Another sequence of the same values."""
        raise NotImplementedError

    def take(self, other: Any) -> Rows:
        """Become what `other` is."""
        raise NotImplementedError

    def stacked(self, joins: bool = False) -> tf.Tensor:
        """The values one below the other, as ``np.array``, or a function that joins arrays, makes an
        array.
        """
        raise NotImplementedError
