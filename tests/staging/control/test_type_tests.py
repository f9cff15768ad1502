"""``isinstance``, ``type``, ``hasattr`` and ``getattr`` of staged numbers answer as in NumPy's code."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
import pytest

import np2tf

SOURCE = """
import numbers

import numpy as np


def f(x, k):
    if isinstance(k, int):
        a = 1
    elif isinstance(k, (float, np.floating)):
        a = 2
    else:
        a = 3
    if type(k) is int:
        a += 10
    if type(k) == float:
        a += 20
    if hasattr(k, "shape"):
        a += 100
    if isinstance(k, numbers.Integral):
        a += 1000
    rank = getattr(k, "ndim", 7)
    total = 0.0
    for i in range(len(x)):
        total += x[i] * k
        if isinstance(i, int):
            total += 1
        if isinstance(x[i], float):
            total += 2
        if type(x[i]) is np.float64:
            total += 4
    return total + a * rank


def rank_of(x, rank):
    s = np.sort(x)
    if rank >= 1 and isinstance(rank, int):
        count = min(rank, len(s))
    else:
        count = len(s)
    total = 0.0
    for i in range(count):
        total += s[i]
    return total
"""
NUMBERS = [1, 2, 3, 2.5, 1.5, 0.5, np.float64(2), np.int64(2), np.int64(5), np.float32(2), True, 7]


@pytest.fixture(scope="module")
def functions(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, dict[str, Any]]:
    path = tmp_path_factory.mktemp("types") / "asks_for_types.py"
    path.write_text(SOURCE)
    plain: dict[str, Any] = {}
    exec(compile(SOURCE, str(path), "exec"), plain)
    return np2tf.import_module("asks_for_types", path), plain


@pytest.mark.parametrize("name", ["f", "rank_of"])
def test_numbers_that_vary(name: str, functions: tuple[Any, dict[str, Any]]) -> None:
    """After a few values a number is an input of compiled code (PyDMD: a rank that may be -1 or a float)."""
    module, plain = functions
    x = np.arange(20.0)
    with np2tf.config.using(tier="compile"):
        function = getattr(module, name)
        for number in NUMBERS:
            assert function(x, number) == plain[name](x, number), number
        assert function.compiled_count + function.graph_count >= 10


def test_a_number_whose_class_depends_on_the_path() -> None:
    @np2tf.jit
    def f(x, k):
        number = np2tf.cond(x[0] > 0, lambda: 1.5, lambda: x[0])
        return x * 2 if np2tf.isinstance(number, np.floating) else x

    with np2tf.config.using(tier="compile"), pytest.warns(np2tf.staging.host.jit.UnjittedWarning):
        assert f(np.array([-1.0]), 1) == -2
    assert isinstance(2, numbers.Integral)
