"""What the host has spent in jitted functions, and what compiling costs, which is held against it."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from time import perf_counter

#: What importing TensorFlow takes, in seconds, on a machine that does nothing else: compiling must have a
#: prospect of gaining as much.
IMPORT_SECONDS = 3.0
#: Seconds on the host from which on the half of np2tf that needs TensorFlow is loaded, where the program has
#: imported TensorFlow by itself: that takes half a second, and compiling is expected to take as long again.
LOAD_SECONDS = 2.0
#: The load of the machine is looked at again after so many seconds.
_LOAD_LASTS = 1.0
#: What compiling a function is expected to take as long as this process has compiled nothing.
COMPILE_SECONDS = 0.5
#: What it takes to call compiled code, in seconds, and how long a call of a jitted function must take that is
#: worth compiling by itself.
CALL_SECONDS, LONG_CALL = 2.5e-4, 1e-3


class _Clock:
    """The time that this process has spent in jitted functions on the host, and on compiling.

    Attributes:
        spent: seconds on the host; calls within calls, and calls side by side in threads, count once.
        compiling: seconds of importing TensorFlow, of traces, and of first calls, in which XLA compiles.
    """

    __slots__ = ("compiling", "spent")

    def __init__(self) -> None:
        self.spent = self.compiling = 0.0


class _LongCalls(threading.local):
    """Calls of jitted functions that are over, in this thread: the long ones, and those of compiled code.

    Attributes:
        seconds: that they have taken, and their caller could not save; calls within calls count once.
        cost: what compiling the dearest of them has cost, on average.
    """

    def __init__(self) -> None:
        self.seconds = self.cost = 0.0


class Stopwatch:
    """Tells the seconds since it was made, without those in which the process was compiling."""

    __slots__ = ("_begun", "_compiling", "_long_calls")

    def __init__(self) -> None:
        self._begun, self._compiling, self._long_calls = perf_counter(), clock.compiling, long_calls.seconds

    @property
    def seconds(self) -> float:
        """Since it was made."""
        return max(perf_counter() - self._begun - (clock.compiling - self._compiling), 0.0)

    @property
    def in_long_calls(self) -> float:
        """The seconds of long calls since it was made: these functions are compiled by themselves."""
        return long_calls.seconds - self._long_calls

    def note_long_call(self, seconds: float) -> None:
        """What has run since it was made was one such call."""
        long_calls.seconds = self._long_calls + seconds


class _Machine:
    """What other processes take of the machine."""

    def __init__(self) -> None:
        self._seen, self._slowdown = -_LOAD_LASTS, 1.0

    @property
    def slowdown(self) -> float:
        """How many times longer everything takes now than on a machine that does nothing else."""
        now = perf_counter()
        if now - self._seen >= _LOAD_LASTS:
            self._seen = now
            with suppress(AttributeError, OSError):  # not every platform tells how many processes wait
                self._slowdown = max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
        return self._slowdown


machine = _Machine()
clock = _Clock()
long_calls = _LongCalls()


class Costs:
    """What compiling has cost and brought.

    Attributes:
        seconds: of traces, and of first calls, in which XLA compiles.
        tries: how many traces there have been.
        gained: seconds that compiled calls have taken less than calls on the host.

    Args:
        expected: seconds that one compilation is expected to take before there has been any.
    """

    def __init__(self, expected: float = COMPILE_SECONDS) -> None:
        self.seconds = self.gained = 0.0
        self.tries = 0
        self._expected = expected

    @property
    def debt(self) -> float:
        """What compiling has cost more than it has brought."""
        return max(self.seconds - self.gained, 0.0)

    @property
    def mean(self) -> float:
        """The cost of one compilation; what was expected of the first counts as one more."""
        return (self.seconds + self._expected) / (self.tries + 1)
