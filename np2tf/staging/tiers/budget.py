"""The limit for the cost of compiling: at most the time that the host has spent in the same functions (tier
"auto").

A program does not say how often it will call a function. As in the ski rental problem (Karlin et al.,
"Competitive snoopy caching", 1988), the cost of a wrong guess is bounded if compiling waits until the host
has taken as long as compiling is expected to take. Functions call each other, so the seconds of an inner
function are also seconds of the outer function: all functions together have a budget, too.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING
from weakref import WeakSet

from np2tf.core.errors import TraceAgain
from np2tf.staging.tiers import constants
from np2tf.staging.tiers.clock import Costs, clock, has_share, long_calls, machine
from np2tf.staging.tiers.comparison import Comparison
from np2tf.staging.tiers.ledger import TRACE, XLA, ledger
from np2tf.staging.tiers.outlook import pays

if TYPE_CHECKING:
    from np2tf.staging.host.host_function import HostFunction


class _Queue:
    """The function that has taken most on the host among the functions that wait for the common budget."""

    def __init__(self) -> None:
        self._first: Budget | None = None
        self._last_request = 0.0

    def is_turn_of(self, budget: Budget) -> bool:
        """Return whether no other function waits that has taken longer."""
        first = self._first
        waits = (
            first is not None
            and first is not budget
            and clock.host_seconds - self._last_request < constants.ASKED_WITHIN
        )
        return not waits or first.own_seconds <= budget.own_seconds  # type: ignore[union-attr]

    def join(self, budget: Budget) -> None:
        """Let a function wait whose turn it is."""
        self._first, self._last_request = budget, clock.host_seconds

    def leave(self, budget: Budget) -> None:
        """End the waiting of a function."""
        if self._first is budget:
            self._first = None


_all_costs, _queue = Costs(), _Queue()


class Budget:
    """The costs of compiling one function, all signatures together.

    Attributes:
        slower: the comparisons in which compiled code was slower than the host.

    Args:
        host: measures the function's time on the host.
    """

    def __init__(self, host: HostFunction) -> None:
        self._host = host
        self._costs = Costs()
        self._in_vain = 0
        self.slower: WeakSet[Comparison] = WeakSet()

    @property
    def tries(self) -> int:
        """The number of traces of the function."""
        return self._costs.tries

    @property
    def seconds(self) -> float:
        """The seconds of these traces and of first calls."""
        return self._costs.seconds

    @property
    def gain(self) -> float:
        """The seconds that compiled calls have saved in comparison with calls on the host."""
        return self._costs.gain

    @property
    def own_seconds(self) -> float:
        """The seconds of the function on the host."""
        return self._host.own_seconds

    @property
    def expected_seconds(self) -> float:
        """The expected seconds of compiling the function once more."""
        if self._costs.tries:
            return self._costs.seconds / self._costs.tries
        record = self._host.prospect.record
        if record is not None and record.tries:
            return record.cost / record.tries
        # The compiled code of its callees becomes a part of the function's.
        return max(_all_costs.mean, self._host.callees_cost)

    @property
    def _all_in_vain(self) -> int:
        """The number of traces that failed or gave slower code."""
        return self._in_vain + len(self.slower)

    @property
    def is_open(self) -> bool:
        """True if the function may be compiled once more."""
        costs, seconds = self._costs, self.expected_seconds
        divisor = constants.SHARE_DIVISOR ** min(self._all_in_vain, constants.MOST_IN_VAIN)
        if costs.debt + seconds > self.own_seconds / divisor:
            return False
        if not pays(self.own_seconds, self._host.since, seconds):
            return False
        if not has_share(self.own_seconds, self._host.since) or not _queue.is_turn_of(self):
            return False
        if _all_costs.debt + seconds > constants.SHARE_OF_ALL * clock.host_seconds:
            _queue.join(self)
            return False
        _queue.leave(self)
        return True

    def is_due(self, calls: Comparison | None) -> bool:
        """Return whether to compile the function, whose code for other kinds of calls has been made or not.

        Args:
            calls: the kind of calls to compile, if there is code for others.
        """
        if calls is None:
            return self.own_seconds >= constants.HOST_SECONDS_FIRST and self.is_open
        costs, least = self._costs, self.expected_seconds / constants.SHARED_BY
        if costs.tries - self._all_in_vain >= constants.UNPAID_TRIES and costs.gain < costs.seconds:
            least = costs.debt + self.expected_seconds
        least = max(constants.HOST_SECONDS_FIRST, least)
        return calls.own_seconds >= least and has_share(calls.own_seconds, calls.since) and self.is_open

    @property
    def deadline(self) -> float:
        """The time, by `time.monotonic`, at which a trace that begins now is given up."""
        record = self._host.prospect.record
        enough = constants.KNOWN_COST_FACTOR * record.cost if record is not None else 0.0
        patience = constants.PATIENCE + constants.PATIENCE_PER_SECOND * self.own_seconds
        return time.monotonic() + max(patience, enough) * machine.slowdown

    @contextmanager
    def count_trace(self) -> Iterator[None]:
        """Count the time of a trace, whether it succeeds or fails. A trace that begins again counts as
        one.
        """
        start, compile_seconds = time.perf_counter(), clock.compile_seconds
        tries = in_vain = 1
        try:
            yield
            in_vain = 0
        except TraceAgain:
            tries = in_vain = 0
            raise
        finally:
            self._in_vain += in_vain
            ledger.lost += in_vain
            seconds = time.perf_counter() - start
            for costs in (self._costs, _all_costs):
                costs.tries += tries
                costs.seconds += seconds
            # Callees that the trace has translated are in the ledger.
            ledger.note(TRACE, max(seconds - (clock.compile_seconds - compile_seconds), 0.0))

    def count_loaded(self) -> None:
        """Count a trace that another process has stored."""
        for costs in (self._costs, _all_costs):
            costs.tries += 1

    def forgive(self) -> None:
        """Count the latest trace and the next trace as one trace, because the latest has found out how
        to make the next succeed.
        """
        self._in_vain -= 1
        ledger.lost -= 1
        for costs in (self._costs, _all_costs):
            costs.tries -= 1

    def note_first_call(self, seconds: float) -> None:
        """Count the time of a first call, in which XLA compiles."""
        ledger.note(XLA, seconds)
        for costs in (self._costs, _all_costs):
            costs.seconds += seconds

    def note_gain(self, seconds: float, usual: float = 0.0) -> None:
        """Record the time of a warm compiled call, which replaces a call on the host.

        Args:
            usual: the seconds of such a call on the host; 0.0 if unknown.
        """
        long_calls.seconds += max(seconds - constants.CALL_SECONDS, 0.0)
        long_calls.cost = max(long_calls.cost, self._costs.mean)
        # Calls of the same kind are compared, if any was timed on the host.
        usual = usual or self._host.average
        if usual:
            ledger.note_gain(usual, seconds)
            for costs in (self._costs, _all_costs):
                costs.gain += usual - seconds
