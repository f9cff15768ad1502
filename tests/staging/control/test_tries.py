"""`try` in compiled functions: an exception that comes up discards the call, and NumPy's own handler runs."""

from __future__ import annotations

import random
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import np2tf
from np2tf.core.counts import counts
from np2tf.staging.host.jit import UnjittedWarning
from tests.helpers import random_lines
from tests.helpers.differential import HEAD, compare, load, translation


@pytest.fixture(autouse=True)
def compiled() -> Iterator[None]:
    with np2tf.config.using(jit="on", tier="compile"):
        yield


#: (what stands in the try, arguments without and with an exception)
RAISING = [
    ("y = x[n]", "np.arange(12.), np.int64(3)", "np.arange(12.), np.int64(30)"),
    ("y = x[n]", "np.arange(12), np.array([1, 2])", "np.arange(12), np.array([1, 20])"),
    ("x[n] = 2", "np.arange(12.), np.array([1, 2])", "np.arange(12.), np.array([1, 20])"),
    ("y = np.take(x, n)", "np.arange(12.), np.array([1, 2])", "np.arange(12.), np.array([1, 20])"),
    ("y = np.linalg.inv(x)", "np.eye(3), 1", "np.ones((3, 3)), 1"),
    ("y = np.linalg.solve(x, x[0])", "np.eye(3), 1", "np.zeros((3, 3)), 1"),
    ("y = np.linalg.inv(x)", "np.eye(3), 1", "np.arange(1., 10.).reshape(3, 3), 1"),
    ("y = np.linalg.solve(x, x[0])", "np.eye(3), 1", "np.arange(9.).reshape(3, 3), 1"),
    ("y = np.linalg.cholesky(x)", "np.eye(3), 1", "-np.eye(3), 1"),
    ("y = np.linalg.cholesky(x)", "np.eye(3), 1", "np.ones((3, 3)), 1"),
    ("y = np.linalg.matrix_power(x, -2)", "np.eye(3), 1", "np.ones((3, 3)), 1"),
    ("y = np.linalg.eigh(x)[0]", "np.eye(3), 1", "np.full((3, 3), np.nan), 1"),
    ("y = np.linalg.norm(x, 2)", "np.eye(3), 1", "np.full((3, 3), np.nan), 1"),
    ("y = int(x[0])", "np.arange(3.), 1", "np.full(3, np.nan), 1"),
    ("y = int(x[0]) + 1", "np.arange(3.), 1", "np.full(3, np.inf), 1"),
    ("y = 1.0 / float(x[0])", "np.ones(3), 1", "np.zeros(3), 1"),
    ("y = 7 // int(x[0])", "np.ones(3), 1", "np.zeros(3), 1"),
    ("y = float(x[0]) ** -0.5", "np.ones(3), 1", "np.zeros(3), 1"),
    ("y = float(x[0]) ** 200.0", "np.ones(3), 1", "np.full(3, 1e10), 1"),
    ("y = x ** n", "np.arange(1, 4), np.int64(2)", "np.arange(1, 4), np.int64(-2)"),
    ("y = math.sqrt(x[0])", "np.ones(3), 1", "-np.ones(3), 1"),
    ("y = math.exp(x[0])", "np.ones(3), 1", "np.full(3, 1e4), 1"),
    ("y = x[x > 1].max()", "np.arange(3.), 1", "np.zeros(3), 1"),
    ("y = np.argmax(x[x > 1])", "np.arange(3.), 1", "np.zeros(3), 1"),
    ("y = x[x > 1][0]", "np.arange(3.), 1", "np.zeros(3), 1"),
    ("y = x[x > 1] + n", "np.arange(4.), np.ones(2)", "np.arange(9.), np.ones(2)"),
    ("y = np.zeros(int(x[0]))", "np.ones(3), 1", "-np.ones(3), 1"),
    ("y = np.repeat(x, n)", "np.ones(2), np.array([1, 2])", "np.ones(2), np.array([1, -2])"),
    ("y = np.histogram(x, 4)[0]", "np.arange(3.), 1", "np.full(3, np.nan), 1"),
    ("y = np.average(x, weights=n)", "np.arange(3.), np.ones(3)", "np.arange(3.), np.zeros(3)"),
    ("n[0] = x[0]", "np.ones(3), np.arange(3)", "np.full(3, np.nan), np.arange(3)"),
    ("n[0] = int(x[0])", "np.ones(3), np.zeros(3, np.int8)", "np.full(3, 1e3), np.zeros(3, np.int8)"),
    ("y = n + int(x[0])", "np.ones(3), np.zeros(3, np.int8)", "np.full(3, 1e3), np.zeros(3, np.int8)"),
    ("y = np.arange(0, 10, x[0])", "np.ones(3), 1", "np.zeros(3), 1"),
    ("assert x[0] > 0, 'not positive'", "np.ones(3), 1", "np.zeros(3), 1"),
    ("if x[0] <= 0:\n            raise KeyError(3)", "np.ones(3), 1", "np.zeros(3), 1"),
    ("if x[0] > 0:\n            y = x\n        y = y * 2", "np.ones(3), 1", "np.zeros(3), 1"),
    ("rows = [x[0]]\n        for v in x:\n            rows.pop()", "np.ones(1), 1", "np.zeros(12), 1"),
    ("y = half(x)[n]", "np.arange(12.), np.int64(3)", "np.arange(12.), np.int64(7)"),
]
_AROUND = """
import math


def half(v):
    return v[: len(v) // 2] * 1.0


def f(x, n):
    x = x + 0
    y = x
    try:
        {}
    except Exception as error:
        return type(error).__name__, str(error), x, n
    else:
        x = x * 2
    finally:
        print("behind it")
    return x, y, n
"""


@pytest.mark.parametrize(("body", "good", "bad"), RAISING)
def test_no_exception_is_missed(body: str, good: str, bad: str) -> None:
    """Whatever NumPy raises, its handler runs, compiled or not."""
    source, ways = HEAD + _AROUND.format(body), ("unjitted", "jitted")
    compare(source, good, bad, good, ran=None, number_types=False, ways=ways)


def _function(body: str) -> Any:
    return load(translation(HEAD + body))["f"]


INVERSE = """
def f(x):
    try:
        y = np.linalg.inv(x)
    except np.linalg.LinAlgError:
        y = np.zeros_like(x)
    return y
"""


def test_compiled_unless_it_raises() -> None:
    f = _function(INVERSE)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnjittedWarning)
        for matrix, compiled in ((np.eye(3), 1), (np.zeros((3, 3)), 0), (2 * np.eye(3), 1)):
            before = counts.compiled + counts.graph
            np.testing.assert_allclose(f(matrix), matrix / max(matrix.max() ** 2, 1))
            assert counts.compiled + counts.graph - before == compiled
    assert f.trace_count == 1
    assert f.explain(np.eye(3)).runs == "xla"


def test_calls_that_raise_mostly_stay_on_the_host() -> None:
    f = _function(INVERSE)
    with np2tf.config.using(tier="auto"):
        for _ in range(3):
            f.lower(np.eye(3))
            f(np.zeros((3, 3)))
        before = counts.compiled + counts.graph
        np.testing.assert_equal(np.asarray(f(np.eye(3))), np.eye(3))
        assert counts.compiled + counts.graph == before
        assert "exceptions" in f.explain(np.eye(3)).decision


def test_bounds_are_checked_under_try_whatever_the_option_says() -> None:
    f = _function(
        "def f(x, k):\n    try:\n        y = x[k[0]] * 2 + np.sum(x)\n    except IndexError:\n"
        "        y = x[0] - 1\n    return y"
    )
    with np2tf.config.using(bounds="unchecked"), warnings.catch_warnings():
        warnings.simplefilter("error", UnjittedWarning)
        assert f(np.arange(12.0), np.array([3])) == 72
        assert f(np.arange(12.0), np.array([30])) == -1


def test_floating_point_errors_of_the_caller() -> None:
    body = "def f(x):\n    try:\n        return 1 / x\n    except FloatingPointError:\n        return -x\n"
    f, reference = _function(body), load(HEAD + body)["f"]
    for _ in range(2):
        np.testing.assert_equal(np.asarray(f(np.ones(3))), np.ones(3))
        with np.errstate(all="raise"):
            np.testing.assert_equal(np.asarray(f(np.zeros(3))), reference(np.zeros(3)))


def test_nothing_of_a_discarded_call_is_seen(capsys: pytest.CaptureFixture[str]) -> None:
    body = """
def f(x):
    for i in range(len(x)):
        try:
            print('try', i)
            x[i] = x[i + 3]
        except IndexError:
            print('caught', i)
            x[i] = -1
    return x
"""
    texts = []
    for f in (load(HEAD + body)["f"], _function(body)):
        x = np.arange(12.0)
        y = f(x)
        texts.append((capsys.readouterr().out, x.tolist(), np.asarray(y).tolist()))
    assert texts[0] == texts[1]


def test_strict_names_the_reason() -> None:
    f = _function(
        "def f(x):\n    try:\n        y = x.reshape(5, 3)\n    except ValueError:\n        y = x\n"
        "    return np.sum(y)"
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert f(np.arange(12.0)) == 66
    assert [str(warning.message).split()[0] for warning in caught] == ["NP2TF532"]
    assert f.explain(np.arange(12.0)).code == "NP2TF532"


_LINES = (
    "a = a + x[i % 6]",
    "a = a + x[int(abs(b)) % 9]",
    "b = b * 0.5 - a",
    "x[i % 8] = a",
    "if a > {n}:\n    b = a - {n}",
    "if a > {n}:\n    raise ValueError('large')",
    "assert b > {n} - 40, 'small'",
    "try:\n    a = x[int(abs(a)) % 8] + b\nexcept IndexError:\n    b = b + 1",
    "try:\n    if a > {n}:\n        raise KeyError('k')\n    b = x[5]\n"
    "except KeyError as e:\n    a = a - 3\nelse:\n    a += 1",
    "try:\n    x[0] = a\n    b = x[i % 7]\nexcept IndexError:\n    b = -b\nfinally:\n    x[1] = 5",
    "for j in range({m}):\n    try:\n        a = a + x[j]\n    except IndexError:\n        {jump}\n"
    "    b = b + j",
    "for j in range({m}):\n    try:\n        if a > {n}:\n            {jump}\n        x[j] = a - 1\n"
    "    except IndexError:\n        a = a - 1",
    "while a > 9:\n    a = a - 5.5",
)


_WORDS: dict[str, object] = {
    "n": range(-5, 31),
    "jump": ("break", "continue", "return a, b, x", "pass"),
    "m": ("3", "5", "12", "int(x[2])"),
}


def _program(chance: random.Random) -> str:
    def lines(depth: int) -> list[str]:
        return random_lines.lines(chance, _LINES, depth, _WORDS)

    kinds = chance.choice(("ValueError", "(ValueError, IndexError)", "Exception", "AssertionError as error"))
    body = [
        "    a, b, i = x[1] * 1.0, x[2] * 1.0, 0",
        "    try:",
        *lines(2),
        "        for i in range(len(x)):",
        *lines(3),
        f"    except {kinds}:",
        *(lines(2) if chance.random() < 0.2 else ["        return -1.0, 0.0, x"]),
        *lines(1),
        "    return a, b, x",
    ]
    return HEAD + "def f(x):\n" + "\n".join(body) + "\n"


@pytest.mark.parametrize("seed", range(12))
def test_random_programs(seed: int) -> None:
    random_lines.judge(_program(random.Random(seed)))
