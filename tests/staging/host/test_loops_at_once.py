"""Tier "compile": loops of functions that cannot be compiled as a whole are compiled at once."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import np2tf
from np2tf.core.counts import UnjittedWarning
from np2tf.staging.host import replacement
from np2tf.staging.host.watched_loops import loop_costs
from np2tf.staging.tiers import constants
from tests.helpers.differential import arguments_of, load, observe
from tests.helpers.replacing import Taken, imported
from tests.staging.host.test_side_exits import HEAD, ROWS, _compare, _random_loop, _source

GIVEN = "np.array([1.0, 2.0, 3.0])"


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> Iterator[Taken]:
    """Counts the loops that are compiled under tier "compile", also those of few iterations."""
    found = Taken()
    take_over = replacement.LoopRun._take_over

    def counted(run: Any, frame: Any, left: float | None) -> bool:
        taken_over = take_over(run, frame, left)
        found.over += taken_over
        found.refused += not taken_over
        found.reasons.append(run._loop.function.line)
        assert left is None
        return taken_over

    monkeypatch.setattr(replacement.LoopRun, "_take_over", counted)
    monkeypatch.setattr(constants, "SHORT_LOOP", 2)
    monkeypatch.setattr(loop_costs, "seconds", loop_costs.seconds)
    with np2tf.config.using(tier="compile"), warnings.catch_warnings():
        warnings.simplefilter("ignore", UnjittedWarning)
        yield found


@pytest.mark.parametrize("name", ROWS)
def test_side_exits(name: str, at_once: Taken) -> None:
    """Results, effects, their order, and errors are as on NumPy."""
    _compare(_source(ROWS[name]), GIVEN)
    assert at_once.over


def test_random_loops_with_side_exits(at_once: Taken) -> None:
    """Loops of random statements and exits."""
    for seed in range(40, 55):
        source = _random_loop(seed)
        try:
            _compare(source, GIVEN)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}\n{source}") from error
    assert at_once.over > 15


#: A function with loops that cannot be compiled as a whole, because it opens a file.
OPENS = """
def f(x):
    with open(__import__("os").devnull) as file:
        pass
    for i in range(30):
        for j in range(20):
            x = np.abs(x) * 0.5 + j
        x = x + i
        {more}
    return x
"""


@pytest.mark.parametrize(
    ("more", "lines"), [("pass", {13}), ("open('/dev/null').close()", {13, 14})], ids=["outer", "inner"]
)
def test_the_outer_loop_goes_first(more: str, lines: set[int], at_once: Taken) -> None:
    """Its code contains the inner loop, which is compiled by itself only if the outer loop cannot be."""
    source = HEAD + OPENS.format(more=more)
    f, plain = imported(source)["f"], load(source)["f"]
    for _ in range(2):
        found, wanted = (observe(g, arguments_of(GIVEN)) for g in (f, plain))
        assert found.differs_from(wanted) is None
    assert set(at_once.reasons) == lines
    assert at_once.over == 1


def test_a_second_run_begins_as_compiled_code(at_once: Taken) -> None:
    """The first iteration runs on NumPy only as long as there is no code."""
    f = imported(HEAD + OPENS.format(more="pass"))["f"]
    for _ in range(3):
        f(np.ones(3))
    (loop,) = (
        loop
        for loop in replacement.loops.values()
        if loop.path == f.__code__.co_filename and loop.function.line == 13
    )
    (code,) = loop.translations
    assert at_once.over == 1
    assert code.compiled_count + code.graph_count >= 3


def test_nothing_is_compiled_without_jit(at_once: Taken) -> None:
    with np2tf.config.using(jit="off"):
        _compare(_source(ROWS["every tenth iteration"]), GIVEN)
    assert not at_once.over
