"""Which calls share code: caches by signature, by open lengths, and by the numbers that vary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from np2tf.core.counts import Fallback
from np2tf.core.errors import TooManyTracesError, XlaShapeError
from np2tf.staging.compile.concrete_function import ConcreteFunction
from np2tf.staging.compile.open_arrays import (
    Bounds,
    OpenArrays,
    OpenAxis,
    Pattern,
    Shapes,
    bounds_of,
    graph_bounds_of,
)
from np2tf.staging.compile.preparation import PreparedCall
from np2tf.staging.host.host_function import HostFunction
from np2tf.staging.tiers import constants
from np2tf.staging.tiers.comparison import Comparison
from np2tf.staging.tiers.history import CallRecord
from np2tf.staging.trace.signature import Signature, number_key

# -- specializations -----------------------------------------------------------------------------------------
# Cache of compiled variants for calls that differ only in the values of numbers.

_INTEGERS = (int, np.integer, np.bool_)


@dataclass(eq=False)
class SpecializationCache:
    """All calls that differ only in numbers.

    Attributes:
        functions: the code, by the numbers that are constants of it.
        timing: what the calls take on each tier.
        fallback: the reason why the calls cannot be compiled, if they cannot.
        fixed: the places of arrays that are constants of the code.
        bounded_inputs: the inputs that are integers whose size XLA needs to know.
        is_graph_only: whether the code is a graph for lengths of any size, which XLA is not asked to compile.
        digest: the digest of the calls, once there is code for them.
    """

    functions: dict[Any, ConcreteFunction] = field(default_factory=dict)
    timing: Comparison = field(default_factory=Comparison)
    fallback: Fallback | None = None
    first_numbers: list[Any] = field(default_factory=list)
    varying_numbers: set[int] = field(default_factory=set)
    integers: set[int] = field(default_factory=set)
    changing_numbers: set[int] = field(default_factory=set)
    pinned_numbers: set[int] = field(default_factory=set)
    fixed: set[int] = field(default_factory=set)
    bounded_inputs: set[int] = field(default_factory=set)
    is_graph_only: bool = False
    digest: str = ""

    def start_from(self, way: CallRecord | None, signature: Signature) -> None:
        """Start with the measurements of an earlier process for such calls."""
        if way is None:
            return
        self.timing.known_host = way.host
        if way.numbers == len(signature.numbers):
            self.varying_numbers, self.pinned_numbers = set(way.varying_numbers), set(way.pinned_numbers)
            self.integers = {k for k in self.varying_numbers if isinstance(signature.numbers[k], _INTEGERS)}

    @property
    def has_graph(self) -> bool:
        """True if the code is a graph that is not one XLA program."""
        return any(function.how == "graph" for function in self.functions.values())

    def notice(self, signature: Signature) -> None:
        """Record which numbers vary."""
        self.changing_numbers.update(signature.changing_numbers)
        keys = list(map(number_key, signature.numbers))
        if not self.first_numbers:
            self.first_numbers = keys
        elif keys != self.first_numbers:
            new = {k for k, key in enumerate(keys) if key != self.first_numbers[k]} - self.varying_numbers
            self.varying_numbers |= new
            self.integers |= {k for k in new if isinstance(signature.numbers[k], _INTEGERS)}

    def inputs(self) -> tuple[int, ...]:
        """Return the numbers that are to be inputs of the next code."""
        return tuple(sorted((self.varying_numbers | self.changing_numbers) - self.pinned_numbers))

    def check_inputs(self, inputs: tuple[int, ...], function: ConcreteFunction) -> None:
        """Refuse code whose integers should be constants, because constant integers make shapes known."""
        functions = self.functions.values()
        if (
            self.integers & set(inputs)
            and function.how != "xla"
            and any(known_function.how == "xla" for known_function in functions)
        ):
            raise XlaShapeError("XLA needs to know the integers")

    def bound_integers(self, inputs: tuple[int, ...], signature: Signature) -> bool:
        """Let the integers among the inputs be bounded, and return whether there are new bounded integers."""
        new = {k for k in inputs if bounds_of(signature.numbers[k]) is not None} - self.bounded_inputs
        self.bounded_inputs |= new
        return bool(new)

    def bounds(self, inputs: tuple[int, ...], signature: Signature) -> dict[int, Bounds]:
        """Return the bounds of the bounded inputs. They are powers of 2, so that there are few of them."""
        find_bounds = graph_bounds_of if self.is_graph_only else bounds_of
        bounds = {k: find_bounds(signature.numbers[k]) for k in inputs if k in self.bounded_inputs}
        return {k: interval for k, interval in bounds.items() if interval is not None}

    def pin(self, inputs: tuple[int, ...], signature: Signature) -> None:
        """Record that the integers among these inputs, or all of them if there are none, must be
        constants.
        """
        integers = {k for k in inputs if isinstance(signature.numbers[k], _INTEGERS)}
        self.pinned_numbers |= integers if integers else set(inputs)

    def key(self, signature: Signature, inputs: tuple[int, ...]) -> Any:
        """Return the key of the code for these numbers."""
        number_keys = [number_key(number) for k, number in enumerate(signature.numbers) if k not in inputs]
        contents = tuple(signature.arrays[k].tobytes() for k in sorted(self.fixed))
        bounds = tuple(self.bounds(inputs, signature).items())
        return inputs, tuple(number_keys), signature.constants, contents, bounds

    def fix(self, places: frozenset[int]) -> None:
        """Make arrays constants of the next code."""
        self.fixed |= places

    def find(self, signature: Signature) -> ConcreteFunction | None:
        """Return the code for a call, if there is any."""
        inputs = self.inputs()
        function = self.functions.get(self.key(signature, inputs))
        return function if function is not None or not inputs else self.functions.get(self.key(signature, ()))

    def replace(self, function: ConcreteFunction, new_function: ConcreteFunction) -> None:
        """Let another trace take the place of a function."""
        for key, known_function in list(self.functions.items()):
            if known_function is function:
                self.functions[key] = new_function

    def check_growth(self) -> None:
        """Refuse to compile again if there have been too many traces."""
        most = constants.TRACES_OF_CONTENTS if self.fixed else constants.TRACES_A_CACHE
        if len(self.functions) >= most:
            raise TooManyTracesError.of()

    @property
    def decision(self) -> str:
        """The tier of calls from now on, in words."""
        if self.fallback is not None:
            return "host: cannot be compiled"
        if not self.functions:
            return "host: has not taken enough time to be worth compiling"
        return self.timing.decision


# -- open lengths --------------------------------------------------------------------------------------------
# Calls that differ only in the lengths of their arrays: which lengths vary, and which are equal.
#
# The shapes of earlier calls decide which axes become open (see `open_arrays`).

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
                total += cache.timing.own_seconds
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

    With `with_lists` the shapes of the lists of numbers follow.
    """
    arrays = signature.arrays
    if not all(type(array) is np.ndarray and array.flags.c_contiguous for array in arrays):
        return None
    lists = signature.number_lists if with_lists else []
    shapes = *(array.shape for array in arrays), *((len(part.values),) for part in lists)
    return shapes or None


# -- specialization caches -----------------------------------------------------------------------------------
# The specialization caches of a jitted function, by the signature of calls, including caches for open
# lengths.


class SpecializationCaches:
    """The specialization caches of one function.

    Attributes:
        caches: the caches, by the key of their calls' signature.

    Args:
        host: provides the measurements of earlier processes.
    """

    def __init__(self, host: HostFunction) -> None:
        self.caches: dict[Any, SpecializationCache] = {}
        self._host = host
        self._lengths: dict[Any, Lengths] = {}
        # The keys of calls whose lists must have known lengths.
        self._exact_lists: set[Any] = set()

    def of(self, call: PreparedCall, may_be_open: bool) -> SpecializationCache:
        """Return the cache for a call, and prepare the call for it.

        With `may_be_open` the cache may serve calls that differ in the lengths of arrays.
        """
        exact = self._known_cache(call.signature.key, call)
        if exact.functions or exact.timing.on_host or not may_be_open:
            return exact
        return self._open_cache(call, exact) or exact

    def refuse_lengths(self, call: PreparedCall) -> None:
        """Record that the code for a call needs the lengths of its arrays or lists as constants."""
        signature = call.signature
        if signature.has_open_lists:
            self._exact_lists.add(signature.key_without_list_lengths)
            return
        lengths = self._lengths.get(self._loose_key(signature, call.may_open_lists)[0])
        if lengths is not None:
            lengths.refuse()

    def _loose_key(self, signature: Signature, may_open_lists: bool) -> tuple[Any, bool]:
        """Return the key of calls of all lengths, and whether the lengths of lists are among these."""
        if may_open_lists and signature.number_lists:
            key = signature.key_without_list_lengths
            if key not in self._exact_lists:
                return key, True
        return signature.key_without_lengths, False

    def _known_cache(self, key: Any, call: PreparedCall, resumes: bool = True) -> SpecializationCache:
        cache = self.caches.get(key)
        if cache is None:
            if len(self.caches) >= constants.MOST_CACHES:
                self._forget()
            cache = self.caches.setdefault(key, SpecializationCache())
            if resumes:
                cache.start_from(self._host.prospect.call_record(call.args, call.kwargs), call.signature)
        return cache

    def _forget(self) -> None:
        """Forget what is known about calls without code; everything if that is too little."""
        known = {key: cache for key, cache in self.caches.items() if cache.functions}
        self.caches = known if len(known) < constants.MOST_CACHES // 2 else {}
        self._lengths.clear()

    def _open_cache(self, call: PreparedCall, exact: SpecializationCache) -> SpecializationCache | None:
        """Return the cache for calls with other lengths too, and prepare the call for it; None if there is
        none.
        """
        signature = call.signature
        loose, with_lists = self._loose_key(signature, call.may_open_lists)
        shapes = shapes_of(signature, with_lists)
        if shapes is None:
            return None
        history = self._lengths.setdefault(loose, Lengths())
        history.note(shapes, exact)
        lengths = history.lengths(shapes)
        if lengths is None:
            return None
        list_places = [
            place - len(signature.arrays) for place in history.pattern if place >= len(signature.arrays)
        ]
        first = len(signature.numbers) - sum(
            len(signature.number_lists[place].values) for place in list_places
        )
        places = range(first, first + len(lengths))
        bounds = [interval for length in lengths if (interval := bounds_of(length)) is not None]
        common_key = loose, history.static_shapes(shapes), tuple(history.pattern.items())
        bounded_cache = self.caches.get((*common_key, tuple(bounds)))
        is_graph_only = history.needs_graph and (bounded_cache is None or not bounded_cache.functions)
        if is_graph_only:
            bounds = [interval for length in lengths if (interval := graph_bounds_of(length)) is not None]
        else:
            open_arrays = OpenArrays(history.pattern, places.stop, dict(zip(places, bounds, strict=True)))
            if not open_arrays.fit_memory(shapes):
                return None
        key = (*common_key, tuple(bounds))
        is_new = key not in self.caches
        cache = self._known_cache(key, call, resumes=not list_places)
        if is_new:
            cache.is_graph_only, cache.timing.since = is_graph_only, self._host.since
            cache.timing.own_seconds = history.seconds(bounds) + (
                bounded_cache.timing.own_seconds if bounded_cache else 0.0
            )
            cache.bounded_inputs.update(places)
        history.needs_graph |= cache.has_graph
        if cache.timing.on_host or (cache.has_graph and history.recurs(shapes)):
            return None
        call.open_pattern = _open_lists(signature, history.pattern, list_places)
        signature.numbers += lengths
        signature.changing_numbers += places
        return cache


def _open_lists(signature: Signature, pattern: Pattern, list_places: list[int]) -> Pattern:
    """Make lists inputs of their own, and return the pattern with the places of their arrays."""
    array_count = len(signature.arrays)
    places = {
        array_count + place: array_place for place, array_place in signature.open_lists(list_places).items()
    }
    return {places.get(place, place): axes for place, axes in pattern.items()}
