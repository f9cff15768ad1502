"""Functions that call themselves: followed while tracing where that ends, and as deep as ever on the host."""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import np2tf
from np2tf.core.counts import counts
from np2tf.staging.host.jit import UnjittedWarning
from np2tf.staging.host.recursion import deepest
from tests.helpers.differential import load
from tests.helpers.recursion_rows import DEEP

SOURCE = """\
import numpy as np


def rounds(x, n):
    if n == 0:
        return x
    return rounds(np.sin(x[1:-1]) + x[1:-1] * 2, n - 1)


def scaled(x, a, n):
    if n == 0:
        return x[::-1] * a
    return scaled(np.cos(x[::-1]) * a + 1, a, n - 1)


def one(x, n):
    return x[::-1] if n == 0 else other(np.sin(x[::-1]) + x, n - 1)


def other(x, n):
    return x * 2 if n == 0 else one(np.cos(x[::-1]) + x, n - 1)


def slow(x, n):
    if n > 0 and np.sum(x[::-1]) < 1e9:
        return slow(np.sin(x[::-1]) + x, n - 1)
    return x


def endless(x, n):
    if n == 0.5:
        return x[::-1]
    return endless(np.sin(x[::-1]) + x, n + 1)


def forked(x, n):
    if n < 2:
        return x[::-1] * n
    return forked(np.sin(x) + 1, n - 1) + forked(x[::-1], n - 2)


def within(x, n):
    if n == 0:
        return np.sum(x[1:])
    s = 0.0
    for i in range(20):
        s = s + within(x * x[i] / 9, n - 1)
    return s


def hidden(x):
    def go(v):
        if np.sum(v) < 1:
            return v
        return go(v / 2)

    for i in range(20):
        x = x + np.sin(x[i])
    return go(x)


class Counter:
    def __init__(self):
        self.total = np.zeros(3)
        self.calls = 0

    def visit(self, x, n):
        self.calls += 1
        self.total = self.total + x
        if n == 0:
            return x[::-1] * 2
        return self.visit(np.sin(x[::-1]) + self.total, n - 1)
"""
X = np.arange(3.0) / 3


@pytest.fixture
def namespaces() -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """The source and its translation, compiled at the first call."""
    text = np2tf.convert(SOURCE).text
    with np2tf.config.using(jit="on", tier="compile"), warnings.catch_warnings():
        warnings.simplefilter("ignore", UnjittedWarning)
        yield load(SOURCE), load(text)


def agree(namespaces: tuple[dict[str, Any], dict[str, Any]], name: str, *args: Any) -> str:
    """Compare a call; returns where the translation ran."""
    before = counts.compiled + counts.graph
    got = namespaces[1][name](*(np.copy(a) if isinstance(a, np.ndarray) else a for a in args))
    np.testing.assert_allclose(np.asarray(got), namespaces[0][name](*args), rtol=1e-10)
    return "compiled" if counts.compiled + counts.graph > before else "host"


@pytest.mark.parametrize("name", ["rounds", "one", "forked", "within"])
def test_compiled(namespaces, name):
    x = np.arange(20.0) / 20
    assert {agree(namespaces, name, x, n) for n in (0, 1, 2, 3)} == {"compiled"}


def test_what_counts_the_calls_never_becomes_an_input(namespaces):
    """It is known in every trace, and too many traces are none."""
    ran = [agree(namespaces, "rounds", np.arange(80.0) / 80, n % 30) for n in range(40)]
    assert ran[:8] == ["compiled"] * 8
    assert namespaces[1]["rounds"].trace_count <= 20


def test_other_numbers_become_inputs(namespaces):
    ran = {agree(namespaces, "scaled", X, 0.1 * k, 1 + k % 2) for k in range(1, 30)}
    assert ran == {"compiled"}
    assert namespaces[1]["scaled"].trace_count <= 8


@pytest.mark.parametrize("name", ["scaled", "one", "slow"])
@pytest.mark.parametrize("n", [deepest(), deepest() + 40, DEEP])
def test_deep(namespaces, name, n):
    """Where NumPy's own code gets by with Python's stack, so does the translation."""
    args = (X, 0.5, n) if name == "scaled" else (X, n)
    before = sys.getrecursionlimit()
    agree(namespaces, name, *args)
    assert sys.getrecursionlimit() == before


@pytest.mark.parametrize("tier", ["auto", "compile"])
def test_deep_in_every_tier(namespaces, tier):
    with np2tf.config.using(tier=tier):
        for name in ("one", "slow"):
            assert agree(namespaces, name, X, DEEP - 100) == "host"
    with np2tf.config.using(tier=tier, eager="tensorflow"):
        agree(namespaces, "slow", X, 100)


def test_without_end(namespaces):
    with pytest.raises(RecursionError):
        namespaces[1]["endless"](X, 0)
    assert agree(namespaces, "rounds", np.arange(9.0), 1) == "compiled"


def test_data_end_an_inner_functions_recursion(namespaces):
    assert agree(namespaces, "hidden", np.arange(20.0)) == "host"
    assert agree(namespaces, "hidden", np.arange(20.0) * 1e270) == "host"
    assert namespaces[1]["hidden"].trace_count == 1


@pytest.mark.parametrize("n", [0, 3, deepest() + 1, DEEP // 2])
def test_methods(namespaces, n):
    np2tf_counter, numpy_counter = namespaces[1]["Counter"](), namespaces[0]["Counter"]()
    for _ in range(2):
        np.testing.assert_allclose(
            np.asarray(np2tf_counter.visit(X, n)), numpy_counter.visit(X, n), rtol=1e-10
        )
    assert np2tf_counter.calls == numpy_counter.calls
    np.testing.assert_allclose(np.asarray(np2tf_counter.total), numpy_counter.total, rtol=1e-10)


def test_one_warning_with_code_and_line(namespaces):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for n in (20, 30, 40):
            agree(namespaces, "slow", X, n)
    told = [str(item.message) for item in caught if item.category is UnjittedWarning]
    assert len(told) == 1
    assert told[0].startswith("NP2TF523 ")
    assert "slow runs unjitted: data decide how often slow calls itself" in told[0]


def test_too_many_calls_are_found_soon(namespaces):
    assert agree(namespaces, "forked", X, 15) == "host"
    assert namespaces[1]["forked"].trace_count == 1


def test_threads(namespaces):
    """Each thread has a depth of its own; the limit is Python's again when the last thread is done."""
    before, failures = sys.getrecursionlimit(), []

    def work() -> None:
        try:
            for n in (5, DEEP // 3, 2, DEEP - 200):
                agree(namespaces, "slow", X, n)
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert sys.getrecursionlimit() == before
