"""The specialization caches of a jitted function, by the signature of calls, including caches for open
lengths.
"""

from __future__ import annotations

from typing import Any

from np2tf.runtime.compilation.open_arrays import OpenArrays, bounds_of
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
        """Record that the code for a call needs the lengths of its arrays as constants."""
        lengths = self._lengths.get(call.signature.key_without_lengths)
        if lengths is not None:
            lengths.refuse()

    def _known_cache(self, key: Any, call: PreparedCall) -> SpecializationCache:
        cache = self.caches.get(key)
        if cache is None:
            if len(self.caches) >= MOST_CACHES:
                self.caches.clear()
                self._lengths.clear()
            cache = self.caches.setdefault(key, SpecializationCache())
            cache.start_from(self._host.prospect.call_record(call.args, call.kwargs), call.signature)
        return cache

    def _open_cache(self, call: PreparedCall, exact: SpecializationCache) -> SpecializationCache | None:
        """Return the cache for calls with other lengths too, and prepare the call for it; None if there is
        none.
        """
        signature = call.signature
        shapes = shapes_of(signature)
        if shapes is None:
            return None
        loose = signature.key_without_lengths
        history = self._lengths.setdefault(loose, Lengths())
        history.note(shapes, exact)
        lengths = history.lengths(shapes)
        if lengths is None:
            return None
        first = len(signature.numbers)
        bounds = {first + k: interval for k, length in enumerate(lengths) if (interval := bounds_of(length))}
        if not OpenArrays(history.pattern, list(bounds), bounds).fit_memory(shapes):
            return None
        key = loose, history.static_shapes(shapes), tuple(history.pattern.items()), tuple(bounds.values())
        is_new = key not in self.caches
        cache = self._known_cache(key, call)
        if is_new:
            cache.own_seconds = history.seconds(lengths)
            cache.bounded_inputs.update(bounds)
        if cache.on_host or (cache.has_graph and history.recurs(shapes)):
            return None
        signature.numbers += lengths
        signature.changing_numbers += bounds
        call.open_pattern = history.pattern
        return cache
