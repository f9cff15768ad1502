"""The specialization caches of a jitted function, by the signature of calls, including caches for open
lengths.
"""

from __future__ import annotations

from typing import Any

from np2tf.runtime.arguments.signature import Signature
from np2tf.runtime.compilation.open_arrays import OpenArrays, Pattern, bounds_of, graph_bounds_of
from np2tf.runtime.compilation.open_lengths import Lengths, shapes_of
from np2tf.runtime.compilation.prepared_call import PreparedCall
from np2tf.runtime.compilation.specializations import SpecializationCache
from np2tf.runtime.host.host_function import HostFunction

#: The number of caches that are stored; every signature has a cache of its own.
MOST_CACHES = 1000


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

        Args:
            call: a call of the function.
            may_be_open: whether the cache may serve calls that differ in the lengths of arrays.
        """
        exact = self._known_cache(call.signature.key, call)
        if exact.functions or exact.on_host or not may_be_open:
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
            if len(self.caches) >= MOST_CACHES:
                self.caches.clear()
                self._lengths.clear()
            cache = self.caches.setdefault(key, SpecializationCache())
            if resumes:
                cache.start_from(self._host.prospect.call_record(call.args, call.kwargs), call.signature)
        return cache

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
            open_arrays = OpenArrays(history.pattern, places, dict(zip(places, bounds, strict=True)))
            if not open_arrays.fit_memory(shapes):
                return None
        key = (*common_key, tuple(bounds))
        is_new = key not in self.caches
        cache = self._known_cache(key, call, resumes=not list_places)
        if is_new:
            cache.is_graph_only = is_graph_only
            cache.own_seconds = history.seconds(bounds) + (
                bounded_cache.own_seconds if bounded_cache else 0.0
            )
            cache.bounded_inputs.update(places)
        history.needs_graph |= cache.has_graph
        if cache.on_host or (cache.has_graph and history.recurs(shapes)):
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
