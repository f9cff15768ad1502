"""Tests of `while` that do more than compare: they write, draw, print, count, or may raise."""

from __future__ import annotations

import contextlib
import io
import warnings
from typing import Any

import numpy as np
import pytest

import np2tf
from np2tf.core.counts import counts
from np2tf.staging.host.jit import UnjittedWarning
from tests.helpers.differential import HEAD, load, translation

BUMP = """
def bump(x):
    x[0] += 1.0
    return x[0]


def f(x):
    k = 0
    while bump(x) < 5.0:
        k += 1
        x[1:] *= 0.5
    return k
"""
NESTED = """
def ends(x, i, log):
    log[i] += 1
    return x[i] > 0.3


def f(x):
    log = np.zeros(len(x))
    for i in range(len(x)):
        while ends(x, i, log):
            x[i] *= 0.5
    return log
"""
PRINTS = """
def told(x):
    print("sum", x.sum() > 4.0)
    return x.sum() > 4.0


def f(x):
    while told(x):
        x *= 0.5
    return x
"""
COUNTS = """
class Solver:
    def __init__(self):
        self.asked = 0
        self.errors = []

    def wrong(self, x):
        self.asked += 1
        return np.abs(x).max() > 0.1

    def run(self, x):
        while self.wrong(x):
            x = x * 0.7
        return x


def f(x):
    solver = Solver()
    return solver.run(x), solver.asked, solver.run(x * 9.0), solver.asked
"""
CHAINED = """
def bump(x):
    x[0] += 1.0
    return x[0] < 7.0


def f(x):
    k = 0
    while x[1] > 0.01 and bump(x) or x[2] > 1e6:
        x[1] *= 0.5
        if x[0] > 5.5:
            break
        k += 1
    else:
        k += 100
    return k
"""


def results(body: str, x: np.ndarray, jitted: bool = True) -> tuple[Any, ...]:
    """Run a program; return its result, its argument after the call, and the text that it prints."""
    source = HEAD + body
    space = load(translation(source) if jitted else source)
    given = x.copy()
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        found = space["f"](given)
    return found, given, printed.getvalue()


@pytest.mark.parametrize("body", [BUMP, NESTED, PRINTS, COUNTS, CHAINED])
@pytest.mark.parametrize("x", [[0.0, 1.0, 2.0], [-3.0, 8.0, 1.0], [6.0, 0.5, 0.25]])
def test_effects_happen_once_for_each_test(body: str, x: list[float]) -> None:
    expected = results(body, np.array(x), jitted=False)
    before = counts.compiled
    with np2tf.config.using(jit="on", tier="compile"), warnings.catch_warnings():
        warnings.simplefilter("error", UnjittedWarning)
        found = results(body, np.array(x))
    assert counts.compiled > before
    assert found[2] == expected[2]
    np.testing.assert_array_equal(found[1], expected[1])
    np.testing.assert_equal(found[0], expected[0])


SEARCH = """
def f(x):
    i = 0
    while x[i] > 0:
        i += 1
    return i
"""


def test_a_test_that_reads_beyond_the_end() -> None:
    """The call is repeated on the host, where NumPy raises; the loop waits for nothing."""
    with np2tf.config.using(jit="on", tier="compile"):
        before = counts.compiled
        assert results(SEARCH, np.array([1.0, 1.0, 0.0]))[0] == 2
        assert counts.compiled == before + 1
        with pytest.raises(IndexError, match="index 3 is out of bounds for axis 0 with size 3"):
            results(SEARCH, np.ones(3))
