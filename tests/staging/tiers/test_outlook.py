"""How long a program goes on, as its running loops tell, and whether compiling pays in that time."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

from np2tf.staging.host.followed_loops import follow
from np2tf.staging.tiers import constants, outlook
from np2tf.staging.tiers.outlook import Progress, is_in_candidate, pays, seconds_left


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


@pytest.mark.parametrize(
    "iterable",
    [
        list(range(4)),
        (1, 2, 3, 4),
        dict.fromkeys(range(4)),
        dict.fromkeys(range(4)).items(),
        np.zeros((4, 2)),
        range(4),
        enumerate([5, 6, 7, 8]),
        zip([1, 2, 3, 4, 5], np.zeros(4)),
    ],
    ids=lambda iterable: type(iterable).__name__,
)
def test_a_loop_over_few_things(now: list[float], iterable: Any) -> None:
    """It is followed while it runs, whatever ends it, and its elements are the iterable's."""
    start, places = now[0], []
    for _ in follow(iterable, "a place", may_end_early=False):
        places.append(seconds_left())
        now[0] += 2.0
    assert places == [None, 6.0, 4.0, None], "the last iteration may be the end"
    assert seconds_left() is None, "it is over"
    assert now[0] == start + 8.0


def test_a_loop_that_is_left_is_over(now: list[float]) -> None:
    for k in follow([1, 2, 3], "another place", may_end_early=True):
        now[0] += 1.0
        if k == 2:
            break
    with suppress(ValueError):
        for _ in follow([1, 2, 3], "a third place", may_end_early=False):
            raise ValueError
    assert seconds_left() is None


def test_following_keeps_nothing_alive(now: list[float]) -> None:
    """What a loop runs over lives no longer than in Python, however the loop ends."""

    class Element:
        pass

    for end in ("break", "raise"):
        elements = [Element(), Element()]
        first = weakref.ref(elements[0])
        with suppress(ValueError):
            for _element in follow(elements, f"a loop that ends by {end}", may_end_early=True):
                assert len(outlook.running.loops) == 1
                if end == "break":
                    break
                raise ValueError
        del _element, elements
        assert first() is None, end


def test_loops_that_are_not_followed() -> None:
    """Iterators of unknown length stay as they are, and so does a loop that begins often."""
    elements = (k for k in range(3))
    assert follow(elements, "of a generator", may_end_early=False) is elements
    numbers = [1, 2, 3]
    for _ in range(20):
        found = follow(numbers, "inside", may_end_early=False)
    assert found is numbers
    many = list(range(20_000))
    assert follow(many, "many", may_end_early=False) is many
    of_generators = zip(numbers, (k for k in range(3)))
    assert follow(of_generators, "zip", may_end_early=False) is of_generators


def test_what_a_loop_calls_waits_for_the_loop(now: list[float]) -> None:
    loop = Progress(1000)
    outlook.running.loops.append(loop)
    assert not is_in_candidate()
    loop.is_candidate = True
    assert is_in_candidate(), "its first iterations"
    now[0] += 2 * constants.FIRST_ROUNDS
    assert not is_in_candidate(), "its iterations are long"
    loop.position = constants.LOADING_ROUNDS + 1
    assert is_in_candidate(), "it has been measured"


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
