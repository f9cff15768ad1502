"""Measures np2tf's overhead where NumPy does the work: operators, functions, writes and jitted calls on the
host.

    python benchmarks/host_overhead.py              # the tables
    python benchmarks/host_overhead.py --only jit   # rows with this word in their title

NumPy's version and np2tf's run in turn in one process, and the best of many short runs counts, so that other
work on the machine slows both of them down or none. The last column is the goal. A star marks a row that
misses its goal.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
import tempfile
import timeit
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np

import np2tf
from np2tf import tnp

#: The goals: microseconds more than NumPy, or a share of NumPy's time.
OPERATOR, CALL, KEYWORDS, WRITE, JITTED = 0.25, 0.25, 0.4, 0.5, 1.0
SHARE = 0.02
#: The number of calls before the timing begins, and the seconds of one short run.
WARM_UP, RUN = 300, 3e-4


@dataclass(frozen=True)
class Row:
    """One piece of work, done in two ways.

    Attributes:
        goal: the microseconds that np2tf may take more than NumPy; None for the goal `SHARE` of NumPy's time.
    """

    title: str
    plain: Callable[[], Any]
    ours: Callable[[], Any]
    goal: float | None


def best_of_both(row: Row, rounds: int) -> tuple[float, float]:
    """Return the microseconds per call of NumPy's version and of np2tf's."""
    ways = (row.plain, row.ours)
    for way in ways:
        for _ in range(WARM_UP):
            way()
    timers = [timeit.Timer(way) for way in ways]
    number = max(1, int(RUN / max(timers[0].timeit(20) / 20, 1e-7)))
    best = [float("inf"), float("inf")]
    for _ in range(rounds):
        for side, timer in enumerate(timers):
            best[side] = min(best[side], timer.timeit(number) / number)
    return best[0] * 1e6, best[1] * 1e6


# -- arrays of tnp -------------------------------------------------------------------------------------------

_VALUES = np.linspace(0.0, 1.0, 100)

OPERATIONS: dict[str, Callable[[Any], Any]] = {
    "x + x": lambda x: x + x,
    "x * 2.0": lambda x: x * 2.0,
    "-x": lambda x: -x,
    "x < 0.5": lambda x: x < 0.5,
    "x[3]": lambda x: x[3],
    "x[2:50]": lambda x: x[2:50],
    "x.sum()": lambda x: x.sum(),
    "x.reshape(10, 10)": lambda x: x.reshape(10, 10),
    "x.T": lambda x: x.T,
    "x.shape": lambda x: x.shape,
}

#: title -> the call, given a namespace and an array, and its goal.
CALLS: dict[str, tuple[Callable[[Any, Any], Any], float]] = {
    "sin(x)": (lambda np, x: np.sin(x), CALL),
    "sum(x)": (lambda np, x: np.sum(x), CALL),
    "zeros(3)": (lambda np, x: np.zeros(3), CALL),
    "add(x, x)": (lambda np, x: np.add(x, x), CALL),
    "dot(x, x)": (lambda np, x: np.dot(x, x), CALL),
    "where(x, x, x)": (lambda np, x: np.where(x, x, x), CALL),
    "clip(x, 0.2, 0.8)": (lambda np, x: np.clip(x, 0.2, 0.8), CALL),
    "sum(x, axis=0)": (lambda np, x: np.sum(x, axis=0), KEYWORDS),
    "zeros(3, dtype=float)": (lambda np, x: np.zeros(3, dtype=float), KEYWORDS),
    "linspace(0, 1, num=5)": (lambda np, x: np.linspace(0, 1, num=5), KEYWORDS),
}


def operation_rows() -> Iterator[Row]:
    """Return the rows of operators, methods and indexing."""
    ours = tnp.asarray(_VALUES.copy())
    for title, function in OPERATIONS.items():
        yield Row(f"operator {title}", _of(function, _VALUES), _of(function, ours), OPERATOR)


def call_rows() -> Iterator[Row]:
    """Return the rows of functions of the main namespace."""
    ours = tnp.asarray(_VALUES.copy())
    for title, (function, goal) in CALLS.items():
        yield Row(f"tnp.{title}", _of(function, np, _VALUES), _of(function, tnp, ours), goal)


def write_rows() -> Iterator[Row]:
    """Return the rows of writes, in the form that translated code has."""
    plain, ours = _VALUES.copy(), tnp.asarray(_VALUES.copy())
    row = np.arange(10)

    def numpys(key: Any) -> Callable[[], None]:
        def write() -> None:
            plain[key] = 1.0

        return write

    for title, key in {"3": 3, "2:50": slice(2, 50), "row": row}.items():
        yield Row(f"write at(x)[{title}].set", numpys(key), lambda k=key: tnp.at(ours)[k].set(1.0), WRITE)


def temporaries_row(size: int) -> Iterator[Row]:
    """Return the row of a large expression, in which NumPy reuses the memory of its temporaries."""
    parts = [np.linspace(0.0, 20.0, size) + k for k in range(5)]

    def plain() -> Any:
        x, a, y, b, c = parts
        return np.clip(x, 2, 10) * a + y * b + c

    made = [tnp.asarray(part.copy()) for part in parts]

    def ours() -> Any:
        x, a, y, b, c = made
        return tnp.clip(x, 2, 10) * a + y * b + c

    yield Row(f"temporaries clip(x, 2, 10) * a + y * b + c, {size}", plain, ours, None)


def _of(function: Callable[..., Any], *args: Any) -> Callable[[], Any]:
    return lambda: function(*args)


# -- jitted functions ----------------------------------------------------------------------------------------

#: This module is imported twice: translated, and as it is.
SOURCE = """
import numpy as np


class Point:
    def __init__(self, x):
        self.x = x
        self.name = "point"

    def moved(self, x):
        for i in range(len(x)):
            if x[i] < self.x[i]:
                x[i] += 1.0
        return x


def nothing():
    x = np.zeros(2)
    for i in range(len(x)):
        if x[i] < 1:
            x[i] += 1.0
    return x


def arrays(x, y):
    for i in range(len(x)):
        if x[i] < y[i]:
            x[i] += 1.0
    return x


def taken(value, x):
    for i in range(len(x)):
        if x[i] < 1:
            x[i] += 1.0
    return x


def several(a, b, c, x):
    for i in range(len(x)):
        if x[i] < a:
            x[i] += b
    return x


def helper(x, k):
    for i in range(len(x)):
        if x[i] < k:
            x[i] += 1.0
    return x


def calling(x, n):
    for i in range(n):
        if x[0] < n:
            x = helper(x, i)
    return x
"""


FUNCTIONS = ("nothing", "arrays", "taken", "several", "helper", "calling")


def jitted_rows() -> Iterator[Row]:
    """Return the rows of jitted functions whose calls stay on the host, compared with the originals."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "overhead_module.py"
        path.write_text(SOURCE)
        plain, ours = _imported(path), np2tf.import_module("overhead_module", path)
        _jit_all(ours)
        for title, call in _jitted_calls().items():
            yield Row(f"jit {title}", call(plain), call(ours), JITTED)
        count = 20
        yield Row(
            f"jit a helper, called {count} times (goal per call)",
            _of(plain.calling, np.zeros(2), count),
            _of(ours.calling, np.zeros(2), count),
            (count + 1) * JITTED,
        )


def _jitted_calls() -> dict[str, Callable[[ModuleType], Callable[[], Any]]]:
    x, y = np.zeros(2), np.ones(2)
    many = [1.0] * 5
    return {
        "no arguments": lambda m: m.nothing,
        "arrays": lambda m: _of(m.arrays, x, y),
        "an object": lambda m: _of(m.taken, m.Point(y), x),
        "a string": lambda m: _of(m.taken, "text", x),
        "a list": lambda m: _of(m.taken, many, x),
        "a long list": lambda m: _of(m.taken, many * 200, x),
        "a dict": lambda m: _of(m.taken, dict.fromkeys("abcde", 1.0), x),
        "keywords": lambda m: lambda: m.several(1, 2, c=3, x=x),
        "objects that differ": lambda m: _differing(m, x),
        "strings that differ": lambda m: _cycling(m.taken, [f"text {k}" for k in range(50)], x),
        "a method": lambda m: _of(lambda point: point.moved(x), m.Point(y)),
    }


def _jit_all(module: ModuleType) -> None:
    """Apply `np2tf.jit` also to functions that the translator would leave alone."""
    for owner, names in ((module, FUNCTIONS), (module.Point, ("moved",))):
        for name in names:
            setattr(owner, name, np2tf.jit(vars(owner)[name]))


def _differing(module: ModuleType, x: np.ndarray) -> Callable[[], Any]:
    return _cycling(module.taken, [module.Point(np.ones(2)) for _ in range(50)], x)


def _cycling(function: Callable[..., Any], values: list[Any], x: np.ndarray) -> Callable[[], Any]:
    from itertools import cycle

    following = cycle(values).__next__
    return lambda: function(following(), x)


def _imported(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("overhead_plain", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# -- the table -----------------------------------------------------------------------------------------------


def rows(size: int) -> Iterator[Row]:
    """Return all rows."""
    yield from operation_rows()
    yield from call_rows()
    yield from write_rows()
    yield from temporaries_row(size)
    yield from jitted_rows()


def show(row: Row, plain: float, ours: float) -> None:
    """Print one row."""
    extra = ours - plain
    goal = f"{row.goal:.2f} µs" if row.goal is not None else f"{SHARE:.0%}"
    missed = extra > row.goal if row.goal is not None else extra > SHARE * plain
    share = f"{extra / plain:+7.0%}"
    times = f"{plain:10.3f} {ours:10.3f} {extra * 1e3:9.0f}"
    print(f"{row.title:58} {times} {share} {goal:>9} {'*' if missed else ''}".rstrip())


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="What np2tf costs where NumPy does the work.")
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--only", default="", help="rows whose title contains this")
    parser.add_argument(
        "--size", type=int, default=1_000_000, help="the size of the arrays in the large expression"
    )
    options = parser.parse_args()
    print(f"{'':58} {'NumPy µs':>10} {'np2tf µs':>10} {'extra ns':>9} {'share':>7} {'goal':>9}")
    for row in rows(options.size):
        if options.only in row.title:
            plain, ours = best_of_both(row, options.rounds)
            show(row, plain, ours)


if __name__ == "__main__":
    main()
