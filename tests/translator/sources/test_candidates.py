"""Functions over arrays are found by what they do, in files that never name NumPy."""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import np2tf
from np2tf.cli.main import np2tf as command
from np2tf.core.counts import counts
from np2tf.staging.host.jit import UnjittedWarning
from np2tf.translator.control.fitness import Fitness
from np2tf.translator.facts.facts import Facts
from np2tf.translator.sources.candidates import is_candidate
from np2tf.translator.sources.options import Options
from np2tf.translator.tree.source import Source
from tests.helpers.command_runner import CliRunner

#: Functions of a file without NumPy, each with what it is given: arrays, and then what Python has.
TAKEN: dict[str, tuple[str, list[Callable[[], Any]]]] = {
    "rows that another function makes": (
        "def f(x):\n    for i in range(len(x)):\n        x[i, :] = soft(x[i, :], 0.1)\n    return x",
        [lambda: np.arange(12.0).reshape(4, 3), lambda: np.zeros((0, 3)), lambda: Rows(2)],
    ),
    "elements by a table": (
        "def f(x):\n    for i in range(x.shape[0]):\n        x[i] = TABLE['soft'](x[i], 0.5)\n    return x",
        [lambda: np.arange(5.0), lambda: np.array([np.nan, -1.0]), lambda: np.arange(5)],
    ),
    "several axes": (
        "def f(x):\n    s = x[0, 0]\n    for i in range(3):\n        s = s + x[i, i]\n    return s",
        [lambda: np.arange(9.0).reshape(3, 3), lambda: {(0, 0): "a", (1, 1): "b", (2, 2): "c"}],
    ),
    "slices in arithmetic": (
        "def f(x):\n    d = []\n    for k in range(3):\n        d.append(x[1:] - x[:-1])\n    return d",
        [lambda: np.arange(5.0) ** 2, lambda: Rows(3)],
    ),
    "many operations on slices, without a loop": (
        "def f(x):\n    return (x[2:] - x[:-2]) - x[1:-1] - x[:-2]",
        [lambda: np.arange(5.0) ** 2, lambda: np.arange(5), lambda: Rows(3)],
    ),
    "slices of several axes, without a loop": (
        "def f(x):\n    d = x[1:, :-1] - x[:-1, 1:]\n    return d - x[1:, 1:] - x[:-1, :-1]",
        [lambda: np.arange(9.0).reshape(3, 3), lambda: Rows(3)],
    ),
    "slices that are set and negated": (
        "def f(x):\n    for k in range(3):\n        x[k:] = 0.5\n        y = -x[:2]\n    return x, y",
        [lambda: np.arange(5.0), lambda: np.arange(5), lambda: Rows(3)],
    ),
    "slices that are changed": (
        "def f(x):\n    for k in range(3):\n        x[k:] -= 1\n    return x",
        [lambda: np.arange(5.0), lambda: np.arange(5), lambda: Rows(3)],
    ),
    "products of matrices": (
        "def f(x):\n    for k in range(9):\n        x = x @ x\n    return x",
        [lambda: np.eye(3) * 0.5, lambda: Rows(3)],
    ),
    "matrices in place": (
        "def f(x):\n    for k in range(3):\n        x @= x\n    return x",
        [lambda: np.eye(3) * 0.5, lambda: Rows(3)],
    ),
    "a comprehension over rows": (
        "def f(x):\n    return [soft(x[i], x.ndim) for i in range(3)]",
        [lambda: np.arange(6.0).reshape(3, 2)],
    ),
}
#: Functions for lists, dicts and texts, and functions with types that have several parts.
LEFT = [
    "def f(x):\n    return [one.strip() for one in x.split(',')]",
    "def f(x):\n    d = {}\n    for k, v in x:\n        d[k] = v + 1\n    return d",
    "def f(x):\n    for k in x:\n        x[k] = soft(x[k], 1)\n    return x",
    "def f(x):\n    y: Optional[Dict[str, int]] = None\n    for k in x:\n        y = k\n    return y",
    "def f(x: Dict[str, int]) -> Tuple[int, int]:\n    for k in x:\n        pass\n    return k",
    "def f(x):\n    out = x[1:] + x[:1]\n    for k in range(3):\n        out = out + x[k:]\n    return out",
    "def f(x):\n    for line in x:\n        yield line[2:]",
    "def f(x):\n    x[1:] = [2]\n    for k in x:\n        k.run()",
    "def f(x, w):\n    return x @ w",
    "class A:\n    B = Dict[str, int]\n    def f(self, x):\n        for k in x:\n            self.run(k)",
]
HELPERS = """\
def soft(v, t):
    return v if isinstance(v, str) else v - t


TABLE = {"soft": soft}


"""


class Rows:
    """A class that has the operators of arrays, and is no array."""

    shape, ndim = (3,), 1

    def __init__(self, value: float) -> None:
        self.value = value
        self.written: list[Any] = []

    def __len__(self) -> int:
        return 3

    def __getitem__(self, index: Any) -> Rows:
        return Rows(self.value)

    def __setitem__(self, index: Any, value: Any) -> None:
        self.written.append((index, getattr(value, "value", value)))

    def __sub__(self, other: Any) -> Rows:
        return Rows(self.value - getattr(other, "value", other))

    def __matmul__(self, other: Any) -> Rows:
        return Rows(self.value * other.value)

    def __neg__(self) -> Rows:
        return Rows(-self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rows) and (self.value, self.written) == (other.value, other.written)

    def __hash__(self) -> int:
        return hash(self.value)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder for the package `pk`."""
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "pk").mkdir()
    (tmp_path / "pk" / "__init__.py").touch()
    yield tmp_path / "pk"
    _forget()


def _forget() -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "pk"]:
        del sys.modules[name]


@pytest.mark.parametrize("name", TAKEN)
def test_taken(name: str) -> None:
    text, _ = TAKEN[name]
    assert is_candidate(text)
    facts = Facts.of(Source.of(text).module)
    assert [function.name.value for function in facts.get(Fitness, Options()).staged_functions] == ["f"]


@pytest.mark.parametrize("text", LEFT)
def test_left_to_python(text: str) -> None:
    assert not is_candidate(text)
    facts = Facts.of(Source.of(text).module)
    assert not facts.get(Fitness, Options()).staged_functions


@pytest.mark.parametrize("name", TAKEN)
def test_the_result_is_pythons(name: str, package: Path) -> None:
    """Arrays are computed with by compiled code, and anything else gives Python's results."""
    text, given = TAKEN[name]
    (package / "work.py").write_text(HELPERS + text + "\n")
    plain = importlib.import_module("pk.work").f
    wanted = [(value := make(), plain(value)) for make in given]
    _forget()
    with np2tf.config.using(tier="compile"), np2tf.translating("pk"), warnings.catch_warnings():
        warnings.simplefilter("error", UnjittedWarning)
        staged = importlib.import_module("pk.work").f
        for make, (changed, result) in zip(given, wanted, strict=True):
            before = counts.compiled + counts.graph
            value = make()
            _assert_equal((staged(value), value), (result, changed))
            if isinstance(value, np.ndarray):
                assert counts.compiled + counts.graph > before


def _assert_equal(found: Any, wanted: Any) -> None:
    assert type(found) is type(wanted)
    if isinstance(wanted, (list, tuple)):
        assert len(found) == len(wanted)
        for found_item, wanted_item in zip(found, wanted):
            _assert_equal(found_item, wanted_item)
    elif isinstance(wanted, np.ndarray):
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(found, wanted)
    else:
        assert found == wanted


def test_check_tells_of_every_function_with_a_loop(package: Path) -> None:
    """Also in files that no translation would change, in classes, and under conditions."""
    text = """\
def lines(text):
    return [line.strip() for line in text]


def product(x, w):
    return x @ w


class Book:
    def pages(self):
        for page in self.all:
            page.turn()

    class Inner:
        def words(self, text):
            for word in text:
                word.say()


if True:
    def one(x):
        while x:
            x.pop()
else:
    def other(x):
        for k in x:
            k.run()


def nothing(x):
    return x
"""
    (package / "plain.py").write_text(text)
    (package / "work.py").write_text(HELPERS + TAKEN["elements by a table"][0] + "\n")
    told = CliRunner().invoke(command, ["check", "--verbose", str(package)]).stdout.splitlines()
    fates = [line.partition(f"{package}/")[2] for line in told if ": would change" not in line]
    assert [line for line in fates if line.startswith("plain")] == [
        "plain.py:1: lines: plain Python",
        "plain.py:5: product: compiled only as part of a compiled caller",
        "plain.py:10: Book.pages: plain Python",
        "plain.py:15: Book.Inner.words: plain Python",
        "plain.py:21: one: plain Python",
        "plain.py:25: other: plain Python",
    ]
    assert "work.py:8: f: compiled; 1 call is resolved at run time" in fates
    summary = CliRunner().invoke(command, ["check", "--summary", str(package)]).stdout
    assert "5 more have loops" in summary
