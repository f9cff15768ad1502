"""A loop whose changes are guessed is built while its body is traced for the first time.

A wrong guess must not show: all loops here are compared with NumPy, also when an earlier trace of the same
code makes the guess wrong.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import np2tf
from np2tf.staging.control.loops import StagedLoop
from tests.helpers.differential import load, translation

SOURCE = """
import numpy as np


def rebinds(x, n, mode):
    for i in range(n):
        x = x * 0.5 + i
    return x


def writes(x, n, mode):
    for i in range(n):
        x[i % len(x)] += 1.0
    return x.sum()


def writes_a_local(x, n, mode):
    out = np.zeros(n)
    for i in range(n):
        out[i] = x[i % len(x)] + i
    return out


def reads_constants_before_it_writes(x, n, mode):
    seen = np.zeros(3)
    total = 0.0
    for i in range(n):
        if seen[0] == 0.0:
            total += 1.0
        seen[0] += 1.0
    return seen, total


def copies_and_writes(x, n, mode):
    y = x.copy()
    for i in range(n):
        x[0] += y[0] + i
    return x, y


def two_names(x, n, mode):
    y = x
    for i in range(n):
        x[0] += 1.0
        y[1] += x[0]
    return x, y


def changes_dtype(x, n, mode):
    total = 0
    y = np.arange(3)
    for i in range(n):
        total = total + x[0]
        y = y * 0.5
    return total, y


def unbound_names(x, n, mode):
    for i in range(n):
        last = x * i
        if last.sum() > 3.0:
            big = last + 1.0
        else:
            big = last - 1.0
    return last, big


def writes_in_a_branch(x, n, mode):
    y = np.ones(4)
    for i in range(n):
        if x[i % len(x)] > 0.0:
            y[1] += i
        elif x.sum() > 100.0:
            x[0] = -1.0
    return x, y


def swaps(x, n, mode):
    y = np.zeros_like(x)
    for i in range(n):
        y[1:] = x[:-1] + 1.0
        x, y = y, x
    return x, y


def leaves_behind(x, n, mode):
    for i in range(n):
        x += 0.75
        x = x % 1.0
    return x


def may_rebind(x, n, mode):
    best = x
    for i in range(n):
        if (x * i).sum() > 5.0:
            best = x * i
    return best


def nested(x, n, mode):
    table = np.zeros((4, 5))
    count = 0
    for i in range(n):
        row = table[i % 4]
        for j in range(5):
            row[j] += x[j % len(x)] * i
            for k in range(12):
                if k * row[j] > 2.0:
                    count += 1
        x[i % len(x)] = row.sum()
    return table, count, x


def fill(y, i):
    y[i % len(y)] = i
    return y


def callee_writes(x, n, mode):
    y = np.zeros(4)
    for i in range(n):
        y = fill(y, i)
        x = x + y.sum()
    return x, y


def follows_a_mode(x, n, mode):
    y = np.zeros(3)
    for i in range(n):
        if mode == 0:
            x = x + 1.0
        elif mode == 1:
            x[0] += 1.0
        elif mode == 2:
            y[1] += x[0]
        else:
            y = x[:3] * i
    return x, y


def waits_for_a_limit(x, n, mode):
    rounds = 0
    while x.sum() < n:
        x = x + 1.0
        rounds += 1
    return x, rounds


def tests_what_it_writes(x, n, mode):
    i = 0
    while i < n and x[0] < 3.0:
        x[0] += 1.0
        i += 1
    return x, i


def checks(x, n, mode):
    y = np.zeros(4)
    for i in range(n):
        y[int(x[i % len(x)]) + mode] += 1.0
    return y


def raises(x, n, mode):
    for i in range(n):
        if x.sum() > 20.0 * (mode + 1):
            raise ValueError("too large")
        x = x + 1.0
    return x


class Counter:
    def __init__(self, x):
        self.x = x
        self.total = 0.0
        self.seen = np.zeros(3)

    def step(self, i):
        self.total = self.total + self.x[0]
        self.seen[i % 3] += self.total


def sets_attributes(x, n, mode):
    counter = Counter(x)
    for i in range(n):
        counter.step(i)
        counter.x = counter.x * 0.5
    return counter.total, counter.seen, counter.x
"""
NUMPY, STAGED = load(SOURCE), load(translation(SOURCE))
NAMES = [
    name
    for name, value in NUMPY.items()
    if callable(value) and name not in ("Counter", "fill", "np") and not name.startswith("_")
]


def _outcome(function: Callable[..., Any], *args: Any) -> tuple[Any, Any]:
    try:
        return function(*args), args
    except Exception as error:
        return (type(error), str(error)), args


def _compare(name: str, *args: Any) -> None:
    want, want_args = _outcome(NUMPY[name], *copy.deepcopy(args))
    with np2tf.config.using(tier="compile"):
        result, result_args = _outcome(STAGED[name], *copy.deepcopy(args))
    for here, there in zip(_arrays(want, want_args), _arrays(result, result_args), strict=True):
        assert here.dtype == there.dtype
        if here.dtype.kind in "US":
            assert here == there
        else:
            np.testing.assert_allclose(there, here, rtol=1e-6 if here.dtype == np.float32 else 1e-13)


def _arrays(*values: Any) -> list[np.ndarray]:
    flat = [item for value in values for item in (value if isinstance(value, tuple) else (value,))]
    return [np.asarray(str(item) if isinstance(item, type) else item) for item in flat]


@pytest.mark.parametrize("name", NAMES)
def test_loops_do_what_numpy_does(name: str) -> None:
    x = np.array([0.25, 1.5, -2.0, 0.75])
    for n, mode in [(70, 0), (9, 1), (0, 2), (70, 2), (9, 3), (33, 0), (33, 1)]:
        _compare(name, x, n, mode)
        _compare(name, x + 7.0, n, mode)
    _compare(name, np.array([1, 2, 3, 4]), 20, 0)
    _compare(name, np.arange(6, dtype=np.float32), 20, 0)


@pytest.mark.parametrize("name", ["rebinds", "writes_a_local", "writes", "waits_for_a_limit", "nested"])
def test_the_body_is_traced_once(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Neither a loop nor a loop inside it is traced only to learn what it changes."""
    trials: list[Any] = []
    trial = StagedLoop._trial
    monkeypatch.setattr(StagedLoop, "_trial", lambda self, forms: trials.append(1) or trial(self, forms))
    staged = load(translation(SOURCE))[name]
    x = np.array([0.25, 1.5, -2.0, 0.75])
    with np2tf.config.using(tier="compile"):
        staged(x.copy(), 80, 0)
        assert staged.lower(x, 80, 0).how == "xla"
    assert not trials


PRINTS = """
import numpy as np


def prints(x, n):
    total = 0
    for i in range(n):
        total = total + int(x[i % len(x)] > 0)
        print("round", i, total)
    return total


def draws(rng, n):
    y = np.zeros(4)
    for i in range(n):
        y[i % 4] += rng.random()
        if y[0] > 2.0:
            y[0] -= rng.random()
    return y, rng.random()
"""


def test_prints_come_once_and_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    numpys, np2tfs = load(PRINTS)["prints"], load(translation(PRINTS))["prints"]
    x = np.array([0.5, -1.0, 2.0])
    want = numpys(x, 20), capsys.readouterr().out
    with np2tf.config.using(tier="compile"):
        assert (int(np2tfs(x, 20)), capsys.readouterr().out) == want


def test_draws_are_those_of_numpy() -> None:
    numpys, np2tfs = load(PRINTS)["draws"], load(translation(PRINTS))["draws"]
    mine, other = np.random.default_rng(5), np.random.default_rng(5)
    with np2tf.config.using(tier="compile"):
        for n in (30, 80):
            for here, there in zip(numpys(mine, n), np2tfs(other, n), strict=True):
                np.testing.assert_array_equal(there, here)
    assert mine.bit_generator.state == other.bit_generator.state
