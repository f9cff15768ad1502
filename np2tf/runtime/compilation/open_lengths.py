"""Calls that differ only in the lengths of their arrays: which lengths vary, and which are equal.

The shapes of earlier calls decide which axes become open (see `open_arrays`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from np2tf.runtime.arguments.signature import Signature
from np2tf.runtime.compilation.open_arrays import Bounds, OpenAxis, Pattern, Shapes, bounds_of
from np2tf.runtime.compilation.specializations import SpecializationCache

#: The number of different shapes after which lengths become open, and the number of patterns that are tried.
ENOUGH_SHAPES, MOST_PATTERNS = 3, 3
#: The number of shapes that are stored.
MOST_SHAPES = 64
#: After this many calls of a graph for all lengths XLA compiles a length for itself; at most so many lengths.
RECURRING_CALLS, MOST_RECURRING = 32, 8
#: Smaller lengths are static, because arrays of length 1 are broadcast.
LEAST_OPEN = 2


class LengthsAreNeeded(Exception):
    """Raised if the code of a function needs lengths, which are inputs, as constants."""


@dataclass
class Lengths:
    """The shapes in calls that differ only in shapes.

    Attributes:
        pattern: the open axes; empty until there is a reason for open axes.
        needs_graph: whether XLA has refused the code for open axes, so that a graph serves lengths of any
            size.
    """

    pattern: Pattern = field(default_factory=dict)
    needs_graph: bool = False
    _caches: dict[Shapes, SpecializationCache] = field(default_factory=dict)
    _patterns: int = 0
    _graph_calls: Counter[Shapes] = field(default_factory=Counter)
    _recurring_shapes: set[Shapes] = field(default_factory=set)

    def note(self, shapes: Shapes, cache: SpecializationCache) -> None:
        """Record a call of these shapes, which has a cache of its own."""
        if shapes in self._caches or len(self._caches) >= MOST_SHAPES:
            return
        self._caches[shapes] = cache
        if len(self._caches) >= ENOUGH_SHAPES and self._patterns < MOST_PATTERNS and not self._fits(shapes):
            self._patterns += 1
            self.needs_graph = False
            self.pattern = _pattern(list(self._caches))

    def refuse(self) -> None:
        """Record that the function needs the lengths as constants."""
        self.pattern, self._patterns, self.needs_graph = {}, MOST_PATTERNS, False

    def recurs(self, shapes: Shapes) -> bool:
        """Count a call of the graph for all lengths, and return whether XLA should compile the call's lengths
        instead.
        """
        if shapes not in self._recurring_shapes and len(self._recurring_shapes) < MOST_RECURRING:
            self._graph_calls[shapes] += 1
            if self._graph_calls[shapes] > RECURRING_CALLS:
                self._recurring_shapes.add(shapes)
        return shapes in self._recurring_shapes

    def lengths(self, shapes: Shapes) -> list[int] | None:
        """Return the length of each group in a call; None if the call does not fit the pattern."""
        if not self.pattern or not self._fits(shapes):
            return None
        group_lengths: dict[int, int] = {}
        for place, axes in self.pattern.items():
            for axis, group in axes:
                group_lengths[group] = shapes[place][axis]
        lengths = [group_lengths[group] for group in range(len(group_lengths))]
        return lengths if all(map(bounds_of, lengths)) else None

    def seconds(self, bounds: Sequence[Bounds]) -> float:
        """Return the host's seconds in calls whose lengths have these bounds."""
        total = 0.0
        for shapes, cache in self._caches.items():
            lengths = self.lengths(shapes)
            if lengths is not None and all(map(_lies_within, lengths, bounds)):
                total += cache.own_seconds
        return total

    def static_shapes(self, shapes: Shapes) -> tuple[tuple[int | None, ...], ...]:
        """Return the shapes of a call, with None for open axes."""
        return tuple(
            tuple(
                None
                if any(length_axis.axis == axis for length_axis in self.pattern.get(place, ()))
                else length
                for axis, length in enumerate(shape)
            )
            for place, shape in enumerate(shapes)
        )

    def _fits(self, shapes: Shapes) -> bool:
        """Return whether the lengths of a call differ from the lengths of earlier calls only on open axes."""
        first = next(iter(self._caches))
        groups: dict[int, int] = {}
        for place, (shape, first_shape) in enumerate(zip(shapes, first, strict=True)):
            group_of = dict(self.pattern.get(place, ()))
            for axis, (length, known_length) in enumerate(zip(shape, first_shape, strict=True)):
                group = group_of.get(axis)
                if group is None and length != known_length:
                    return False
                if group is not None and (length < LEAST_OPEN or groups.setdefault(group, length) != length):
                    return False
        return bool(self.pattern)


def _lies_within(length: int, bounds: Bounds) -> bool:
    return bounds[0] <= length <= bounds[1]


def _pattern(shapes_of_calls: Sequence[Shapes]) -> Pattern:
    """Return the axes whose lengths vary; axes with equal lengths form one group."""
    pattern: Pattern = {}
    groups: dict[tuple[int, ...], int] = {}
    for place, shape in enumerate(shapes_of_calls[0]):
        axes = []
        for axis in range(len(shape)):
            lengths = tuple(shapes[place][axis] for shapes in shapes_of_calls)
            if len(set(lengths)) > 1:
                axes.append(OpenAxis(axis, groups.setdefault(lengths, len(groups))))
        if axes:
            pattern[place] = tuple(axes)
    return pattern


def shapes_of(signature: Signature, with_lists: bool) -> Shapes | None:
    """Return the shapes of a call's arrays; None if an array is not on the host or not in C order.

    Args:
        signature: the call's signature.
        with_lists: whether the shapes of the lists of numbers follow.
    """
    arrays = signature.arrays
    if not all(type(array) is np.ndarray and array.flags.c_contiguous for array in arrays):
        return None
    lists = signature.number_lists if with_lists else []
    shapes = *(array.shape for array in arrays), *((len(part.values),) for part in lists)
    return shapes or None
