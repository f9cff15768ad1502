"""A choice of tier that other work on the machine has led astray is revised; looking at it costs little."""

from __future__ import annotations

import pytest

from np2tf.staging.tiers import constants
from np2tf.staging.tiers.comparison import Comparison


class _Calls:
    """Calls of one function, which take so many seconds on the host and compiled; a call on the host right
    after a compiled call takes `cold` times as long.
    """

    def __init__(self, host: float, compiled: float, cold: float = 1.0) -> None:
        self.host, self.compiled, self.cold = host, compiled, cold
        self.is_cold = False
        self.timing = Comparison()
        self.on_host = self.total = 0.0
        self.reviews: list[int] = []

    def run(self, count: int) -> None:
        """Call as `Compiler` does."""
        timing = self.timing
        for _ in range(count):
            if timing.on_host and timing.is_due_on_host(self.on_host):
                timing.reconsider()
            was_on_host = timing.on_host
            if timing.on_host or timing.wants_host:
                seconds = self.host * (self.cold if self.is_cold else 1.0)
                self.is_cold = False
                if not was_on_host:
                    timing.add_host_time(seconds)
                self.on_host += seconds
                self.total += seconds
            else:
                self.is_cold = True
                if not timing.is_settled:
                    timing.add_compiled_time(self.compiled)
                timing.count_compiled_call(self.compiled, is_warm=True)
                self.total += self.compiled
            self.reviews.append(timing.reviews)


@pytest.mark.parametrize(("true_host", "true_compiled"), [(1.0, 1.6), (1.0, 5.0), (3.0, 1.0), (40.0, 1.0)])
@pytest.mark.parametrize(("seen_host", "seen_compiled"), [(1.0, 3.0), (3.0, 1.0)])
def test_right_in_the_end(
    seen_host: float, seen_compiled: float, true_host: float, true_compiled: float
) -> None:
    """Whatever the first comparison has seen, most calls take the faster way later, and nearly its time."""
    calls = _Calls(seen_host * 1e-3, seen_compiled * 1e-3)
    calls.run(30)
    assert calls.timing.is_settled
    calls.host, calls.compiled = true_host * 1e-3, true_compiled * 1e-3
    calls.run(int(30 * constants.RECONSIDER_FACTOR))
    assert calls.timing.on_host == (true_host < true_compiled)
    calls.total = 0.0
    calls.run(20_000)
    assert calls.total < 1.06 * 20_000 * min(calls.host, calls.compiled)


def test_a_wrong_choice_is_found_early() -> None:
    """Only three calls of each tier were timed for the first choice."""
    calls = _Calls(3e-3, 1e-3)
    calls.run(10)
    assert calls.timing.is_settled
    assert not calls.timing.on_host
    calls.host, calls.compiled = 1e-3, 2e-3
    calls.run(int(4 * constants.FIRST_RECONSIDER_FACTOR))
    assert calls.timing.on_host


@pytest.mark.parametrize(("compiled", "on_host"), [(1.15e-3, True), (9e-4, False)])
def test_a_cold_call_decides_nothing(compiled: float, on_host: bool) -> None:
    """Calls in a row compare tiers that are nearly equal, not a host call between compiled calls."""
    calls = _Calls(1e-3, compiled, cold=1.3)
    calls.timing.is_settled, calls.timing.best_host = True, 1.3e-3
    calls.run(3000)
    assert calls.timing.on_host == on_host
    calls.total = 0.0
    calls.run(20_000)
    assert calls.total < 1.04 * 20_000 * min(1e-3, compiled)


def test_what_raises_in_most_calls_stays_on_the_host() -> None:
    timing = Comparison()
    for _ in range(3):
        timing.note_discarded_call()
    assert timing.on_host
    assert not timing.is_due_on_host(1e9)


@pytest.mark.parametrize("seconds_before", [0.0, 1e-3, 1e6])
@pytest.mark.parametrize("compiled", [1.2, 1.5, 3.0, 50.0])
def test_what_is_slower_compiled_is_seldom_compared_again(compiled: float, seconds_before: float) -> None:
    """The seconds of the two tiers have nothing to do with each other, whatever each has taken before."""
    calls = _Calls(1e-3, compiled * 1e-3)
    calls.on_host = seconds_before
    calls.run(50)
    assert calls.timing.on_host
    calls.total = 0.0
    calls.run(50_000)
    assert calls.total < 1.06 * 50_000 * calls.host
    assert calls.reviews[-1] - calls.reviews[50] < 50_000 / (constants.FIRST_RECONSIDER_FACTOR * compiled)


def test_however_often_a_choice_is_reviewed() -> None:
    """The number of reviews may grow without end, as in a program that runs for days."""
    calls = _Calls(1e-3, 4e-4)
    calls.timing.reviews = 5000
    calls.run(5000)
    assert calls.timing.reviews > 5000
    assert not calls.timing.on_host
    calls.compiled = 2e-3
    calls.run(5000)
    assert calls.timing.on_host
    calls.run(100_000)
    assert calls.timing.on_host
