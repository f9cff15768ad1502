"""A jitted function as Python runs it, on the host: by NumPy itself where it can be, and timed."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from typing import Any

from np2tf.config import config
from np2tf.counts import counts
from np2tf.runtime.plain import PlainFunction
from np2tf.runtime.recursion import HostCalls
from np2tf.runtime.surroundings import compiles_at_once, is_recording
from np2tf.runtime.values import bound

#: A function whose calls take less than this many seconds on the host, on average over so many calls, is
#: left there without further ado: taking its arguments apart would cost more than compiling could bring.
TOO_SHORT, ENOUGH_CALLS = 3e-4, 20


class HostFunction:
    """What `Jitted` runs where it runs no compiled code.

    Attributes:
        calls: those that are running, one within another.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.calls = HostCalls(function)
        self._function = function
        self._timed_calls = 0
        self._average = 0.0

    @functools.cached_property
    def _plain(self) -> PlainFunction:
        return PlainFunction(self._function)

    @property
    def is_short(self) -> bool:
        """Whether calls take so little time that nothing else is worth a look."""
        return (
            self._timed_calls >= ENOUGH_CALLS
            and self._average < TOO_SHORT
            and config.eager == "auto"
            and not compiles_at_once()
        )

    def run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run as Python: by NumPy itself where nothing is on TensorFlow, and nobody takes gradients."""
        counts.host += 1
        counts.host_calls += 1
        if self._plain.takes(args, kwargs) and not is_recording():
            return bound(self.calls.run(self._plain, args, kwargs))
        return self.run_within(args, kwargs)

    def run_within(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run as a part of a call that is running already."""
        return bound(self.calls.run(self._function, *args, **kwargs))

    def run_timed(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], note: Callable[[float], None] | None = None
    ) -> Any:
        """Run, and keep a running average of the time that takes; `note` is told the seconds."""
        start = time.perf_counter()
        result = self.run(args, kwargs)
        seconds = time.perf_counter() - start
        self._timed_calls += 1
        self._average += (seconds - self._average) / min(self._timed_calls, ENOUGH_CALLS)
        if note is not None:
            note(seconds)
        return result
