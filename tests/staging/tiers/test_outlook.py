"""How long a program goes on, as its running loops tell, and whether compiling pays in that time."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from np2tf.staging.tiers import constants, outlook
from np2tf.staging.tiers.outlook import Progress, pays, seconds_left


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The present time, as a list of one number; no loop is running."""
    time = [100.0]
    monkeypatch.setattr(outlook, "perf_counter", lambda: time[0])
    monkeypatch.setattr(outlook, "process_time", lambda: time[0])
    monkeypatch.setattr(outlook.running, "loops", [])
    return time


def test_a_counted_loop(now: list[float]) -> None:
    loop = Progress(1000)
    assert loop.seconds_left(None) is None
    now[0] += 3.0
    loop.position = 30
    assert loop.seconds_left(None) == pytest.approx(97.0)
    assert loop.seconds_left(200.0) == 200.0, "the present iteration is longer than the others"


def test_a_loop_that_may_converge(now: list[float]) -> None:
    loop = Progress(1000, may_end_early=True)
    now[0] += 3.0
    loop.position = 30
    assert loop.seconds_left(None) == pytest.approx(3.0 * constants.MOST_LEFT)
    loop.position = 900
    assert loop.seconds_left(None) == pytest.approx(3.0 / 9)


def test_a_while_with_a_distance(now: list[float]) -> None:
    loop = Progress(None)
    assert loop.seconds_left(None) is None
    assert loop.seconds_left(5.0) == 5.0
    loop.note_distance(8.0)
    now[0] += 2.0
    loop.note_distance(4.0)
    assert loop.seconds_left(None) == pytest.approx(2.0)
    loop.note_distance(7.9)
    assert loop.seconds_left(None) == pytest.approx(2.0 * constants.MOST_LEFT), "its steps may grow"
    loop.note_distance(9.0)
    assert loop.seconds_left(None) is None, "it goes the other way"


def test_a_while_at_an_even_pace(now: list[float]) -> None:
    """After a few samples, its end is predicted from as far away as that of a counted loop."""

    def after_a_second(pace: Callable[[float], float], may_end_early: bool = False) -> float | None:
        now[0] = 100.0
        loop = Progress(None, may_end_early)
        loop.note_distance(10.0)
        for _ in range(100):
            now[0] += 0.01
            loop.note_distance(10.0 - pace(now[0] - 100.0))
        return loop.seconds_left(None)

    cases = [
        (after_a_second(lambda t: t), 9.0),
        (after_a_second(lambda t: t, may_end_early=True), constants.MOST_LEFT),
        (after_a_second(lambda t: t**2), constants.MOST_LEFT),  # becomes faster
        (after_a_second(lambda t: t**0.3), constants.MOST_LEFT),  # becomes slower
        (after_a_second(lambda t: t / 100), constants.MOST_LEFT_STEADY),
    ]
    for found, expected in cases:
        assert found == pytest.approx(expected)


def test_loops_within_loops(now: list[float]) -> None:
    """In its first iteration, a loop knows what the loop inside says of that iteration."""
    outer = Progress(10)
    outlook.running.loops.append(outer)
    assert seconds_left() is None
    inner = Progress(100)
    outlook.running.loops.append(inner)
    now[0] += 1.0
    inner.position = 50
    assert seconds_left() == pytest.approx(19.0)
    now[0] += 1.0
    outer.position = 1
    outlook.running.loops.remove(inner)
    assert seconds_left() == pytest.approx(18.0)


def test_what_pays(now: list[float]) -> None:
    cost = 4.0
    least = cost * constants.FIRST_CALL_GAIN / constants.EXPECTED_SAVING
    assert not pays(0.9 * least, 0.0, cost)
    assert pays(1.1 * least, 0.0, cost), "it is expected to take as long again"
    loop = Progress(100)
    outlook.running.loops.append(loop)
    now[0] += 1.0
    loop.position = 1
    assert pays(1.0, now[0] - 1.0, cost), "the loop will call it for 99 seconds more"
    assert not pays(0.05, now[0] - 1.0, cost), "of which it takes a twentieth"
    loop.position = 99
    assert not pays(2 * least, now[0] - 2 * least, cost), "the loop has nearly ended"
