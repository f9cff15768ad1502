"""Loops that go on as compiled code while they run: results, effects and errors are as on NumPy."""

from __future__ import annotations

import contextlib
import io
import json
import time
from typing import Any

import numpy as np
import pytest

from np2tf.cli.run_report import as_json, as_text
from np2tf.core.counts import counts
from np2tf.staging.host import replacement, watched_loops
from np2tf.staging.host import replacement as watching
from np2tf.staging.host.replacement import Balance
from np2tf.staging.host.watched_loops import LoopFunction
from np2tf.staging.tiers import constants
from np2tf.staging.tiers.clock import Stopwatch, clock
from np2tf.staging.watch import Watch
from tests.fuzz.test_random_programs import _difference
from tests.helpers.differential import arguments_of, load, observe
from tests.helpers.random_programs import program
from tests.helpers.replacing import Taken, imported, taken, way

__all__ = ["taken", "way"]
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
        "def f(x):\n    row = x[1]\n    for i in range(1, 8):\n        row[i] = row[i - 1] * 2\n    return x",
        "np.ones((3, 8))",
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
        0,
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


#: The same of `while` loops, loops that leave their function, and loops within `try`.
ROWS |= {
    "while": (
        "def f(x):\n    i = 0\n    while i < 40:\n        x = x * 1.01\n        i += 1\n    return x, i",
        "np.ones(3)",
        1,
    ),
    "while the test is one of arrays": (
        "def f(x):\n"
        "    rounds = 0\n"
        "    while np.abs(x).max() > 1e-3:\n"
        "        x = x / 2 + 0.0\n"
        "        rounds += 1\n"
        "    return x, rounds",
        "np.arange(1.0, 5.0)",
        1,
    ),
    "while True": (
        "def f(x):\n"
        "    n = 0\n"
        "    while True:\n"
        "        n += 1\n"
        "        if n % 3 == 0:\n"
        "            continue\n"
        "        x[n % 4] += n\n"
        "        if x.sum() > 300:\n"
        "            break\n"
        "    return x, n",
        "np.arange(4.0)",
        1,
    ),
    "a test that changes something": (
        "def f(x, seed):\n"
        "    rng = np.random.default_rng(seed)\n"
        "    s = 0.0\n"
        "    while (y := rng.random()) < 0.97:\n"
        "        s += y * x[0]\n"
        "    return s, y, rng.random()",
        "np.ones(3), 7",
        1,
    ),
    "a test of several lines": (
        "def f(x):\n"
        "    i = 0\n"
        "    while (\n"
        "        i < 30  # so many\n"
        "        and x[0] < 1e6\n"
        "    ):\n"
        "        # and so on\n"
        "        x = x + i\n"
        "        i += 1\n"
        "    return x, i",
        "np.ones(3)",
        1,
    ),
    "while loops within loops": (
        "def f(x):\n"
        "    total = 0\n"
        "    for i in range(4):\n"
        "        k = 0\n"
        "        while k < 20 + i:\n"
        "            x[i, k % 4] += x[k % 4, i] * 0.5 + k\n"
        "            k += 1\n"
        "        total += k\n"
        "    return x, total",
        "np.arange(16.0).reshape(4, 4)",
        2,
    ),
    "while, and it raises": (
        "def f(x):\n    i = 0\n    while True:\n        x[i] = np.sqrt(i)\n        i += 1\n    return x",
        "np.zeros(30)",
        1,
    ),
    "while, and it prints": (
        "def f(x):\n    while x[0] < 100:\n        x = x * 2\n        print('at', x[0])\n    return x",
        "np.ones(2)",
        0,
    ),
    "while, and two names change places": (
        "def f(x):\n"
        "    y, first, i = x + 1, x, 0\n"
        "    while i < 21:\n"
        "        x[1:-1] = (y[2:] + y[:-2]) / 2\n"
        "        x, y = y, x\n"
        "        i += 1\n"
        "    return x, y, first",
        "np.arange(7.0)",
        1,
    ),
    "while, and there is an else": (
        "def f(x):\n    i = 0\n    while i < 9:\n        i += 1\n    else:\n        x = x + i\n    return x",
        "np.ones(2)",
        0,
    ),
    "it returns": (
        "def f(x):\n"
        "    best = x\n"
        "    for i in range(100):\n"
        "        x = np.multiply(x, 1.1)\n"
        "        if x[0] > 40:\n"
        "            return best, i\n"
        "        best = x\n"
        "    return None",
        "np.ones(2)",
        1,
    ),
    "it returns only where it must": (
        "def f(x):\n"
        "    for i in range(60):\n"
        "        x = x + i\n"
        "        if x[0] < 0: return (\n"
        "            'never',\n"
        "            i)\n"
        "    return x",
        "np.ones(2)",
        1,
    ),
    "while, and it returns": (
        "def f(x):\n"
        "    i = 0\n"
        "    while True:\n"
        "        x = x * 1.1\n"
        "        i += 1\n"
        "        if x[0] > 40:\n"
        "            return x, i",
        "np.ones(2)",
        1,
    ),
    "an else after all rounds": (
        "def f(x):\n"
        "    for i in range(30):\n"
        "        x = x + i\n"
        "        if x[0] < 0:\n"
        "            break\n"
        "    else:\n"
        "        x = -x\n"
        "    return x, i",
        "np.ones(2)",
        1,
    ),
    "an else that is left out": (
        "def f(x):\n"
        "    for k in range(2):\n"
        "        for i in range(30):\n"
        "            x = np.add(x, i)\n"
        "            if x[0] > 99:\n"
        "                break\n"
        "        else:\n"
        "            x = -x\n"
        "            break\n"
        "    return x, i, k",
        "np.ones(2)",
        1,
    ),
    "an else that returns, and a return inside": (
        "def f(x):\n"
        "    for i in range(30):\n"
        "        x = x + i\n"
        "        if x[0] < 0:\n"
        "            return x, i\n"
        "        if x[0] > 1e6:\n"
        "            break\n"
        "    else:\n"
        "        return -x, i\n"
        "    return x, 0",
        "np.ones(2)",
        1,
    ),
    "what it raises is handled around it": (
        "def f(x):\n"
        "    seen = 0.0\n"
        "    try:\n"
        "        for i in range(40):\n"
        "            x[i] = np.abs(seen)\n"
        "            seen = seen + i\n"
        "    except IndexError as error:\n"
        "        return x, i, seen, str(error)",
        "np.zeros(27)",
        1,
    ),
    "what it raises is handled around it, and something is done at last": (
        "def f(x):\n"
        "    i = 0\n"
        "    try:\n"
        "        while True:\n"
        "            x[i] = np.sqrt(4.0)\n"
        "            i += 1\n"
        "    except IndexError:\n"
        "        x[0] = i\n"
        "    finally:\n"
        "        x[1] = i\n"
        "    return x",
        "np.zeros(27)",
        1,
    ),
    "what it raises is handled inside": (
        "def f(x):\n"
        "    wrong = 0\n"
        "    for i in range(40):\n"
        "        try:\n"
        "            x[i] = i\n"
        "        except IndexError:\n"
        "            wrong += 1\n"
        "    return x, wrong",
        "np.zeros(27)",
        1,
    ),
    "it breaks off in the last round": (
        "def f(x):\n"
        "    for i in range(30):\n"
        "        x = x + 1\n"
        "        if i == 29:\n"
        "            break\n"
        "    else:\n"
        "        x = -x\n"
        "    return x, i",
        "np.ones(2)",
        1,
    ),
    "over an array": (
        "def f(x):\n    s = 0.0\n    for v in x:\n        s += v * v\n    return s, v",
        "np.arange(9.0)",
        1,
    ),
    "over rows that are written to": (
        "def f(x):\n"
        "    s = 0.0\n"
        "    for row in x:\n"
        "        if row[0] > 3:\n"
        "            row[1:] = row[0] + s\n"
        "        s += row.sum()\n"
        "    return x, s",
        "np.arange(24.0).reshape(8, 3)",
        1,
    ),
    "over an array that is written to meanwhile": (
        "def f(x):\n"
        "    s = 0.0\n"
        "    for v in x:\n"
        "        x[-1 - int(s) % 3] += 2.0\n"
        "        s += v\n"
        "    return x, s",
        "np.arange(12.0)",
        1,
    ),
    "over an array that its name leaves": (
        "def f(x):\n    for v in x:\n        x = x * 0.5 + v\n    return x, v",
        "np.arange(12.0)",
        1,
    ),
    "enumerate": (
        "def f(x):\n    for i, v in enumerate(x):\n        x[-1 - i] = v + i\n    return x, i, v",
        "np.arange(12.0)",
        1,
    ),
    "enumerate, and zip": (
        "def f(x):\n"
        "    s = 0.0\n"
        "    for i, (a, b) in enumerate(\n"
        "        zip(x, x[::-1])\n"
        "    ):\n"
        "        # all of them\n"
        "        s += i * a - b\n"
        "    return s, a, b, i",
        "np.arange(12.0)",
        0,
    ),
    "zip of arrays of several lengths": (
        "def f(x, y):\n    s = 0.0\n    for a, b in zip(x, y):\n        s += a * b\n    return s, a, b",
        "np.arange(12.0), np.arange(9)",
        1,
    ),
    "zip, and it breaks off": (
        "def f(x, y):\n"
        "    s = 0.0\n"
        "    for a, b in zip(x, y):\n"
        "        s += a * b\n"
        "        if s > 50:\n"
        "            break\n"
        "    else:\n"
        "        s = -1.0\n"
        "    return s, a, b",
        "np.arange(12.0), np.arange(9)",
        1,
    ),
    "reversed": (
        "def f(x):\n    s = 1.0\n    for v in reversed(x):\n        s = s / 2 + v\n    return s, v",
        "np.arange(12.0)",
        1,
    ),
    "over an array, and it raises": (
        "def f(x, y):\n"
        "    i = 0\n"
        "    try:\n"
        "        for v in x:\n"
        "            y[i] = np.abs(v)\n"
        "            i += 1\n"
        "    except IndexError:\n"
        "        return y, v, i",
        "np.arange(30.0), np.zeros(17)",
        1,
    ),
    "over a list": (
        "def f(x):\n    s = 0.0\n    for v in [1.0, 2.0, 3.0] * 3:\n        s += v * x[0]\n    return s",
        "np.ones(2)",
        0,
    ),
    "over what has begun": (
        "def f(x):\n    s, rest = 0.0, iter(x)\n    next(rest)\n    for i, v in enumerate(rest):\n"
        "        s += v * np.sqrt(i)\n    return s",
        "np.arange(9.0)",
        0,
    ),
    "other variables are asked for": (
        "def f(x):\n    for i in range(9):\n        x = x + 1\n    return x, sorted(locals())",
        "np.ones(2)",
        0,
    ),
}


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("name", ROWS)
def test_loops_that_are_taken_over(name: str, taken: Taken) -> None:
    source, given, over = ROWS[name]
    wanted, found = [], []
    for functions, outcomes in ((load(HEAD + source), wanted), (imported(HEAD + source + "\n"), found)):
        for _ in range(2):
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                outcomes.append((observe(functions["f"], arguments_of(given)), printed.getvalue()))
    for (translated_outcome, mine_printed), (numpy_outcome, theirs_printed) in zip(
        found, wanted, strict=True
    ):
        assert translated_outcome.differs_from(numpy_outcome) is None
        assert mine_printed == theirs_printed
    assert (taken.over > 0) == (over > 0)


#: Of 80 programs, 20 run with the other tests, and all 80 with `-m long`.
STARTS = [0, *(pytest.param(start, marks=pytest.mark.long) for start in range(20, 80, 20))]


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("start", STARTS)
def test_loops_of_random_programs(start: int, taken: Taken) -> None:
    for seed in range(start, start + 20):
        made = program(seed)
        reference, function = load(made.source)["program"], imported(made.source)["program"]
        wanted = [observe(reference, arguments_of(call)) for call in made.calls]
        for call, numpy_outcome in zip(made.calls, wanted, strict=True):
            translated_outcome = observe(function, arguments_of(call))
            problem = _difference(translated_outcome, numpy_outcome, made, "compiled")
            assert problem is None, f"seed {seed}: {problem}\n{made.source}\n{made.calls}"
    assert taken.over


#: name -> the head of a loop, and statements at its end
HEADS = {
    "range": ("for i in range(50000):", ""),
    "while": ("while i < 49999:", "i += 1"),
    "array": ("for i in numbers:", ""),
    "enumerate": ("for i, v in enumerate(numbers):", "last = v"),
    "zip": ("for v, i in zip(numbers, numbers):", "last = v"),
    "reversed": ("for i in reversed(numbers):", ""),
}


@pytest.mark.parametrize("name", HEADS)
def test_what_is_slower_compiled_ends_on_the_host(
    name: str, taken: Taken, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(constants, "FASTER", 0.0)
    head, end = HEADS[name]
    body = (
        f"    i, last = 0, 0\n    {head}\n        x[1] += i % 7\n        x[0] += 1\n        {end or 'pass'}\n"
    )
    source = f"{HEAD}def f(x, numbers):\n{body}    return x, i, last\n"
    f, plain = imported(source)["f"], load(source)["f"]
    for over in (1, 2, 2):  # the second comparison decides
        numbers = np.arange(50000)
        found, wanted = (g(np.zeros(2), numbers) for g in (f, plain))
        np.testing.assert_array_equal(found[0], wanted[0])
        assert (found[1:], type(found[1])) == (wanted[1:], type(wanted[1]))
        assert taken.over == over
    (loop,) = (
        watched for key, watched in watched_loops.loops.items() if key.startswith(f.__code__.co_filename)
    )
    assert loop.refused


def test_a_loop_is_compared_again_after_a_while() -> None:
    """The longer it has run, the more seldom; an iteration on the host may take long."""
    for per_round in (1e-4, 0.03, 4.0):
        balance, reviews, host = Balance(), 0, 0.0
        for _ in range(4000):
            balance.note(rounds=1, seconds=0.1, at_exit=False)
            rounds = balance.rounds_to_compare(per_round)
            reviews += rounds > 0
            host += rounds * per_round
        assert 2 <= reviews <= 10
        assert host <= 400.0 / constants.REVIEW_LOOP_FACTOR
    balance.note(rounds=10, seconds=1.0, at_exit=False)
    assert balance.is_lost(0.1)
    balance.note(rounds=10, seconds=1.0, at_exit=False)
    assert not balance.is_lost(0.2)


def test_a_range_that_nobody_can_count() -> None:
    body = "def f(x):\n    for i in range(10**20):\n        x = x + i\n        if i == 40:\n"
    body += "            return x, i\n"
    assert imported(HEAD + body)["f"](np.ones(1))[1] == 40
    body = body.replace("return x, i", "break\n    return x, i")
    assert imported(HEAD + body)["f"](np.ones(1))[1] == 40


def test_a_fault_of_the_translator_breaks_nothing(taken: Taken, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("np2tf.loading.functions.staged_versions.block_of_loop", lambda *_: 1 / 0)
    f = imported(f"{HEAD}def f(x):\n    for i in range(20):\n        x = x + i\n    return x\n")["f"]
    np.testing.assert_array_equal(f(np.zeros(2)), [190.0, 190.0])
    assert (taken.over, taken.refused) == (0, 1)
    told = [fallback for fallback in counts.fallbacks if fallback.code == "NP2TF905"]
    assert told[-1].line == 5


def test_loops_that_take_no_time_are_not_watched() -> None:
    f = imported(f"{HEAD}def f(x):\n    for i in range(100):\n        x = x + i\n    return x\n")["f"]
    f(np.ones(3))
    loop = watched_loops.loops[_key(f)]
    assert 0.0 < loop.per_round < 1e-3
    assert watching.watch(range(100), loop.function.key) == (range(100),)


def test_the_first_iteration_does_not_say_how_long_the_others_take(monkeypatch: pytest.MonkeyPatch) -> None:
    """It also loads modules and makes caches: a loop would be compiled for time that is not left."""
    left: list[float] = []
    monkeypatch.setattr(replacement.LoopRun, "_pays", lambda *given: bool(left.append(given[2])))
    names = imported(
        f"{HEAD}def f(x, wait):\n    for i in range(400):\n        x = x + wait(i)\n    return x\n"
    )

    def wait(i: int) -> int:
        begun = time.thread_time()
        while i == 0 and time.thread_time() - begun < 0.2:
            pass
        return i

    names["f"](np.ones(3), wait)
    assert left
    assert max(left) < 20.0  # 400 iterations like the first would take 80 s


def _key(function: Any) -> str:
    """The key of a function's loop: the loop is in the function's second line, the fifth line of its file."""
    return f"{function.__code__.co_filename}:5:4"


def test_errors_name_the_line_of_the_source(taken: Taken) -> None:
    f = imported(f"{HEAD}def f(x):\n    for i in range(20):\n        x[i] = i\n    return x\n")["f"]
    with pytest.raises(IndexError) as caught:
        f(np.zeros(7))
    assert [entry.lineno + 1 for entry in caught.traceback if "nowhere" in str(entry.path)][-1] == 6


def test_compiling_is_no_time_of_a_loop_on_the_host() -> None:
    """A round may compile the functions that it calls: that time is no part of the loop's time per round."""
    stopwatch = Stopwatch()
    clock.compile_seconds += 60.0
    assert 0.0 <= stopwatch.seconds < 1.0
    known = LoopFunction("key", "name", "of", "", (1,), (), (), "range", tells=False)
    loop = watched_loops.WatchedLoop(known, (lambda: None).__code__)
    for k in next(iter(replacement.LoopRun(range(20), loop, ()))):
        clock.compile_seconds += 10.0 if k == 3 else 0.0
    assert 0.0 <= loop.per_round < 0.1


def test_a_report_tells_of_loops(taken: Taken) -> None:
    source = f"{HEAD}def f(x):\n    for i in range(400):\n        x = x + i\n    return x\n"
    source += (
        "\n\ndef g(x):\n    i = 0\n    while i < 40:\n        x = np.sqrt(x)\n        i += 1\n    return\n"
    )
    names = imported(source)
    watch = Watch()
    try:
        for _ in range(2):
            names["f"](np.ones(3))
            names["g"](np.ones(3))
    finally:
        report = watch.stop()
    told = [(loop.name, loop.line, loop.times, loop.round) for loop in report.loops]
    assert told == [("f", 5, 2, 1), ("g", 12, 2, 1)]
    assert report.loops[0].rounds == 2 * 399
    data = json.loads(as_json(report))["loops"]
    assert [loop["path"] for loop in data] == [names["f"].__code__.co_filename] * 2
    assert all(loop["compiled"] > 0.0 and loop["compiling"] > 0.0 for loop in data)
    assert "Loops that continued as compiled code:" in as_text(report)
    assert f"{data[0]['path']}:5  f: from iteration 1 on" in as_text(report)
    (function,) = (function for function in report.functions if function.name == "f")
    assert function.host.calls == 2
    accounts = {account.line: account for account in report.accounts if account.path == data[0]["path"]}
    assert accounts.keys() == {5, 12}
    assert all(account.spent > 0.0 for account in accounts.values())


def test_a_function_without_hot_loops_tells_a_report_of_its_operations() -> None:
    """Nothing is known of operations in code with watched loops, so that runs only where it may be of use."""
    f = imported(f"{HEAD}def f(x):\n    for i in range(40):\n        x = np.sqrt(x)\n    return x\n")["f"]
    watch = Watch(of_operations=True)
    try:
        for _ in range(3):
            f(np.ones(3))
    finally:
        report = watch.stop()
    assert not report.loops
    assert {place.name: place.calls for place in report.places.values()} == {"sqrt": 80}


def test_a_loop_that_waits_does_not_pay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seconds in which the processor does something else could not be saved."""
    told = []
    monkeypatch.setattr(replacement.LoopRun, "_pays", lambda *given: told.append(given[2]))
    source = f"{HEAD}import time\n\n\ndef f(x):\n    for i in range(20):\n        time.sleep(0.01)\n"
    imported(f"{source}        x = np.sqrt(x)\n    print(end='')\n    return None\n")["f"](np.ones(3))
    assert told
    assert max(told) < 0.1
