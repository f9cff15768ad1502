"""The time that the host has spent in jitted functions and loops, the time that compiling costs, and the load
of the machine.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from time import perf_counter, process_time, thread_time

from np2tf.arrays.front.flags import fast_flags
from np2tf.staging.tiers import constants

# -- clock ---------------------------------------------------------------------------------------------------
# The time that the host has spent in jitted functions, and the time that compiling costs in comparison.


class _Clock:
    """The time that this process has spent in jitted functions on the host, and on compiling.

    Attributes:
        host_seconds: the seconds on the host; nested calls, and parallel calls in threads, count once.
        compile_seconds: the seconds of importing TensorFlow, of traces, and of first calls, in which XLA
            compiles.
    """

    __slots__ = ("compile_seconds", "host_seconds")

    def __init__(self) -> None:
        self.host_seconds = self.compile_seconds = 0.0


class _LongCalls(threading.local):
    """The finished calls of jitted functions in this thread that ran compiled code.

    Attributes:
        seconds: their seconds, which compiling a caller could not save.
        cost: the average cost of one compilation of the most expensive of them.
    """

    def __init__(self) -> None:
        self.seconds = self.cost = 0.0


class Stopwatch:
    """Measures the seconds since it was made, without the seconds in which the process was compiling."""

    __slots__ = ("_compile_seconds", "_long_calls", "_start")

    def __init__(self) -> None:
        self._start, self._compile_seconds, self._long_calls = (
            perf_counter(),
            clock.compile_seconds,
            long_calls.seconds,
        )

    @property
    def seconds(self) -> float:
        """The seconds since the stopwatch was made, without compiling."""
        return max(perf_counter() - self._start - (clock.compile_seconds - self._compile_seconds), 0.0)

    @property
    def own_seconds(self) -> float:
        """The seconds that compiling the timed code could save. Of compiled calls a small part counts."""
        return self.seconds - (1.0 - constants.SHARE_OF_LONG_CALLS) * (long_calls.seconds - self._long_calls)


def has_share(seconds: float, since: float) -> bool:
    """Return whether so many seconds on the host are a share of the program's time that is worth compiling.

    Args:
        since: the processor's seconds of this process before it ran for the first time.
    """
    return seconds >= constants.LEAST_SHARE * (process_time() - since)


class _Machine:
    """The load that other processes put on the machine."""

    def __init__(self) -> None:
        self._last_reading, self._slowdown = -constants.LOAD_LASTS, 1.0

    @property
    def slowdown(self) -> float:
        """The factor by which work takes longer now than on an idle machine."""
        now = perf_counter()
        if now - self._last_reading >= constants.LOAD_LASTS:
            self._last_reading = now
            with suppress(AttributeError, OSError):  # not every platform has a load average
                self._slowdown = max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
        return self._slowdown


machine = _Machine()
clock = _Clock()
long_calls = _LongCalls()


def import_cost(has_tensorflow: bool = False) -> float:
    """Return the seconds that loading the half of np2tf that needs TensorFlow costs now."""
    if fast_flags.tensors:
        return 0.0
    return (constants.LOAD_SECONDS if has_tensorflow else constants.IMPORT_SECONDS) * machine.slowdown


class Costs:
    """The costs and gains of compiling.

    Attributes:
        seconds: the seconds of traces, and of first calls, in which XLA compiles.
        tries: the number of traces.
        gain: the seconds that compiled calls have saved in comparison with calls on the host.

    Args:
        expected_cost: the seconds that a compilation is expected to take before the first one is measured.
    """

    def __init__(self, expected_cost: float = constants.COMPILE_SECONDS) -> None:
        self.seconds = self.gain = 0.0
        self.tries = 0
        self._expected_cost = expected_cost

    @property
    def debt(self) -> float:
        """The seconds that compiling has cost more than it has gained."""
        return max(self.seconds - self.gain, 0.0)

    @property
    def mean(self) -> float:
        """The mean cost of a compilation, in which the expected cost counts as one measurement."""
        return (self.seconds + self._expected_cost) / (self.tries + 1)


# -- loop timer ----------------------------------------------------------------------------------------------
# The time that a run of a loop takes on the host.


class LoopTimer:
    """Times a run of a loop on the host."""

    def __init__(self) -> None:
        self._seconds_before, self._stopwatch, self._processor = (
            clock.host_seconds,
            Stopwatch(),
            thread_time(),
        )

    @property
    def seconds(self) -> float:
        """The seconds since the timer was made, without compiling."""
        return self._stopwatch.seconds

    @property
    def own_seconds(self) -> float:
        """The seconds that compiling the loop could save: neither waiting, nor most of the long calls
        of jitted functions.
        """
        return max(min(self._stopwatch.own_seconds, thread_time() - self._processor), 0.0)

    def note_spent(self, seconds: float) -> None:
        """Record that the host has spent `seconds` since the timer was made."""
        clock.host_seconds = max(clock.host_seconds, self._seconds_before + seconds)
