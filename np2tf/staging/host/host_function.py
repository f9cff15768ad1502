"""A jitted function on the host: runs the original code on NumPy's arrays, and times it."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from time import process_time
from typing import Any

from np2tf.arrays.front.flags import fast_flags
from np2tf.core.counts import counts
from np2tf.core.faults import note_fault
from np2tf.core.operators import check_bound
from np2tf.staging.host.converted import has_loops
from np2tf.staging.host.originals import original_of, raised_of, watched_original_of
from np2tf.staging.host.recursion import HostCalls, allow_deep_recursion
from np2tf.staging.host.watched_loops import has_hopeless_loop, hot
from np2tf.staging.objects.code_names import all_names
from np2tf.staging.tiers import constants
from np2tf.staging.tiers.call_context import is_on_host, is_on_numpy
from np2tf.staging.tiers.clock import Stopwatch, clock, long_calls
from np2tf.staging.tiers.expected_savings import expected_saving
from np2tf.staging.tiers.history import Prospect


class HostFunction:
    """Runs a jitted function without compiled code.

    Attributes:
        calls: the calls that are running, one inside another.
        own_seconds: the seconds of all timed calls, without long calls of other jitted functions; compiling
            the function can save this time.
        since: the processor's seconds of this process before the first call.
        callees_cost: the seconds that compiling the most expensive of its callees has cost.
        average: the average seconds of the latest calls.
        latest, latest_own: the seconds of the last call, and without long calls of other jitted functions.
        seconds: the seconds of all timed calls.
        granted_calls: the number of calls that need not be timed, of which the last may still be to come.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.calls = HostCalls(function)
        self._function = function
        self.timed_calls, self.since = 0, process_time()
        self.own_seconds = self.average = self.callees_cost = 0.0
        self.latest = self.latest_own = self.seconds = 0.0
        self.granted_calls = 0
        self._next_question = constants.COMPILE_SECONDS
        self._is_worth_raising = False
        # True if loops were hot when the function last ran with watched loops during a report.
        self._may_be_hot = watched_original_of(function) is not None

    @functools.cached_property
    def prospect(self) -> Prospect:
        """The expected gain of compiling the function."""
        return Prospect(self._function, lambda: self.own_seconds)

    @functools.cached_property
    def saving(self) -> float:
        """The share of its time on the host that compiled code is expected to save."""
        function: Any = self.original
        code = getattr(function, "__code__", None)
        return constants.EXPECTED_SAVING if code is None else expected_saving(code, function.__globals__)

    @functools.cached_property
    def is_hopeless(self) -> bool:
        """True if no trace can follow a loop of the function. Finding out may load the translator."""
        return hasattr(self.original, "__code__") and has_hopeless_loop(self.original)

    @functools.cached_property
    def original(self) -> Callable[..., Any]:
        """The function for calls on the host: its original, if it has an original or one can be made."""
        return original_of(self._function) or self._raised_function or self._translated_function

    @property
    def _raised_function(self) -> Callable[..., Any] | None:
        """The function raised to plain Python, if that is worth its time now."""
        function = self._function
        code = getattr(function, "__code__", None)
        if code is None or not (self._is_worth_raising or has_loops(code)):
            return None
        raised = raised_of(function)  # type: ignore[arg-type]
        return None if raised is None else _checked(raised, code)

    @functools.cached_property
    def _watched_function(self) -> Callable[..., Any]:
        """The function `original` with watched loops, which may be compiled while they run."""
        return watched_original_of(self._function) or self.original

    @functools.cached_property
    def direct_function(self) -> Callable[..., Any]:
        """The function `original` for calls that need no checks. It can recurse as deep as without np2tf."""
        plain = self.original
        return allow_deep_recursion(plain) if self.calls.calls_itself else plain

    @functools.cached_property
    def _translated_function(self) -> Callable[..., Any]:
        """The translated function, which never returns an unbound name as its result."""
        function = self._function
        code = getattr(function, "__code__", None)
        return function if code is None else _checked(function, code)

    @property
    def is_short(self) -> bool:
        """True if calls take so little time that no check pays."""
        return self.timed_calls >= constants.CALLS_TO_AVERAGE and self.average < constants.TOO_SHORT

    @property
    def is_worth_asking(self) -> bool:
        """True if the function has taken so much more time since the last question that it may pay now."""
        if self.own_seconds < self._next_question:
            return False
        self._next_question = constants.ASK_AGAIN * self.own_seconds
        return True

    def grant_untimed_calls(self) -> int:
        """Return the number of calls that need not be timed, for a function whose calls are short."""
        calls = constants.TIMING_SECONDS / (0.01 * max(self.average, 1e-9))
        count = int(min(max(calls, constants.UNTIMED_CALLS), constants.MOST_UNTIMED))
        self.granted_calls += count
        return count

    @functools.cached_property
    def run_inside(self) -> Callable[[tuple[Any, ...], dict[str, Any]], Any]:
        """The function that runs a call inside another call on the host."""
        original = self.original
        return lambda args, kwargs: original(*args, **kwargs)

    def run_within(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run as Python; NumPy itself runs the code if nothing is on TensorFlow and no tape records."""
        before = hot.count
        try:
            function, for_report = self._function_for(args, kwargs)
        except Exception as error:
            self._note_fault(error)
            function, for_report = self._function, False
        result = self.calls.run(function, *args, **kwargs)
        if for_report:
            self._may_be_hot = hot.count > before
        return result

    def _function_for(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Callable[..., Any], bool]:
        """Return the function to run for a call, and whether its loops are watched during a report."""
        if is_on_host(args, kwargs):
            return self._watched_function, False
        if fast_flags.host or not self._may_be_hot or not is_on_numpy(args, kwargs):
            return self._translated_function, False
        # A report is being made, which needs the translation to see operations.
        return self._watched_function, True

    def run_timed(
        self,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        note: Callable[[], None] | None = None,
    ) -> Any:
        """Run and count a call, and update the average time. `note` is called if the call returns."""
        counts.host += 1
        counts.host_calls += 1
        return self.time(self.run_within, (args, kwargs), {}, note)

    def time(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        note: Callable[[], None] | None = None,
    ) -> Any:
        """Return ``function(*args, **kwargs)``, and time it without the compilation of its callees.

        `note` is called if the call returns, when its time is known.
        """
        try:
            before, cost, stopwatch = clock.host_seconds, long_calls.cost, Stopwatch()
            long_calls.cost = 0.0
        except Exception as error:
            self._note_fault(error)
            stopwatch = None
        result = function(*args, **kwargs)
        try:
            if stopwatch is not None:
                self.callees_cost = max(self.callees_cost, long_calls.cost)
                long_calls.cost = max(cost, self.callees_cost)
                seconds, own_seconds = stopwatch.seconds, stopwatch.own_seconds
                clock.host_seconds = max(clock.host_seconds, before + seconds)
                self.note(seconds, own_seconds)
            if note is not None:
                note()
        except Exception as error:
            self._note_fault(error)
        return result

    def _note_fault(self, error: Exception) -> None:
        note_fault(error, getattr(self._function, "__code__", None))

    def note(self, seconds: float, own_seconds: float) -> None:
        """Count a call with its seconds, and its seconds without long calls of other jitted functions."""
        self.latest, self.latest_own = seconds, own_seconds
        self.seconds += seconds
        self.timed_calls += 1
        self.own_seconds += own_seconds
        self.average += (seconds - self.average) / min(self.timed_calls, constants.CALLS_TO_AVERAGE)
        if not self._is_worth_raising and self._all_seconds > constants.RAISE_SECONDS:
            self._is_worth_raising = True
            for name in ("original", "_watched_function", "direct_function", "run_inside"):
                self.__dict__.pop(name, None)

    @property
    def _all_seconds(self) -> float:
        """The seconds of all calls, also of those that were not timed."""
        return self.seconds + self.granted_calls * self.average


def _checked(function: Callable[..., Any], code: types.CodeType) -> Callable[..., Any]:
    """Return a function that never returns an unbound name, given its converted code."""
    if "undefined" not in all_names(code):
        return function
    return lambda *args, **kwargs: check_bound(function(*args, **kwargs))
