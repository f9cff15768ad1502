"""What compiling a function may cost: no more than the host has spent in it (tier "auto").

A program does not say how often it will call a function. As with renting or buying skis (Karlin et al.,
"Competitive snoopy caching", 1988), the cost of a wrong guess is bounded where compiling waits until the host
has taken as long as compiling is expected to take.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from np2tf.runtime.callees import NewCallee
from np2tf.runtime.host_function import HostFunction

#: The code of the error by which a trace ends that takes longer than it may.
TOO_LONG_TO_TRACE = "NP2TF540"
#: Seconds that compiling is expected to take as long as this process has compiled nothing.
EXPECTED = 0.5
#: A trace may take so many seconds, and so many times what the host has spent in the function.
PATIENCE, PATIENCE_PER_SECOND = 1.0, 2.0
#: After so many compilations of a function that have not paid, the next ones may cost a smaller share.
TRIES, SHARE_AFTER_TRIES = 3, 0.2


class _Average:
    """The mean cost of the compilations of this process."""

    def __init__(self) -> None:
        self.seconds, self.count = EXPECTED, 1

    def add(self, seconds: float) -> None:
        self.seconds += seconds

    @property
    def mean(self) -> float:
        return self.seconds / self.count


_average = _Average()


class Budget:
    """The costs of compiling one function, all signatures together.

    Args:
        host: knows what the function has taken on the host.
    """

    def __init__(self, host: HostFunction) -> None:
        self._host = host
        self._spent = self._gained = 0.0
        self._tries = 0

    @property
    def is_open(self) -> bool:
        """Whether the function may be compiled once more."""
        expected = self._spent / self._tries if self._tries else _average.mean
        share = 1.0 if self._tries < TRIES or self._gained > self._spent else SHARE_AFTER_TRIES
        return max(self._spent - self._gained, 0.0) + expected <= share * self._host.seconds

    @property
    def deadline(self) -> float:
        """When, by `time.monotonic`, a trace that begins now is given up."""
        return time.monotonic() + PATIENCE + PATIENCE_PER_SECOND * self._host.seconds

    @contextmanager
    def tracing(self) -> Iterator[None]:
        """Count the time of a trace, whether it comes to anything or not; one that begins again is one."""
        begun = time.perf_counter()
        tries = 1
        try:
            yield
        except NewCallee:
            tries = 0
            raise
        finally:
            self._tries += tries
            _average.count += tries
            self.note_compiling(time.perf_counter() - begun)

    def note_compiling(self, seconds: float) -> None:
        """Count the time in which XLA compiles."""
        self._spent += seconds
        _average.add(seconds)

    def note_gain(self, seconds: float) -> None:
        """Note how long a compiled call has taken, in place of one on the host."""
        if self._host.timed_calls:
            self._gained += self._host.average - seconds
