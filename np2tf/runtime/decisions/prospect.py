"""The expected gain of compiling one function, by the measurements of earlier processes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from np2tf.counts import Fallback, counts
from np2tf.runtime.decisions.decisions import (
    FOLLOWED,
    KINDS,
    PROCESSES,
    Record,
    Refusal,
    Way,
    decisions,
    key_of,
)
from np2tf.runtime.decisions.digests import digest_of_call
from np2tf.runtime.environment.call_context import tensorflow
from np2tf.runtime.environment.clock import COMPILE_SECONDS, clock
from np2tf.runtime.environment.unjitted import QUIET, tell

if TYPE_CHECKING:
    from np2tf.runtime.compilation.budget import Budget
    from np2tf.runtime.compilation.specializations import Family


#: A process that takes this many times as long as earlier ones counts as another kind.
LONGER = 2.0
#: A function that was traced but not run is tried again if the host takes this many times its cost.
UNKNOWN = 3.0


class Prospect:
    """The measurements that earlier processes have left of a function, and those that this one will leave.

    Attributes:
        record: the record of earlier processes; None for most functions.

    Args:
        function: the translated function.
        spent: returns the seconds that the host has spent in it.
    """

    def __init__(self, function: Callable[..., Any], spent: Callable[[], float]) -> None:
        code = getattr(function, "__code__", None)
        self._code, self._spent = code, spent
        self.record: Record | None = decisions.record_of(code) if code is not None else None
        self._pays = self.record is not None and self.record.saving > 0.0
        self._refused: dict[str, Refusal] = {}
        self._told: set[str] = set()
        self._budget: Budget | None = None
        self._families: Callable[[], Iterable[Family]] = tuple
        self._is_kept = False
        if self.record is not None:
            self._keep()

    # -- what is known ---------------------------------------------------------------------------------------

    def way(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Way | None:
        """Return the measurements of calls like this one; None if there are none."""
        return None if self.record is None else self.record.ways.get(digest_of_call(args, kwargs))

    def advice(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | None:
        """Return whether a call like this should be compiled now; None if no measurement decides it."""
        record = self.record
        if record is None or not decisions.is_usual:
            return None
        way = record.ways.get(digest_of_call(args, kwargs))
        if way is None:
            return None
        if way.refusal is not None:
            self._tell(way.refusal)
            return False
        if way.is_slower:
            return False
        if self._pays and (tensorflow.is_known or decisions.imports):
            # Arrays whose sizes never repeat have equal digests: beyond the recorded number of traces, the
            # budget decides.
            return True if self._tries < record.tries else None
        spent = self._spent()
        if spent >= LONGER * max(record.spent, default=0.0):
            # The function takes much longer than before, so that the old measurement does not apply.
            return None if tensorflow.is_known or clock.spent >= LONGER * decisions.spent else False
        may_pay = record.ratio < 0.0 and record.expected - spent >= UNKNOWN * record.cost
        return None if may_pay and tensorflow.is_known else False

    def _tell(self, refusal: Refusal) -> None:
        """Give the warning of a refusal, as soon as compiling would have been tried."""
        if refusal.reason in self._told:
            return
        if self._spent() >= COMPILE_SECONDS:
            self._told.add(refusal.reason)
            why = counts.fell_back(refusal.fallback)
            if why.code not in QUIET:
                tell(why)

    @property
    def _tries(self) -> int:
        """The number of traces of the function in this process."""
        return 0 if self._budget is None else self._budget.tries

    # -- what is found out -----------------------------------------------------------------------------------

    def follow(self, budget: Budget, families: Callable[[], Iterable[Family]]) -> None:
        """Use this budget and these families for the record that this process leaves."""
        self._budget, self._families = budget, families
        self._keep()

    def refuse(self, args: tuple[Any, ...], kwargs: dict[str, Any], why: Fallback) -> None:
        """Record that there is no compiled code for a call like this."""
        self._refused[digest_of_call(args, kwargs)] = Refusal.made(why)
        self._keep()

    def _keep(self) -> None:
        if not self._is_kept and self._code is not None:
            self._is_kept = True
            decisions.keep(self.outcome)

    def outcome(self) -> tuple[str, Record | None]:
        """Return the key, and the record to store; None to remove it."""
        assert self._code is not None
        return key_of(self._code), self._found()

    def _found(self) -> Record | None:
        before = self.record or Record((), 0.0, 0, -1.0, 0, {})
        families = [family for family in self._families() if family.digest]
        saved, ran, stayed = 0.0, 0.0, 0.0
        for family in families:
            if family.on_host:
                stayed += family.own_seconds
            else:
                # The best call on each tier counts: the mean of a few calls says more about other load.
                saved += family.calls * family.usual_host
                ran += family.calls * family.usual_compiled
        spent = self._spent() + sum(family.calls * family.usual_host for family in families)
        seconds = (spent, *before.spent)[:PROCESSES]
        tries = self._tries
        if not tries and not self._refused:
            left = before._replace(spent=seconds, followed=before.followed + 1)
            return None if left.followed > FOLLOWED else left
        ways = {**before.ways, **_ways(families)}
        ways.update({name: Way(refusal=why) for name, why in self._refused.items()})
        ways = dict(list(ways.items())[-KINDS:])
        ratio = (ran + stayed) / (saved + stayed) if saved + stayed else before.ratio
        if self._budget is None or not tries:
            return Record(seconds, before.cost, before.tries, ratio, 0, ways)
        return Record(seconds, self._budget.seconds, tries, ratio, 0, ways)


def _ways(families: Iterable[Family]) -> dict[str, Way]:
    found: dict[str, Way] = {}
    for family in families:
        varying, pinned = tuple(sorted(family.varying)), tuple(sorted(family.pinned))
        made = Way(family.usual_host, family.usual_compiled, varying, pinned, len(family.seen))
        before = found.get(family.digest)
        # Of calls with equal digests, the slowest decides.
        if before is None or made.host >= before.host:
            found[family.digest] = made
    return found
