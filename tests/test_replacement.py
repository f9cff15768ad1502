"""Loops that go on as compiled code while they run: the results, effects and errors are those of NumPy."""

from __future__ import annotations

import contextlib
import io
import linecache
from collections.abc import Iterator
from itertools import count
from typing import Any

import numpy as np
import pytest
from differential import arguments_of, load, observe
from random_programs import program
from test_random_programs import _difference

import np2tf
from np2tf.counts import counts
from np2tf.imports.translation import translation_of
from np2tf.options import Options
from np2tf.runtime import boundary, originals, replacement
from np2tf.runtime.clock import Stopwatch, clock
from np2tf.runtime.loop_function import LoopFunction
from np2tf.tnp import loading

_numbers = count()


class Taken:
    """How many loops have gone on as compiled code, and how many could not."""

    def __init__(self) -> None:
        self.over = self.refused = 0


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> Iterator[Taken]:
    """Every loop is hot after its first round, and none is too slow."""
    loading.load()
    found = Taken()
    take_over = replacement.Rounds._is_taken_over

    def counted(rounds: Any, frame: Any, left: float) -> bool:
        taken_over = take_over(rounds, frame, 1e9)
        found.over += taken_over
        found.refused += not taken_over
        return taken_over

    monkeypatch.setattr(replacement.Rounds, "_is_taken_over", counted)
    monkeypatch.setattr(replacement.Rounds, "_pays", lambda *_: replacement._is_possible())
    for name, value in (("HOT", 0.0), ("SHORT", 2), ("FASTER", float("inf"))):
        monkeypatch.setattr(replacement, name, value)
    with np2tf.config.using(tier="auto"):
        yield found


def imported(source: str) -> dict[str, Any]:
    """The globals of a module that is imported translated."""
    path = f"/nowhere/replaced_{next(_numbers)}.py"
    linecache.cache[path] = len(source), None, source.splitlines(keepends=True), path
    made = translation_of(source.encode(), path, Options(everything=True))
    names: dict[str, Any] = {**boundary.NAMES, "__name__": "replaced"}
    originals.add(made.originals, names)
    exec(made.code or compile(source, path, "exec"), names)
    return names


HEAD = "import numpy as np\n\n\n"
#: name -> a function f, its arguments, and how many of its loops are taken over
ROWS = {
    "a sum": (
        "def f(x):\n    s = 0.0\n    for i in range(len(x)):\n        s += x[i]\n    return s",
        "np.arange(9.0)",
        1,
    ),
    "the last number is read behind the loop": (
        "def f(x):\n    for i in range(3, 20):\n        x = x * 1.5\n    return x, i",
        "np.ones(3)",
        1,
    ),
    "steps": (
        "def f(x):\n    for i in range(20, 2, -3):\n        x = x * 1.5 + i\n    return x, i",
        "np.ones(3)",
        1,
    ),
    "the argument is written to": (
        "def f(x):\n    for i in range(1, len(x)):\n        x[i] += x[i - 1]\n    return x",
        "np.arange(12.0)",
        1,
    ),
    "a view is written to": (
        "def f(x):\n    row = x[1]\n    for i in range(1, 4):\n        row[i] = row[i - 1] * 2\n    return x",
        "np.ones((3, 4))",
        1,
    ),
    "it breaks off": (
        "def f(x):\n"
        "    for i in range(100):\n"
        "        x = x * 1.5\n"
        "        if x.sum() > 50:\n"
        "            break\n"
        "    return x, i",
        "np.ones(3)",
        1,
    ),
    "some rounds are skipped": (
        "def f(x):\n"
        "    s = 0.0\n"
        "    for i in range(30):\n"
        "        if i % 3 == 0:\n"
        "            continue\n"
        "        s = s + x[i % 4]\n"
        "    return s",
        "np.arange(4.0)",
        1,
    ),
    "loops within loops": (
        "def f(x):\n"
        "    for i in range(len(x)):\n"
        "        for j in range(len(x)):\n"
        "            x[i, j] += x[j, i] * 0.5\n"
        "    return x",
        "np.arange(16.0).reshape(4, 4)",
        2,
    ),
    "it raises": (
        "def f(x):\n    for i in range(20):\n        x[i] = i\n    return x",
        "np.zeros(7)",
        1,
    ),
    "it raises by itself": (
        "def f(x):\n"
        "    for i in range(20):\n"
        "        x = x - 1.0\n"
        "        if x.sum() < 0:\n"
        "            raise ValueError(f'below zero')\n"
        "    return x",
        "np.full(3, 5.0)",
        1,
    ),
    "it prints": (
        "def f(x):\n    for i in range(6):\n        x = x * 2\n        print(i, x[0])\n    return x",
        "np.ones(2)",
        1,
    ),
    "it draws": (
        "def f(x, seed):\n"
        "    rng = np.random.default_rng(seed)\n"
        "    s = 0.0\n"
        "    for i in range(20):\n"
        "        s += rng.random() * x[i % 3]\n"
        "    return s, rng.random()",
        "np.ones(3), 7",
        1,
    ),
    "an attribute changes": (
        "class C:\n"
        "    def __init__(self, x):\n"
        "        self.x, self.k = x, 0\n"
        "\n"
        "    def run(self):\n"
        "        for i in range(9):\n"
        "            self.x = self.x * 1.5\n"
        "            self.k += 1\n"
        "        return self.x\n"
        "\n"
        "\n"
        "def f(x):\n"
        "    c = C(x)\n"
        "    return c.run(), c.k, c.x",
        "np.ones(3)",
        1,
    ),
    "a list is made longer, which stays on the host": (
        "def f(x):\n"
        "    found = []\n"
        "    for i in range(90):\n"
        "        x = x * 1.01\n"
        "        found.append(x.sum())\n"
        "    return found",
        "np.ones(3)",
        0,
    ),
    "a variable that is bound in some rounds only": (
        "def f(x):\n"
        "    for i in range(20):\n"
        "        if x[i % 3] > 1.5:\n"
        "            y = x[i % 3]\n"
        "    return y",
        "np.arange(3.0)",
        1,
    ),
    "a variable that an inner function keeps": (
        "def f(x):\n"
        "    s = 0.0\n"
        "    g = lambda: s\n"
        "    for i in range(9):\n"
        "        s = s + x[i % 3]\n"
        "    return s, g()",
        "np.arange(3.0)",
        0,
    ),
    "an integer that is a shape": (
        "def f(x):\n    n = 3\n    for i in range(9):\n        x = x + np.ones(n)\n    return x",
        "np.arange(3.0)",
        1,
    ),
    "the dtype changes": (
        "def f(x):\n    for i in range(9):\n        x = x / 2\n    return x",
        "np.arange(3)",
        1,
    ),
    "two names of one array": (
        "def f(x):\n    y = x\n    for i in range(9):\n        y[i % 3] += x[0] + 1.0\n    return x, y",
        "np.arange(3.0)",
        1,
    ),
}


@pytest.mark.parametrize("name", ROWS)
def test_loops_that_are_taken_over(name: str, taken: Taken) -> None:
    source, given, over = ROWS[name]
    wanted, found = [], []
    for functions, outcomes in ((load(HEAD + source), wanted), (imported(HEAD + source + "\n"), found)):
        for _ in range(2):
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                outcomes.append((observe(functions["f"], arguments_of(given)), printed.getvalue()))
    for (mine, mine_printed), (theirs, theirs_printed) in zip(found, wanted, strict=True):
        assert mine.differs_from(theirs) is None
        assert mine_printed == theirs_printed
    assert (taken.over > 0) == (over > 0)


@pytest.mark.parametrize("start", range(0, 80, 20))
def test_loops_of_random_programs(start: int, taken: Taken) -> None:
    for seed in range(start, start + 20):
        made = program(seed)
        reference, function = load(made.source)["program"], imported(made.source)["program"]
        wanted = [observe(reference, arguments_of(call)) for call in made.calls]
        for call, theirs in zip(made.calls, wanted, strict=True):
            mine = observe(function, arguments_of(call))
            problem = _difference(mine, theirs, made, "compiled")
            assert problem is None, f"seed {seed}: {problem}\n{made.source}\n{made.calls}"
    assert taken.over


def test_what_is_slower_compiled_ends_on_the_host(taken: Taken, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replacement, "FASTER", 0.0)
    f = imported(f"{HEAD}def f(x):\n    for i in range(50000):\n        x = x + i\n    return x\n")["f"]
    np.testing.assert_array_equal(f(np.ones(3)), np.full(3, 1.0 + sum(range(50000))))
    assert taken.over == 1
    assert replacement._loops[_key(f)].refused
    np.testing.assert_array_equal(f(np.ones(3)), np.full(3, 1.0 + sum(range(50000))))
    assert taken.over == 1


def test_a_range_that_nobody_can_count() -> None:
    body = "def f(x):\n    for i in range(10**20):\n        x = x + i\n        if i == 40:\n"
    body += "            return x, i\n"
    assert imported(HEAD + body)["f"](np.ones(1))[1] == 40
    body = body.replace("return x, i", "break\n    return x, i")
    assert imported(HEAD + body)["f"](np.ones(1))[1] == 40


def test_a_fault_of_the_translator_breaks_nothing(taken: Taken, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("np2tf.imports.callees.block_of_loop", lambda *_: 1 / 0)
    f = imported(f"{HEAD}def f(x):\n    for i in range(20):\n        x = x + i\n    return x\n")["f"]
    np.testing.assert_array_equal(f(np.zeros(2)), [190.0, 190.0])
    assert (taken.over, taken.refused) == (0, 1)
    told = [one for one in counts.fallbacks if one.code == "NP2TF905"]
    assert told[-1].line == 5


def test_loops_that_take_no_time_are_not_watched() -> None:
    f = imported(f"{HEAD}def f(x):\n    for i in range(100):\n        x = x + i\n    return x\n")["f"]
    f(np.ones(3))
    loop = replacement._loops[_key(f)]
    assert 0.0 < loop.per_round < 1e-3
    assert replacement.watch(range(100), loop.known.key) == range(100)


def _key(function: Any) -> str:
    """What the loop of a function is known by that begins in its second line, the fifth of its file."""
    return f"{function.__code__.co_filename}:5:4"


def test_errors_name_the_line_of_the_source(taken: Taken) -> None:
    f = imported(f"{HEAD}def f(x):\n    for i in range(20):\n        x[i] = i\n    return x\n")["f"]
    with pytest.raises(IndexError) as caught:
        f(np.zeros(7))
    assert [entry.lineno + 1 for entry in caught.traceback if "nowhere" in str(entry.path)][-1] == 6


def test_compiling_is_no_time_of_a_loop_on_the_host() -> None:
    """What a round calls may be compiled meanwhile: the loop is no longer for it."""
    stopwatch = Stopwatch()
    clock.compiling += 60.0
    assert 0.0 <= stopwatch.seconds < 1.0
    known = LoopFunction("key", "name", "of", "", 0, (), (), has_step=False, breaks=False)
    loop = replacement._Loop(known, (lambda: None).__code__)
    for k in replacement.Rounds(range(20), loop):
        clock.compiling += 10.0 if k == 3 else 0.0
    assert 0.0 <= loop.per_round < 0.1
