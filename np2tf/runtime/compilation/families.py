"""The families of a jitted function's calls: calls that share code except for numbers and open lengths."""

from __future__ import annotations

from typing import Any

from np2tf.runtime.compilation.open_arrays import OpenArrays, bounds_of
from np2tf.runtime.compilation.open_lengths import Lengths, shapes_of
from np2tf.runtime.compilation.prepared_call import Call
from np2tf.runtime.compilation.specializations import Family
from np2tf.runtime.host.host_function import HostFunction

#: The number of families that are stored.
MOST_FAMILIES = 1000


class Families:
    """The families of one function.

    Attributes:
        known: the families, by the key of their calls' signature.

    Args:
        host: provides the measurements of earlier processes.
    """

    def __init__(self, host: HostFunction) -> None:
        self.known: dict[Any, Family] = {}
        self._host = host
        self._lengths: dict[Any, Lengths] = {}

    def of(self, call: Call, may_be_open: bool) -> Family:
        """Return the family of a call, and prepare the call for it.

        Args:
            call: a call of the function.
            may_be_open: whether the family may be one of calls that differ in the lengths of arrays.
        """
        exact = self._known_as(call.signature.key, call)
        if exact.compiled or exact.on_host or not may_be_open:
            return exact
        return self._open(call, exact) or exact

    def refuse_lengths(self, call: Call) -> None:
        """Record that the code for a call needs the lengths of its arrays as constants."""
        known = self._lengths.get(call.signature.key_without_lengths)
        if known is not None:
            known.refuse()

    def _known_as(self, key: Any, call: Call) -> Family:
        found = self.known.get(key)
        if found is None:
            if len(self.known) >= MOST_FAMILIES:
                self.known.clear()
                self._lengths.clear()
            found = self.known.setdefault(key, Family())
            found.begin_with(self._host.prospect.way(call.args, call.kwargs), call.signature)
        return found

    def _open(self, call: Call, exact: Family) -> Family | None:
        """Return the family of calls with other lengths too, and prepare the call for it; None if there is
        none.
        """
        signature = call.signature
        shapes = shapes_of(signature)
        if shapes is None:
            return None
        loose = signature.key_without_lengths
        met = self._lengths.setdefault(loose, Lengths())
        met.note(shapes, exact)
        lengths = met.lengths(shapes)
        if lengths is None:
            return None
        first = len(signature.numbers)
        bounds = {first + k: found for k, length in enumerate(lengths) if (found := bounds_of(length))}
        if not OpenArrays(met.pattern, list(bounds), bounds).fit_memory(shapes):
            return None
        key = loose, met.static(shapes), tuple(met.pattern.items()), tuple(bounds.values())
        is_new = key not in self.known
        family = self._known_as(key, call)
        if is_new:
            family.own_seconds = met.seconds(lengths)
            family.bounded.update(bounds)
        if family.on_host:
            return None
        signature.numbers += lengths
        signature.changing += bounds
        call.open_pattern = met.pattern
        return family
