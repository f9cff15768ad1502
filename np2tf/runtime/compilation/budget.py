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

from np2tf.runtime.callees.callees import NewCallee
from np2tf.runtime.effects.appended import ListIsRead
from np2tf.runtime.environment.clock import CALL_SECONDS, Costs, clock, long_calls
from np2tf.runtime.host.host_function import HostFunction

#: A trace may take so many seconds, and so many times what the host has spent in the function.
PATIENCE, PATIENCE_PER_SECOND = 1.5, 1.0
#: … or so many times what compiling it took in an earlier process.
KNOWN = 2.0
#: Of its seconds on the host, a function may spend all on compiling; after each trace that has come to
#: nothing or to slower code, and for each of the compilations after so many that have not paid, the share is
#: divided by this.
PAID_TRIES, LESS = 3, 4.0
#: The share of all functions together.
SHARE_OF_ALL = 0.5
#: What there is goes first to the function that has taken most. It is waited for as long as it has asked
#: within the last so many seconds on the host.
ASKED_WITHIN = 1.0


class _Queue:
    """The function that has taken most on the host of those for which there is nothing left."""

    def __init__(self) -> None:
        self._first: Budget | None = None
        self._asked = 0.0

    def is_turn_of(self, budget: Budget) -> bool:
        """Whether no other function waits that has taken longer."""
        first = self._first
        waits = first is not None and first is not budget and clock.spent - self._asked < ASKED_WITHIN
        return not waits or first.own_seconds <= budget.own_seconds  # type: ignore[union-attr]

    def join(self, budget: Budget) -> None:
        """Let a function wait whose turn it is."""
        self._first, self._asked = budget, clock.spent

    def leave(self, budget: Budget) -> None:
        """Let a function wait no more."""
        if self._first is budget:
            self._first = None


_all, _queue = Costs(), _Queue()


class Budget:
    """The costs of compiling one function, all signatures together.

    Attributes:
        slower: identities of the caches whose compiled code has turned out to be slower than the host.

    Args:
        host: knows what the function has taken on the host.
    """

    def __init__(self, host: HostFunction) -> None:
        self._host = host
        self._costs = Costs()
        self._in_vain = 0
        self.slower: set[int] = set()

    @property
    def tries(self) -> int:
        """How often the function has been traced."""
        return self._costs.tries

    @property
    def seconds(self) -> float:
        """What that has taken, with the first calls."""
        return self._costs.seconds

    @property
    def own_seconds(self) -> float:
        """What the function has taken on the host."""
        return self._host.own_seconds

    @property
    def expected(self) -> float:
        """What compiling the function once more will cost, in seconds."""
        if self._costs.tries:
            return self._costs.seconds / self._costs.tries
        known = self._host.prospect.record
        if known is not None and known.tries:
            return known.cost / known.tries
        # What has been compiled of the functions that it calls becomes a part of it.
        return max(_all.mean, self._host.callees_cost)

    @property
    def is_open(self) -> bool:
        """Whether the function may be compiled once more."""
        costs, expected = self._costs, self.expected
        in_vain = self._in_vain + len(self.slower)
        unpaid = 0 if costs.gained > costs.seconds else max(costs.tries - in_vain - PAID_TRIES, 0)
        if costs.debt + expected > self.own_seconds / LESS ** (in_vain + unpaid):
            return False
        if not _queue.is_turn_of(self):
            return False
        if _all.debt + expected > SHARE_OF_ALL * clock.spent:
            _queue.join(self)
            return False
        _queue.leave(self)
        return True

    @property
    def deadline(self) -> float:
        """When, by `time.monotonic`, a trace that begins now is given up."""
        known = self._host.prospect.record
        enough = KNOWN * known.cost if known is not None else 0.0
        return time.monotonic() + max(PATIENCE + PATIENCE_PER_SECOND * self.own_seconds, enough)

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

    def forgive(self) -> None:
        """The latest trace has told how the next one will not be in vain: both are one."""
        self._in_vain -= 1
        for costs in (self._costs, _all):
            costs.tries -= 1

    def note_compiling(self, seconds: float) -> None:
        """Count the time in which XLA compiles."""
        clock.compiling += seconds
        for costs in (self._costs, _all):
            costs.seconds += seconds

    def note_gain(self, seconds: float, usual: float = 0.0) -> None:
        """Note how long a warm compiled call has taken, in place of one on the host.

        Args:
            seconds: that it has taken.
            usual: what it would have taken there, if the host has not been tried; 0.0 if nobody knows.
        """
        long_calls.seconds += max(seconds - CALL_SECONDS, 0.0)
        long_calls.cost = max(long_calls.cost, self._costs.mean)
        usual = self._host.average if self._host.timed_calls else usual
        if usual:
            for costs in (self._costs, _all):
                costs.gained += usual - seconds
