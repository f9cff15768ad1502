"""Arrays whose lengths are inputs of compiled code.

XLA needs static shapes. In its program an open axis is as long as a bound, and the function sees only the
valid part of the array (`np2tf.arrays.indexing.selection`). The array is padded before the call. In a graph
that XLA does not compile, the open axes have no static length, and the array is given as it is.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from copy import copy
from typing import Any, NamedTuple

import numpy as np

from np2tf.arrays.array.ndarray import chain_of, ndarray
from np2tf.arrays.indexing.selection import MOST_BOUNDED, part_of_whole
from np2tf.arrays.tensors.symbolic_integers import SymInt
from np2tf.core.errors import XlaShapeError

#: The least and the greatest value of a number.
Bounds = tuple[int, int]
#: The bounds of lengths known only at run time.
LEAST_BOUND, LARGEST_BOUND = 16, 2**24
#: The bounds of such lengths in a graph.
GRAPH_BOUNDS: Bounds = (3, LARGEST_BOUND)

Shapes = tuple[tuple[int, ...], ...]


def bounds_of(number: Any) -> Bounds | None:
    """Return the bounds of a natural number, which numbers of similar size share; None for other values.

    The numbers 0, 1 and 2 have bounds of their own, because programs often treat them specially (`if len(x) <
    2`).
    """
    if type(number) is not int or not 0 <= number <= LARGEST_BOUND:
        return None
    if number <= 2:
        return number, number
    if number <= LEAST_BOUND:
        return 3, LEAST_BOUND
    power = 1 << (number - 1).bit_length()
    return power // 2 + 1, power


def graph_bounds_of(number: Any) -> Bounds | None:
    """Return the bounds of a natural number for a graph, whose arrays are not padded."""
    bounds = bounds_of(number)
    return bounds if bounds is None or bounds[0] == bounds[1] else GRAPH_BOUNDS


class OpenAxis(NamedTuple):
    """An axis whose length is an input.

    Attributes:
        group: axes of a group have equal lengths in every call.
    """

    axis: int
    group: int


#: The place of an array -> its open axes.
Pattern = dict[int, tuple[OpenAxis, ...]]


class OpenArrays:
    """The arrays of one call whose lengths are inputs.

    Attributes:
        is_padded: whether the open axes are as long as their bounds, as XLA needs it.

    Args:
        number_count: how many numbers the call has; the last are the lengths of the groups.
        bounds: the least and the greatest value of each of these numbers.
        ragged_places: the places of the parts of ragged arrays, whose first axis has any length in a graph.
    """

    def __init__(
        self,
        pattern: Mapping[int, tuple[OpenAxis, ...]],
        number_count: int,
        bounds: Mapping[int, Bounds],
        ragged_places: Collection[int] = (),
    ) -> None:
        first = number_count - len({group for axes in pattern.values() for _, group in axes})
        self._axes = {place: {axis: first + group for axis, group in axes} for place, axes in pattern.items()}
        self._bounds = bounds
        self._ragged_places = frozenset(ragged_places)
        self._parts: dict[int, Any] = {}
        self.is_padded = True

    def for_trace(self, is_padded: bool) -> OpenArrays:
        """Return the arrays for another trace, padded or not."""
        new = copy(self)
        new._parts, new.is_padded = {}, is_padded
        return new

    def __contains__(self, place: int) -> bool:
        """Return whether the array at `place` is padded."""
        return self.is_padded and place in self._axes

    @property
    def has_rows(self) -> bool:
        """True if there are ragged arrays, which XLA has no form for."""
        return bool(self._ragged_places)

    def check_bounds(self) -> None:
        """Refuse to pad arrays to a length that is hardly bounded."""
        if GRAPH_BOUNDS in (
            self._bounds.get(number) for axes in self._axes.values() for number in axes.values()
        ):
            raise XlaShapeError("XLA needs to know lengths that vary")

    def static_shape(self, place: int, shape: Sequence[int]) -> tuple[int | None, ...]:
        """Return the shape of the array at `place` in the code; None is a length known only at run time."""
        if place in self._ragged_places:
            return None, *shape[1:]
        if self.is_padded:
            return self._padded_shape(place, shape)
        axes = self._axes.get(place, {})
        return tuple(None if axis in axes else length for axis, length in enumerate(shape))

    def _padded_shape(self, place: int, shape: Sequence[int]) -> tuple[int, ...]:
        axes = self._axes.get(place, {})
        return tuple(
            self._bounds[axes[axis]][1] if axis in axes else length for axis, length in enumerate(shape)
        )

    def fit_memory(self, shapes: Shapes) -> bool:
        """Return whether the padded arrays of a call stay within the memory limit."""
        return all(
            math.prod(self._padded_shape(place, shape)) <= MOST_BOUNDED for place, shape in enumerate(shapes)
        )

    def part(self, place: int, whole: ndarray, numbers: Sequence[Any]) -> ndarray:
        """Return the valid part of the array at `place`, given by the staged numbers."""
        axes = self._axes[place]
        lengths: list[SymInt | None] = [
            numbers[axes[axis]].staged_integer if axis in axes else None for axis in range(whole.ndim)
        ]
        part = part_of_whole(whole, lengths)
        self._parts[place] = chain_of(part)
        return part

    def is_whole(self, place: int, path: tuple[Any, ...]) -> bool:
        """Return whether `path` shows exactly the valid part of the array at `place`."""
        return place in self and len(path) == 1 and path[0] is self._parts[place][0]

    def pad(self, place: int, array: np.ndarray) -> np.ndarray:
        """Return the array at `place` padded to its shape in the program."""
        result = np.zeros(self._padded_shape(place, array.shape), array.dtype)
        result[tuple(map(slice, array.shape))] = array
        return result

    @staticmethod
    def crop(whole: Any, array: np.ndarray) -> np.ndarray:
        """Return the valid part of a padded array that the program has written."""
        return np.asarray(memoryview(whole))[tuple(map(slice, array.shape))]
