"""The expected gain of compiling one function, by the measurements of earlier processes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from np2tf.counts import Fallback, counts
from np2tf.runtime.decisions.decisions import (
    KINDS,
    MAX_USES,
    PROCESSES,
    CallRecord,
    FunctionRecord,
    Refusal,
    decisions,
    key_of,
)
from np2tf.runtime.decisions.digests import digest_of_call
from np2tf.runtime.environment.call_context import tensorflow
from np2tf.runtime.environment.clock import COMPILE_SECONDS, clock
from np2tf.runtime.environment.unjitted_warning import tell

if TYPE_CHECKING:
    from np2tf.runtime.compilation.budget import Budget
    from np2tf.runtime.compilation.specializations import SpecializationCache


#: A process that takes this many times as long as earlier processes counts as another kind.
LONGER = 2.0
#: A function that was traced but not run is tried again if the host takes this many times its cost.
UNKNOWN = 3.0


class Prospect:
    """The measurements that earlier processes have left of a function, and the measurements of this process.

    Attributes:
        record: the record of earlier processes; None for most functions.

    Args:
        function: the translated function.
        spent: returns the seconds that the host has spent in it.
    """

    def __init__(self, function: Callable[..., Any], host_seconds: Callable[[], float]) -> None:
        code = getattr(function, "__code__", None)
        self._code, self._host_seconds = code, host_seconds
        self.record: FunctionRecord | None = decisions.record_of(code) if code is not None else None
        self._pays = self.record is not None and self.record.saved_seconds > 0.0
        self._refusals: dict[str, Refusal] = {}
        self._reasons: set[str] = set()
        self._budget: Budget | None = None
        self._caches: Callable[[], Iterable[SpecializationCache]] = tuple
        self._is_kept = False
        if self.record is not None:
            self._keep()

    # -- known facts -----------------------------------------------------------------------------------------

    def call_record(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> CallRecord | None:
        """Return the measurements of calls like this call; None if there are no measurements."""
        return None if self.record is None else self.record.call_records.get(digest_of_call(args, kwargs))

    def advice(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | None:
        """Return whether a call like this should be compiled now; None if no measurement decides it."""
        record = self.record
        if record is None or not decisions.is_usual:
            return None
        way = record.call_records.get(digest_of_call(args, kwargs))
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
        seconds = self._host_seconds()
        if seconds >= LONGER * max(record.host_seconds, default=0.0):
            # The function takes much longer than before, so that the old measurement does not apply.
            return (
                None
                if tensorflow.is_known or clock.host_seconds >= LONGER * decisions.host_seconds
                else False
            )
        may_pay = record.ratio < 0.0 and record.expected_seconds - seconds >= UNKNOWN * record.cost
        return None if may_pay and tensorflow.is_known else False

    def _tell(self, refusal: Refusal) -> None:
        """Give the warning of a refusal, as soon as compiling would have been tried."""
        if refusal.reason in self._reasons:
            return
        if self._host_seconds() >= COMPILE_SECONDS:
            self._reasons.add(refusal.reason)
            why = counts.fell_back(refusal.fallback)
            if not why.kind.is_quiet:
                tell(why)

    @property
    def _tries(self) -> int:
        """The number of traces of the function in this process."""
        return 0 if self._budget is None else self._budget.tries

    # -- new facts -------------------------------------------------------------------------------------------

    def follow(self, budget: Budget, caches: Callable[[], Iterable[SpecializationCache]]) -> None:
        """Use this budget and these caches for the record that this process leaves."""
        self._budget, self._caches = budget, caches
        self._keep()

    def refuse(self, args: tuple[Any, ...], kwargs: dict[str, Any], why: Fallback) -> None:
        """Record that there is no compiled code for a call like this."""
        self._refusals[digest_of_call(args, kwargs)] = Refusal.from_fallback(why)
        if len(self._refusals) > KINDS:  # only the latest are stored
            del self._refusals[next(iter(self._refusals))]
        self._keep()

    def _keep(self) -> None:
        if not self._is_kept and self._code is not None:
            self._is_kept = True
            decisions.keep(self.outcome)

    def outcome(self) -> tuple[str, FunctionRecord | None]:
        """Return the key, and the record to store; None to remove it."""
        assert self._code is not None
        return key_of(self._code), self._current_record()

    def _current_record(self) -> FunctionRecord | None:
        before = self.record or FunctionRecord((), 0.0, 0, -1.0, 0, {})
        caches = [cache for cache in self._caches() if cache.digest]
        host_estimate, ran, host_seconds = 0.0, 0.0, 0.0
        for cache in caches:
            if cache.on_host:
                host_seconds += cache.own_seconds
            else:
                # The best call on each tier counts: the mean of a few calls says more about other load.
                host_estimate += cache.calls * cache.usual_host
                ran += cache.calls * cache.usual_compiled
        total = self._host_seconds() + sum(cache.calls * cache.usual_host for cache in caches)
        seconds = (total, *before.host_seconds)[:PROCESSES]
        tries = self._tries
        if not tries and not self._refusals:
            left = before._replace(host_seconds=seconds, uses=before.uses + 1)
            return None if left.uses > MAX_USES else left
        call_records = {**before.call_records, **_call_records(caches)}
        call_records.update({name: CallRecord(refusal=why) for name, why in self._refusals.items()})
        call_records = dict(list(call_records.items())[-KINDS:])
        ratio = (
            (ran + host_seconds) / (host_estimate + host_seconds)
            if host_estimate + host_seconds
            else before.ratio
        )
        if self._budget is None or not tries:
            return FunctionRecord(seconds, before.cost, before.tries, ratio, 0, call_records)
        return FunctionRecord(seconds, self._budget.seconds, tries, ratio, 0, call_records)


def _call_records(caches: Iterable[SpecializationCache]) -> dict[str, CallRecord]:
    records: dict[str, CallRecord] = {}
    for cache in caches:
        varying_numbers = tuple(sorted(cache.varying_numbers))
        pinned_numbers = tuple(sorted(cache.pinned_numbers))
        record = CallRecord(
            cache.usual_host, cache.usual_compiled, varying_numbers, pinned_numbers, len(cache.first_numbers)
        )
        before = records.get(cache.digest)
        # Of calls with equal digests, the slowest decides.
        if before is None or record.host >= before.host:
            records[cache.digest] = record
    return records
