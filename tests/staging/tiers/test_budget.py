"""The budget of compilation: the own time of a function, the next function to compile, its expected time."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time

import pytest

from np2tf.staging.host.host_function import HostFunction
from np2tf.staging.tiers import budget, clock
from np2tf.staging.tiers.budget import Budget
from np2tf.staging.tiers.clock import Costs, has_share
from np2tf.staging.tiers.comparison import Comparison
from np2tf.staging.tiers.constants import (
    ASKED_WITHIN,
    CALL_SECONDS,
    COMPILE_SECONDS,
    HOST_SECONDS_FIRST,
    LEAST_SHARE,
    LONG_CALL,
    SHARE_OF_LONG_CALLS,
    SHARED_BY,
    UNPAID_TRIES,
)

LONG, SHORT = 5 * LONG_CALL, LONG_CALL / 10


class _Time:
    """A clock that goes on when it is told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def function(self, seconds: float, *inner: Callable[[], None]) -> tuple[HostFunction, Callable[[], None]]:
        """Make a function that takes so many seconds besides its inner calls, and a timed call of it."""

        def run() -> None:
            self.now += seconds
            for call in inner:
                call()

        host = HostFunction(run)
        return host, lambda: host.time(run, (), {})


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> _Time:
    made = _Time()
    monkeypatch.setattr(clock, "perf_counter", made)
    monkeypatch.setattr(clock.clock, "host_seconds", 0.0)
    monkeypatch.setattr(budget, "_all_costs", Costs())
    monkeypatch.setattr(budget, "_queue", budget._Queue())
    return made


@pytest.mark.parametrize("seconds", [LONG, SHORT])
def test_calls_on_the_host_are_their_callers_time(time: _Time, seconds: float) -> None:
    """A caller is compiled with what it calls, and before it."""
    inner, call_inner = time.function(seconds)
    outer, call_outer = time.function(seconds, call_inner, call_inner)
    call_outer()
    assert inner.own_seconds == pytest.approx(2 * seconds)
    assert outer.own_seconds == pytest.approx(3 * seconds)
    assert outer.average == pytest.approx(3 * seconds)


def test_of_compiled_calls_a_small_part_is_the_callers_own_time(time: _Time) -> None:
    compiled = _budget(10.0)

    def run() -> None:
        time.now += 2 * LONG
        compiled.note_gain(LONG)

    outer = HostFunction(run)
    outer.time(run, (), {})
    own = LONG + SHARE_OF_LONG_CALLS * (LONG - CALL_SECONDS) + CALL_SECONDS
    assert outer.own_seconds == pytest.approx(own)


def test_a_call_that_fails_leaves_nothing_behind(time: _Time) -> None:
    def fail() -> None:
        time.now += LONG
        raise ValueError("it fails")

    failing = HostFunction(fail)
    second_function, call_other = time.function(LONG)
    with pytest.raises(ValueError, match="it fails"):
        failing.time(fail, (), {})
    call_other()
    assert second_function.own_seconds == pytest.approx(LONG)


def _budget(own_seconds: float) -> Budget:
    host = HostFunction(len)
    host.own_seconds = own_seconds
    return Budget(host)


def test_the_function_that_has_taken_most_comes_first(time: _Time) -> None:
    large, small = _budget(10.0), _budget(2.0)
    clock.clock.host_seconds = 0.5
    assert not large.is_open, "all functions together have not spent enough"
    clock.clock.host_seconds = 1.0
    assert not small.is_open, "the other one is waiting"
    assert large.is_open
    assert small.is_open, "there is enough for both"


def test_a_function_that_does_not_ask_again_is_not_waited_for(time: _Time) -> None:
    large, small = _budget(10.0), _budget(2.0)
    assert not large.is_open
    clock.clock.host_seconds = 2 * ASKED_WITHIN
    assert small.is_open


def test_what_is_slower_than_the_host_makes_the_next_attempt_harder(time: _Time) -> None:
    function = _budget(1.5)
    clock.clock.host_seconds = 100.0
    assert function.is_open
    slower = Comparison()
    function.slower.add(slower)
    assert not function.is_open


def test_any_number_of_attempts_in_vain(time: _Time) -> None:
    """A share of the host's time that shrinks with each attempt is a number however many there were."""
    function = _budget(1e9)
    clock.clock.host_seconds = 1e12
    caches = [Comparison() for _ in range(1100)]
    for cache in caches:
        function.slower.add(cache)
    assert not function.is_open
    del cache, caches
    assert not len(function.slower), "a cache that is gone counts no longer"
    assert function.is_open


def test_a_caller_is_expected_to_cost_what_its_callees_have(time: _Time) -> None:
    inner = _budget(10.0)
    with inner.count_trace():
        pass
    inner.note_first_call(8.0)

    def run() -> None:
        time.now += LONG
        inner.note_gain(LONG)  # a compiled call

    outer = HostFunction(run)
    outer.time(run, (), {})
    assert outer.own_seconds < LONG / 2
    assert Budget(outer).expected_seconds > 4.0


def test_a_caller_of_long_calls_alone_is_compiled_once_they_have_taken_ten_times_as_long(time: _Time) -> None:
    clock.clock.host_seconds = 100.0
    _, call_inner = time.function(LONG)
    outer, call_outer = time.function(0.0, call_inner)
    for _ in range(int(1.5 * COMPILE_SECONDS / LONG)):
        call_outer()
    assert not Budget(outer).is_open
    for _ in range(int(9.0 * COMPILE_SECONDS / LONG)):
        call_outer()
    assert Budget(outer).is_open


def test_other_kinds_of_calls_wait_for_their_share(time: _Time) -> None:
    """The first code needs some seconds on the host; later code also a part of its expected cost."""
    clock.clock.host_seconds = 1000.0
    assert not _budget(0.9 * HOST_SECONDS_FIRST).is_due(None)
    function = _budget(200.0)
    assert function.is_due(None)
    assert not function.is_due(Comparison(own_seconds=0.9 * HOST_SECONDS_FIRST))
    assert function.is_due(Comparison(own_seconds=COMPILE_SECONDS / SHARED_BY))
    with function.count_trace():
        pass
    function.note_first_call(8.0)
    assert not function.is_due(Comparison(own_seconds=1.9))
    assert function.is_due(Comparison(own_seconds=2.1))


def test_kinds_of_calls_that_do_not_come_again_are_not_compiled(time: _Time) -> None:
    """Code that has not paid is followed by more only for calls that have taken as long by themselves."""
    clock.clock.host_seconds = 1000.0
    function = _budget(100.0)
    for _ in range(UNPAID_TRIES):
        assert function.is_due(Comparison(own_seconds=1.0))
        with function.count_trace():
            function.note_first_call(2.0)
    cost = (UNPAID_TRIES + 1) * 2.0
    assert not function.is_due(Comparison(own_seconds=0.9 * cost))
    assert function.is_due(Comparison(own_seconds=1.1 * cost))
    function._costs.gain = cost
    assert function.is_due(Comparison(own_seconds=1.0)), "the code has paid"


def test_what_takes_a_small_share_of_the_time_is_never_compiled(
    time: _Time, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that runs for long would else compile everything, and its memory grow."""
    clock.clock.host_seconds = 1e6
    function, calls = _budget(1000.0), Comparison(own_seconds=1000.0)
    start = process_time()
    for share, is_worthwhile in ((1.01, True), (0.99, False)):
        monkeypatch.setattr(clock, "process_time", lambda s=share: start + 1000.0 / (s * LEAST_SHARE))
        assert function.is_due(None) is is_worthwhile
        assert function.is_due(calls) is is_worthwhile
    calls.since = start + 2000.0  # these calls began later
    assert has_share(calls.own_seconds, calls.since)
