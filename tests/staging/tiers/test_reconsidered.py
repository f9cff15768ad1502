"""A choice of tier that other work on the machine has led astray is revised; looking at it costs little."""

from __future__ import annotations

import pytest

from np2tf.staging.compile.compiler import Compiler
from np2tf.staging.compile.specializations import SpecializationCache
from np2tf.staging.host.jit import JittedFunction
from np2tf.staging.tiers import constants


class _Calls:
    """Calls of one function, which take so many seconds on the host and compiled; a call on the host right
    after a compiled call takes `cold` times as long.
    """

    def __init__(self, host: float, compiled: float, cold: float = 1.0) -> None:
        self.host, self.compiled, self.cold = host, compiled, cold
        self.is_cold = False
        self.cache = SpecializationCache()
        self.cache.functions[()] = None  # type: ignore[assignment]
        self.on_host = self.total = 0.0
        self.reviews: list[int] = []

    def run(self, count: int) -> None:
        """Call as `Compiler` does."""
        cache = self.cache
        for _ in range(count):
            if cache.on_host and cache.is_due_on_host(self.on_host):
                cache.reconsider()
            was_on_host = cache.on_host
            if cache.on_host or cache.wants_host:
                seconds = self.host * (self.cold if self.is_cold else 1.0)
                self.is_cold = False
                if not was_on_host:
                    cache.add_host_time(seconds)
                self.on_host += seconds
                self.total += seconds
            else:
                self.is_cold = True
                if not cache.is_settled:
                    cache.add_compiled_time(self.compiled)
                cache.count_compiled_call(self.compiled, is_warm=True)
                self.total += self.compiled
            self.reviews.append(cache.reviews)


@pytest.mark.parametrize(("true_host", "true_compiled"), [(1.0, 1.6), (1.0, 5.0), (3.0, 1.0), (40.0, 1.0)])
@pytest.mark.parametrize(("seen_host", "seen_compiled"), [(1.0, 3.0), (3.0, 1.0)])
def test_right_in_the_end(
    seen_host: float, seen_compiled: float, true_host: float, true_compiled: float
) -> None:
    """Whatever the first comparison has seen, most calls take the faster way later, and nearly its time."""
    calls = _Calls(seen_host * 1e-3, seen_compiled * 1e-3)
    calls.run(30)
    assert calls.cache.is_settled
    calls.host, calls.compiled = true_host * 1e-3, true_compiled * 1e-3
    calls.run(int(30 * constants.RECONSIDER_FACTOR))
    assert calls.cache.on_host == (true_host < true_compiled)
    calls.total = 0.0
    calls.run(20_000)
    assert calls.total < 1.06 * 20_000 * min(calls.host, calls.compiled)


def test_a_wrong_choice_is_found_early() -> None:
    """Only three calls of each tier were timed for the first choice."""
    calls = _Calls(3e-3, 1e-3)
    calls.run(10)
    assert calls.cache.is_settled
    assert not calls.cache.on_host
    calls.host, calls.compiled = 1e-3, 2e-3
    calls.run(int(4 * constants.FIRST_RECONSIDER_FACTOR))
    assert calls.cache.on_host


@pytest.mark.parametrize(("compiled", "on_host"), [(1.15e-3, True), (9e-4, False)])
def test_a_cold_call_decides_nothing(compiled: float, on_host: bool) -> None:
    """Calls in a row compare tiers that are nearly equal, not a host call between compiled calls."""
    calls = _Calls(1e-3, compiled, cold=1.3)
    calls.cache.is_settled, calls.cache.best_host = True, 1.3e-3
    calls.run(3000)
    assert calls.cache.on_host == on_host
    calls.total = 0.0
    calls.run(20_000)
    assert calls.total < 1.04 * 20_000 * min(1e-3, compiled)


def test_what_raises_in_most_calls_stays_on_the_host() -> None:
    cache = SpecializationCache()
    cache.functions[()] = None  # type: ignore[assignment]
    for _ in range(3):
        cache.note_discarded_call()
    assert cache.on_host
    assert not cache.is_due_on_host(1e9)


@pytest.mark.parametrize("seconds_before", [0.0, 1e-3, 1e6])
@pytest.mark.parametrize("compiled", [1.2, 1.5, 3.0, 50.0])
def test_what_is_slower_compiled_is_seldom_compared_again(compiled: float, seconds_before: float) -> None:
    """The seconds of the two tiers have nothing to do with each other, whatever each has taken before."""
    calls = _Calls(1e-3, compiled * 1e-3)
    calls.on_host = seconds_before
    calls.run(50)
    assert calls.cache.on_host
    calls.total = 0.0
    calls.run(50_000)
    assert calls.total < 1.06 * 50_000 * calls.host
    assert calls.reviews[-1] - calls.reviews[50] < 50_000 / (constants.FIRST_RECONSIDER_FACTOR * compiled)


def test_however_often_a_choice_is_reviewed() -> None:
    """The number of reviews may grow without end, as in a program that runs for days."""
    calls = _Calls(1e-3, 4e-4)
    calls.cache.reviews = 5000
    calls.run(5000)
    assert calls.cache.reviews > 5000
    assert not calls.cache.on_host
    calls.compiled = 2e-3
    calls.run(5000)
    assert calls.cache.on_host
    calls.run(100_000)
    assert calls.cache.on_host


def test_most_calls_that_must_stay_on_the_host_are_not_looked_at() -> None:
    """Nor does counting them become slower: the number of unchecked calls is bounded."""
    compiler = Compiler(JittedFunction(abs))  # type: ignore[arg-type]
    for in_a_row in (constants.ASKED_AT_LEAST, 2000, 10**15):
        compiler._in_a_row = in_a_row
        compiler._note_host_preference(None)
        assert 1 <= compiler._unchecked_calls <= 2**constants.TRUSTED_AT_MOST
