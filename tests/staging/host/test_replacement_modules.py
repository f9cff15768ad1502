"""Loops outside of functions that go on as compiled code: names, effects and errors are as on NumPy."""

from __future__ import annotations

import contextlib
import io
import json
import subprocess
import sys
import textwrap
import traceback
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.fuzz.test_random_programs import _difference
from tests.helpers.differential import observe
from tests.helpers.random_programs import program
from tests.helpers.replacing import Taken, execute, imported, taken
from tests.helpers.selections import every_second
from tests.helpers.warm_python import warm_python

__all__ = ["taken"]
HEAD = "import numpy as np\n"
_SHOWN = (np.ndarray, np.generic, int, float, tuple, list, dict, str)
#: name -> a script, and whether one of its loops is taken over
ROWS = {
    "a stencil": (
        """
        n, steps = 8, 20
        u = np.zeros((n, n))
        u[2:4, 2:4] = 64.0
        other = u
        k = 0.25
        for step in range(steps):
            around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
            u[1:-1, 1:-1] = k * around
        same = other is u
        """,
        1,
    ),
    "two arrays change places": (
        """
        u, v = np.arange(7.0), np.zeros(7)
        first = u
        for step in range(21):
            v[1:-1] = (u[2:] + u[:-2]) / 2
            u, v = v, u
        same = first is u, first is v
        """,
        1,
    ),
    "while": (
        """
        x, rounds = np.arange(1.0, 5.0), 0
        while np.abs(x).max() > 1e-3:
            x = x / 2
            rounds += 1
        """,
        1,
    ),
    "within a test, and within another loop": (
        """
        total = 0
        if __name__ == "__main__":
            for i in range(3):
                x = np.ones(3)
                for j in range(9):
                    x = x * 2 + i
                    total += j
        """,
        1,
    ),
    "a function that knows none of its names": (
        """
        def twice(x, i):
            return 2 * x + i * dt

        dt = 0.5
        y = np.ones(3)
        for i in range(9):
            y = twice(y, i)
        """,
        1,
    ),
    "a function that reads one of its names": (
        """
        def twice():
            return 2 * y

        y = np.ones(3)
        for i in range(9):
            y = twice()
        """,
        0,
    ),
    "a function that binds one of its names": (
        """
        def count():
            global calls
            calls += 1

        calls, y = 0, np.ones(3)
        for i in range(9):
            y = y + calls
            calls = calls * 2
            count()
        """,
        0,
    ),
    "a function that reads an array that is written to": (
        """
        def total():
            return y.sum()

        y, s = np.ones(3), 0.0
        for i in range(9):
            y[i % 3] += i
            s += total()
        """,
        1,
    ),
    "a class, a lambda and a comprehension": (
        """
        class C:
            size = 3

        get = lambda: size
        size = 4
        y = np.ones(3)
        parts = [0.5 * k for k in range(3)]
        for i in range(9):
            y = y * size + sum([p * i for p in parts])
        """,
        1,
    ),
    "a lambda that reads one of its names": (
        """
        y = np.ones(3)
        get = lambda: y
        for i in range(9):
            y = y * 2 + get()
        """,
        0,
    ),
    "a view of what it writes": (
        """
        grid = np.zeros((4, 4))
        row = grid[1]
        for i in range(12):
            row[i % 4] += i
        """,
        1,
    ),
    "a view of what it writes, and that itself": (
        """
        grid = np.zeros((4, 4))
        row = grid[1]
        for i in range(12):
            row[i % 4] += i
            grid[2, i % 4] = row[0]
        """,
        0,
    ),
    "it prints": (
        """
        x = np.ones(2)
        for i in range(6):
            x = x * 2
            print(i, x[0])
        print("end")
        """,
        0,
    ),
    "it draws": (
        """
        rng = np.random.default_rng(3)
        np.random.seed(3)
        s = 0.0
        for i in range(20):
            s += rng.random()
        after = rng.random()
        """,
        1,
    ),
    "it breaks off": (
        """
        x = np.ones(3)
        for i in range(100):
            x = x * 1.5
            if x.sum() > 50:
                break
        else:
            x = None
        """,
        1,
    ),
    "it raises": (
        """
        x = np.zeros(7)
        for i in range(20):
            x[i] = i
            last = i
        """,
        1,
    ),
    "what it raises is handled": (
        """
        x = np.zeros(7)
        try:
            for i in range(20):
                x[i] = i
                last = i
        except IndexError as error:
            told = str(error)
        """,
        1,
    ),
    "a name that is bound in some rounds only": (
        """
        x = np.arange(3.0)
        for i in range(20):
            if x[i % 3] > 1.5:
                y = x[i % 3] + i
        """,
        1,
    ),
    "all names are asked for": (
        """
        x = np.ones(3)
        for i in range(20):
            x = x * 1.5
        known = "x" in globals()
        """,
        0,
    ),
    "a text of several lines": (
        '''
        x = np.ones(3)
        for i in range(20):
            x = x * len("""a
        b""")
        ''',
        0,
    ),
    "a list grows": (
        """
        x, history = np.ones(3), []
        for i in range(20):
            x = x * 1.5
            history.append(float(x[0]))
        """,
        0,
    ),
    "a dict is written to": (
        """
        x, seen = np.ones(3), {"last": 0.0}
        for i in range(20):
            x = x * 1.5
            seen["last"] = x[0]
        last = seen["last"]
        """,
        0,
    ),
    "an object changes": (
        """
        class Model:
            def __init__(self):
                self.u, self.t = np.ones(4), 0.0

            def step(self, dt):
                self.u = self.u + dt * self.u[::-1]
                self.t += dt

        model = Model()
        before = model.u
        for i in range(20):
            model.step(0.125)
        u, t, same = model.u, model.t, model.u is before
        """,
        1,
    ),
    "an array within another object is written to by a function": (
        """
        def relax(grids, k):
            grids[k % 2][1:-1] = grids[1 - k % 2][2:] * 0.5

        grids = [np.arange(5.0), np.ones(5)]
        first = grids[0]
        for k in range(20):
            relax(grids, k)
        second = grids[1]
        """,
        1,
    ),
    "over an array": (
        """
        y = 1.0
        times = np.linspace(0.0, 1.0, 21)
        for k, t in enumerate(times):
            y = y + t * times[k - 1]
        """,
        1,
    ),
    "it is written to by a function that knows it by name": (
        """
        def add(k):
            total[k % 3] += k

        total = np.zeros(3)
        last = 0
        for k in range(20):
            add(k)
            last = total[0]
        """,
        0,
    ),
    "an array is replaced where others hold it": (
        """
        u = np.arange(5.0)
        holders = [u]
        for k in range(20):
            u = u + 1
            holders[0][k % 5] = k
        held = holders[0]
        """,
        1,
    ),
    "no rounds are left": (
        """
        x = np.ones(3)
        for i in range(6):
            x = x * 1.5
        for i in range(0):
            x = None
        """,
        1,
    ),
}


def _run(
    source: str, translated: bool, raising: bool = False
) -> tuple[dict[str, Any], str, list[tuple[str, int]]]:
    """The variables of a script afterwards, what it printed, and the lines that an error came through."""
    names: dict[str, Any] = {"__name__": "__main__"}
    printed, told = io.StringIO(), []
    with contextlib.redirect_stdout(printed):
        try:
            if translated:
                execute(source, names)
            else:
                exec(compile(source, "/nowhere/plain.py", "exec"), names)
        except Exception as error:
            if raising:
                raise
            told = [
                (type(error).__name__, frame.lineno or 0)
                for frame in traceback.extract_tb(error.__traceback__)
                if "nowhere" in frame.filename
            ]
    kept = {
        name: value for name, value in names.items() if not name.startswith("_") and isinstance(value, _SHOWN)
    }
    return kept, printed.getvalue(), told


@pytest.mark.parametrize("name", ROWS)
def test_scripts(name: str, taken: Taken) -> None:
    script, over = ROWS[name]
    source = HEAD + textwrap.dedent(script)
    wanted, wanted_text, wanted_lines = _run(source, translated=False)
    found, found_text, found_lines = _run(source, translated=True)
    assert observe(lambda: found, ()).differs_from(observe(lambda: wanted, ())) is None
    assert (found_text, found_lines) == (wanted_text, wanted_lines)
    assert (taken.over > 0) == (over > 0), (taken.refused, taken.reasons)


def test_only_the_main_module_is_watched(taken: Taken) -> None:
    names = imported(f"{HEAD}x = np.ones(3)\nfor i in range(9):\n    x = x + i\n")
    assert names["x"].tolist() == [37.0] * 3
    assert not taken.over
    assert not taken.refused


SCRIPT = """
import numpy as np

u = np.zeros((8, 8))
u[3:5, 3:5] = 64.0
for step in range(40):
    u[1:-1, 1:-1] = (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) / 4
print(step, np.round(u.sum(), 6))
"""
#: np2tf run, with all loops hot after their first round; it tells how many have been taken over.
FORCED = """
import sys
from np2tf.cli.main import main
from np2tf.core.counts import counts
from np2tf.staging.host.replacement import LoopRun, WatchedLoop, is_possible
from np2tf.staging.tiers import constants
from np2tf.arrays.front import tensorflow_loading

tensorflow_loading.load()
take_over = LoopRun._take_over
constants.HOT_LOOP, constants.LOADING_ROUNDS, constants.SHORT_LOOP, constants.FASTER = 0.0, 0, 2, float("inf")
WatchedLoop._is_faster_compiled = False
LoopRun._pays = lambda *_: is_possible()
LoopRun._take_over = lambda rounds, frame, left: take_over(rounds, frame, 1e9)
try:
    main(["run", *sys.argv[1:]])
finally:
    print("taken over:", [one.line for one in counts.loops.values()], file=sys.stderr)
"""


@pytest.mark.parametrize("reporting", [False, True])
def test_np2tf_run_takes_over_a_loop_of_a_script(reporting: bool, tmp_path: Path) -> None:
    script, report = tmp_path / "heat.py", tmp_path / "report.json"
    script.write_text(SCRIPT, encoding="utf-8")
    options = ["--report", "json", "--report-file", str(report)] if reporting else []
    given: dict[str, Any] = {"capture_output": True, "text": True, "check": True}
    plain = subprocess.run([sys.executable, str(script)], **given)
    forced = subprocess.run([warm_python(), "-c", FORCED, *options, str(script)], **given)
    assert forced.stdout == plain.stdout
    assert "taken over: [6]" in forced.stderr
    if reporting:
        (told,) = json.loads(report.read_text(encoding="utf-8"))["loops"]
        assert (told["name"], told["path"], told["line"]) == ("<module>", str(script), 6)
        assert (told["times"], told["round"], told["rounds"], told["returned"]) == (1, 1, 39, 0)


def _as_script(source: str, call: str) -> str:
    """A program as a script: its function's body stands in the module."""
    head, _, signature_and_body = source.partition("def program(")
    given, _, body = signature_and_body.partition("):\n")
    lines = textwrap.dedent(body).splitlines()
    last = lines.pop().replace("return ", "result = ")
    return "\n".join([head, f"{given}, = {call},", *lines, last]) + "\n"


def _result(source: str, translated: bool) -> Any:
    return _run(source, translated, raising=True)[0]["result"]


@pytest.mark.parametrize("start", every_second(range(0, 60, 20)))
def test_random_programs_outside_of_functions(start: int, taken: Taken) -> None:
    for seed in range(start, start + 20):
        made = program(seed)
        for call in made.calls:
            source = _as_script(made.source, call)
            outcomes = []
            for translated in (False, True):
                outcomes.append(observe(partial(_result, source, translated), ()))
            problem = _difference(outcomes[1], outcomes[0], made, "compiled")
            assert problem is None, f"seed {seed}: {problem}\n{source}"
    assert taken.over
