"""What compiling may cost: no more than the host has spent in the same functions (tier "auto").

A program does not say how often it will call a function. As with renting or buying skis (Karlin et al.,
"Competitive snoopy caching", 1988), the cost of a wrong guess is bounded where compiling waits until the host
has taken as long as compiling is expected to take. Functions call one another, and the seconds of the inner
ones are seconds of the outer ones as well: all together have a budget, too.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from np2tf.runtime.appended import ListIsRead
from np2tf.runtime.callees import NewCallee
from np2tf.runtime.clock import Costs, clock
from np2tf.runtime.host_function import HostFunction

#: A trace may take so many seconds, and so many times what the host has spent in the function.
PATIENCE, PATIENCE_PER_SECOND = 1.0, 2.0
#: Of its seconds on the host, a function may spend all on compiling; after each trace that has come to
#: nothing, and for each of the compilations after so many that have not paid, the share is divided by this.
PAID_TRIES, LESS = 3, 4.0
#: The share of all functions together.
SHARE_OF_ALL = 0.5


_all = Costs()


class Budget:
    """The costs of compiling one function, all signatures together.

    Args:
        host: knows what the function has taken on the host.
    """

    def __init__(self, host: HostFunction) -> None:
        self._host = host
        self._costs = Costs()
        self._in_vain = 0

    @property
    def is_open(self) -> bool:
        """Whether the function may be compiled once more."""
        costs = self._costs
        expected = costs.seconds / costs.tries if costs.tries else _all.mean
        if _all.debt + expected > SHARE_OF_ALL * clock.spent:
            return False
        unpaid = 0 if costs.gained > costs.seconds else max(costs.tries - self._in_vain - PAID_TRIES, 0)
        return costs.debt + expected <= self._host.seconds / LESS ** (self._in_vain + unpaid)

    @property
    def deadline(self) -> float:
        """When, by `time.monotonic`, a trace that begins now is given up."""
        return time.monotonic() + PATIENCE + PATIENCE_PER_SECOND * self._host.seconds

    @contextmanager
    def tracing(self) -> Iterator[None]:
        """Count the time of a trace, whether it comes to anything or not; one that begins again is one."""
        begun = time.perf_counter()
        tries = in_vain = 1
        try:
            yield
            in_vain = 0
        except (NewCallee, ListIsRead):
            tries = in_vain = 0
            raise
        finally:
            self._in_vain += in_vain
            for costs in (self._costs, _all):
                costs.tries += tries
            self.note_compiling(time.perf_counter() - begun)

    def note_compiling(self, seconds: float) -> None:
        """Count the time in which XLA compiles."""
        clock.compiling += seconds
        for costs in (self._costs, _all):
            costs.seconds += seconds

    def note_gain(self, seconds: float) -> None:
        """Note how long a compiled call has taken, in place of one on the host."""
        if self._host.timed_calls:
            for costs in (self._costs, _all):
                costs.gained += self._host.average - seconds
