"""Loops with statements that only Python can run, in every iteration: the rest is compiled, part by part."""

from __future__ import annotations

import ast
import random
import traceback
from typing import Any

import numpy as np
import pytest

from np2tf.loading.loops.array_work import ArrayWork
from np2tf.loading.loops.loop_functions import loops_of
from tests.helpers.differential import load
from tests.helpers.replacing import Taken, cut, execute, imported, taken
from tests.staging.host.test_side_exits import _compare, _source

__all__ = ["cut", "taken"]
GIVEN = "np.array([1.0, 2.0, 3.0])"
HELPERS = """
class Track(list):
    pass


class Counter:
    def __init__(self):
        self.u = np.ones(3)
        self.steps = 0

    def step(self, x):
        self.u = self.u * 0.5 + np.sin(x) * 0.25
        self.steps += 1
        return self.u + x


def force(x):
    return np.sin(x) - 0.25 * x


def push(x, a):
    x[1:] += 0.125 * a[:-1]
    x[0] = a[-1] * 0.5


def evaluate(text):
    return eval(text, {}, sys._getframe(1).f_locals)


"""
#: name -> the body of f(x), which tells what it does by `tell`
ROWS = {
    "the last statement": """
        for k in range(30):
            v = np.sin(x) * 0.5 + k
            x = x * 0.9 + v * 0.125
            tell(k, x, v.sum())
        return x, k
        """,
    "the first statement": """
        for k in range(30):
            tell(k, x)
            x = np.sin(x) * 0.5 + np.cos(x + k)
        return x, k
        """,
    "between two parts": """
        total = 0.0
        for k in range(30):
            y = force(x) * 0.5 + x
            total += y.sum() * 0.125
            tell(k, y, total)
            x = force(y) * 0.25 + y
            total = total * 0.5 + x[0]
        return x, y, total
        """,
    "prints": """
        for k in range(30):
            x = force(x) * 0.5 + x * 0.75
            print(k, round(float(x[0]), 6))
        return x
        """,
    "what Python binds is read by the next part": """
        for k in range(30):
            y = x * 0.5 + force(x)
            factor = float(f"{k % 3}.5") * 0.125
            tell(k, y, factor)
            x = y * factor + force(y) * 0.5
        return x, factor
        """,
    "a while": """
        t = 0.0
        while t < 2.0:
            dt = 0.0625 + 0.001 * np.max(np.abs(x))
            x = x + dt * force(x)
            t += dt
            tell(t, x)
        return x, t, dt
        """,
    "Python writes to the arrays between two parts": """
        y = x.copy()
        for k in range(30):
            y[:2] = x[1:] * 0.5 + y[:2] * 0.25
            tell(k, y)
            y.view()[2] = 1.0 + k
            setattr(y, "shape", (3,))
            x = force(y) * 0.5 + x * 0.75
        return x, y
        """,
    "a function of the program writes to its arguments": """
        v = np.zeros(3)
        for k in range(30):
            push(x, v)
            v += force(x) * 0.5
            push(v, x)
            tell(k, x, v)
        return x, v
        """,
    "the arrays that Python keeps": """
        kept = Track()
        for k in range(20):
            y = x + force(x) * 0.5
            x += y * 0.125 + 0.25
            kept.append(x)
            kept.append(y)
            x = x * 0.5 + y * 0.25 + force(y)
        return list(kept), x, y
        """,
    "an array that only some iterations replace": """
        kept = Track()
        for k in range(20):
            kept.append(x)
            if k % 5 == 2:
                x = x * 0.5 + force(x) * 0.25
            tell(k, x)
            x[1:] += x[:-1] * 0.5 + 0.25
            x[0] = x[1] * 0.5 - x[2] * 0.25
        return len({id(array) for array in kept}), list(kept), x
        """,
    "a name that only some iterations bind": """
        for k in range(30):
            x = x * 0.75 + force(x)
            if k > 4:
                y = x * 0.5 + force(x) * 0.25
            tell(k, x)
            if k > 6:
                tell(y)
        return x, y
        """,
    "a name that has no value yet": """
        for k in range(20):
            if k > 0:
                x = x + 0.25 * old + force(old)
            old = x * 0.5 + force(x) * 0.25
            tell(k, x)
        return x, old
        """,
    "break": """
        for k in range(100):
            x = x * 1.0625 + force(x) * 0.25 + 0.125
            tell(k, x)
            if x.sum() > 20:
                break
            x = x * 1.03125 + force(x) * 0.125
        else:
            tell("never")
        return x, k
        """,
    "continue, and else": """
        for k in range(30):
            x = x * 0.9375 + force(x) * 0.25
            tell(k, x)
            if k % 3 == 1:
                continue
            x = x + force(x) * 0.125 - 0.25
        else:
            tell("over", x)
        return x, k
        """,
    "return": """
        for k in range(60):
            x = x * 1.0625 + force(x) * 0.25 + 0.125
            tell(k, x)
            if x.sum() > 20:
                return x, k
        return x
        """,
    "side exits that are always taken": """
        show = True
        for k in range(30):
            v = np.sin(x) * 0.5 + k
            x = x * 0.9 + v * 0.125
            if show or k == 29:
                tell(k, x, v.sum())
        return x, k
        """,
    "side exits and effects": """
        for k in range(60):
            x = x * 0.9 + force(x) * 0.25
            if k % 20 == 7:
                tell("seldom", k, x)
                x = x * 0.5
            y = force(x) * 0.5 + x * 0.25
            tell(k, y)
            x = x + y * 0.25 + force(y)
        return x, y
        """,
    "loops in a part": """
        for k in range(20):
            for j in range(3):
                x[j] = x[j] * 0.5 + x[j - 1] * 0.25 + k
            tell(k, j, x)
        return x, j
        """,
    "loops within loops": """
        for k in range(6):
            for j in range(20):
                x = x * 0.9375 + force(x) * 0.25
                tell(k, j, x)
            x = x - force(x) * 0.5 + 0.125
            tell(k, x)
        return x, j
        """,
    "with and try": """
        for k in range(30):
            x = x * 0.9375 + force(x) * 0.25
            with np.errstate(all="ignore"):
                tell(k, x)
            try:
                y = x * 0.5 + force(x) * 0.125
                tell(k, [][k])
            except IndexError:
                tell("none")
            x = x + force(y) * 0.125 - y * 0.25
        return x, y
        """,
    "an object": """
        counter = Counter()
        for k in range(20):
            x = counter.step(x) * 0.5 + force(x)
            tell(k, x, counter.steps, counter.u)
        return x, counter.u, counter.steps
        """,
    "draws": """
        rng = np.random.default_rng(3)
        for k in range(30):
            x = x * 0.5 + rng.random(3) + force(x)
            tell(k, x, rng.integers(9))
        return x, rng.random()
        """,
    "numbers of several types": """
        count, share, flag = 0, np.float32(0.5), False
        for k in range(30):
            count += int(x[0] > 0.5) * 2 + 1
            share = share * np.float32(0.5) + np.float32(k)
            flag = bool(x.sum() > k * 0.5)
            x = x * 0.5 + force(x) * 0.125 + share % 2
            tell(k, x, count, share, flag)
        return x, count, share, flag
        """,
    "an array that grows": """
        for k in range(12):
            x = np.concatenate((x * 0.5 + force(x), [k * 0.5]))
            tell(k, x)
        return x
        """,
    "a variable that a text names": """
        for k in range(20):
            y = force(x) * 0.5 + x * 0.25
            x = y * 0.75 + force(y) * 0.125
            tell(k, evaluate("2.0 * y + x"))
        return x
        """,
    "items of an array": """
        table = np.arange(30.0).reshape(10, 3)
        for k, row in enumerate(table):
            x = x * 0.5 + force(row) * 0.25 + row
            tell(k, x, row)
        return x, row
        """,
    "several statements in a line": """
        for k in range(20):
            x = x * 0.5 + force(x) * 0.25; tell(k, x)
            y = x * 0.5 + force(x) * 0.25
            x = (
                y * 0.5  # a part
                + force(y) * 0.25
            )
            tell(k, y); x = x * 0.5 + force(x) * 0.125
        return x
        """,
}
#: Loops whose parts cannot be compiled, because their arrays share memory.
SHARED = {
    "a view of an array that is written to": """
        inner = x[1:]
        for k in range(30):
            inner += force(inner) * 0.125
            x[0] = x[1] * 0.5 + x[2] * 0.25
            tell(k, x, inner)
        return x, inner
        """,
    "two names of one array": """
        y = x
        for k in range(20):
            x += force(y) * 0.125 + 0.5
            y = x
            tell(k, x is y, x)
            if k % 5 == 4:
                x = x.copy()
        return x, y
        """,
}
#: Loops without parts that could be compiled by themselves.
NOT_CUT = {
    "nothing that takes long": """
        for k in range(20):
            x = x + 1
            tell(k, x)
        return x
        """,
    "a lambda over what the loop binds": """
        for k in range(20):
            y = x * 0.5 + force(x) * 0.25
            tell(k, (lambda: y + 1)())
            x = y * 0.5 + force(y) * 0.25
        return x
        """,
    "del": """
        for k in range(20):
            y = x * 0.5 + force(x) * 0.25
            tell(k, y)
            x = y * 0.5 + force(y) * 0.25
            del y
        return x
        """,
    "locals()": """
        for k in range(20):
            y = x * 0.5 + force(x) * 0.25
            tell(k, locals()["y"])
            x = y * 0.5 + force(y) * 0.25
        return x
        """,
    "a generator": """
        def steps(x):
            for k in range(20):
                x = x * 0.5 + force(x) * 0.25
                tell(k, x)
                yield x
        return list(steps(x))
        """,
}


def _program(body: str) -> str:
    source = _source(body).replace("def f(x)", HELPERS + "def f(x)")
    return source.replace("class Track(list):\n    pass\n\n\n", "", 1)


@pytest.mark.parametrize("name", ROWS)
def test_regions(name: str, cut: Taken) -> None:
    """Results, effects, their order, names and errors are as on NumPy, and parts of the loop are compiled."""
    _compare(_program(ROWS[name]), GIVEN)
    assert cut.regions > 9


@pytest.mark.parametrize("name", [*NOT_CUT, *SHARED])
def test_loops_that_are_not_cut(name: str, cut: Taken) -> None:
    """What cannot be done right stays as it is."""
    _compare(_program({**NOT_CUT, **SHARED}[name]), GIVEN)
    assert not cut.regions


_STATEMENTS = (
    "x = x * 0.75 + np.sin(x) * 0.25 + k * 0.0625",
    "y = x + s * 0.5 - np.cos(y)",
    "s = s * 0.5 + float(y[0]) * 0.25 + 1.0",
    "y[k % 3] += 0.25 * x[0] + 0.125",
    "x = np.where(y > s, x * 0.5, -x + 1)",
    "if k % 5 == 2: x = x + y * 0.5 - force(x)",
    "flag = bool(s > 1.0 + k * 0.0625)",
    "kind = k % 3; x = x + kind * 0.5 - force(y)",
    "x += 0.0625 * y + 0.5; x = x % 4.0",
    "y *= 0.5; y = np.roll(y, 1) + x * 0.125",
    "x[1:] = x[:-1] * 0.5 + y[1:] * 0.25",
    "row = x[1:]; row += y[:-1] * 0.125 + 0.25",
    "for j in range(3): y[j] = y[j] * 0.5 + x[j - 1] * 0.25",
    "push(x, y)",
)
_EFFECTS = (
    "tell(k, x, s)",
    "tell(k, y); y = x * 0.5",
    "kept.append(x)",
    "print(k, kind)",
    "if k % 4 == 1: tell(k, x, s)",
    "if k % 7 == 6: continue",
    "if s > 1e3 or k > 30: tell('over'); break",
    "mark = tell(flag, s) or k; s = s + mark * 0.0625",
    "x = kept[-1] if kept else x",
    "tell(row if k > 0 else None and row, x)",
)


def _random_loop(seed: int) -> str:
    choice = random.Random(seed)
    body = choice.choices(_STATEMENTS, k=choice.randint(3, 8))
    for statement in choice.sample(_EFFECTS, choice.randint(1, 4)):
        body.insert(choice.randint(0, len(body)), statement)
    body.insert(choice.randint(0, len(body)), "tell(k, x)")
    is_while = choice.random() < 0.4
    head = "    k = -1\n    while k < 20:\n        k += 1\n" if is_while else "    for k in range(21):\n"
    lines = "".join(f"        {statement}\n" for statement in body)
    begin = "    y, s, flag, kind, mark, kept, row, j = x.copy(), 0.5, None, -1, 0, Track(), x[:1], 0\n"
    end = "    return x, y, s, k, flag, kind, mark, list(kept), row, j\n"
    return _program("").replace("def f(x):\n", f"def f(x):\n{begin}{head}{lines}{end}")


@pytest.mark.parametrize("start", range(0, 30, 10))
def test_random_loops_with_effects(start: int, cut: Taken) -> None:
    """Loops of random statements, with effects at random places."""
    for seed in range(start, start + 10):
        source = _random_loop(seed)
        try:
            _compare(source, GIVEN)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}\n{source}") from error
    assert cut.regions > 100


RAISES = {
    "an index": "x[k - 3] = y[k // 5] * 0.5 + x[0]",
    "a callee": "x = x + fail(x, k) * 0.5 + y",
    "shapes": "x = x + np.ones(3 + k // 9) * 0.5 - y",
}


@pytest.mark.parametrize("name", RAISES)
def test_exceptions_come_from_the_programs_lines(name: str, cut: Taken) -> None:
    """The traceback shows the frames and lines that it shows on NumPy, and the names are as there."""
    body = f"""
        y = x * 0.5
        try:
            for k in range(40):
                x = x * 0.5 + np.sin(y) * 0.25
                y = y + x * 0.5 - 0.25
                tell(k)
                y = y * 0.5 + x * 0.25
                {RAISES[name]}
                y = y - x * 0.125 + 0.25
        except (IndexError, ValueError) as error:
            tell(k, x, y)
            note(error)
        return k, x, y
        """
    fail = "def fail(x, k):\n    if k > 9:\n        raise ValueError('late')\n    return x * 0.5\n\n\n"
    source = _program(body).replace("def f(x)", fail + "def f(x)")
    noted: list[Any] = []
    outcomes = []
    for functions in (load(source), imported(source)):
        told: list[Any] = []

        def note(error: Exception) -> None:
            frames = [
                (frame.name, frame.lineno)
                for frame in traceback.extract_tb(error.__traceback__)
                if frame.name in ("f", "fail")
            ]
            noted.append((type(error), str(error), frames, error.__context__))

        def tell(*values: Any, told: list[Any] = told) -> None:
            told.append([np.array(value).tolist() for value in values])

        functions |= {"note": note, "tell": tell}
        k, x, y = functions["f"](np.array([1.0, 2.0, 3.0]))
        outcomes.append((k, np.round(x, 9).tolist(), np.round(y, 9).tolist(), len(told)))
    assert noted[0] == noted[1]
    assert outcomes[0] == outcomes[1]
    assert cut.regions > 4


def test_an_effect_that_raises(cut: Taken) -> None:
    """The exception shows the line of the effect, with the values that compiled code has computed."""
    body = """
        for k in range(40):
            y = x * 0.5 + np.sin(x) * 0.25
            tell(k, y)
            x = y * 0.5 + np.cos(y) * 0.25
        return x
        """
    lines = []
    for functions in (load(_program(body)), imported(_program(body))):

        def tell(k: int, y: np.ndarray) -> None:
            if k == 25:
                raise LookupError(np.round(y, 9).tolist())

        functions["tell"] = tell
        with pytest.raises(LookupError) as found:
            functions["f"](np.array([1.0, 2.0, 3.0]))
        frames = traceback.extract_tb(found.value.__traceback__)
        lines.append((str(found.value), [frame.lineno for frame in frames if frame.name == "f"]))
    assert lines[0] == lines[1]
    assert cut.regions > 9


def test_loops_of_a_module(cut: Taken) -> None:
    """The names of a module have the values that Python gives them."""
    source = (
        "import numpy as np\n"
        "x, seen, t = np.ones(3), [], 0.0\n"
        "for k in range(40):\n"
        "    y = x * 0.5 + np.sin(x) * 0.25\n"
        "    half = y * 0.5\n"
        "    t += 0.125\n"
        "    seen.append((k, t, y.sum(), half[0]))\n"
        "    x = y + half * np.cos(y) - 0.25\n"
        "    rest = x - y\n"
    )
    wanted: dict[str, Any] = {}
    exec(source, wanted)
    found: dict[str, Any] = {}
    execute(source, found)
    assert cut.regions > 9
    for name in ("x", "y", "half", "rest", "t", "k", "seen"):
        np.testing.assert_allclose(found[name], wanted[name], rtol=1e-12)


#: statements -> the statements of each region, by their numbers
KINDS = {
    "x = x * 2 + np.sin(x)\nplt.plot(x)\ny = x * 3 + np.cos(x)": [[0], [2]],
    "x = step(x)\ny = step(x)\nshow(x)\nx = x * 2 - y * 3 + 1": [[0, 1], [3]],
    "k += 1\nplt.plot(x)": [],
    "x = x * 2 + np.sin(x)": [],
    "x = x * 2 + np.sin(x)\nif x[0] > 3: break\nx = x * 3 + np.cos(x)\nplt.plot(x)": [[0], [2]],
    "t0 = time.time()\nx = x * 2 + np.sin(x)\nspent = time.time() - t0": [[1]],
    "x = x * 2 + np.sin(x)\nnp.save('x', x)\nx = x * 3 + np.cos(x)": [[0], [2]],
    "x = x * 2 + np.sin(x)\nlabel = f'{x}'\nseen.append(x)\nopen('f')": [[0]],
    "x = x * 2 + np.sin(x)\nclip(x)\nx.sort()\nax.step(x)": [[0, 1, 2]],
    "x = x * 2 + np.sin(x)\nline, = ax.plot(x)\nline.set_data(x, x)": [[0]],
    "for j in range(3): x[j] = j\nlog(x)": [[0]],
    "for j in range(3): log(j)\nx = x * 2 + np.sin(x)": [[1]],
}


@pytest.mark.parametrize("text", KINDS)
def test_which_statements_are_numerical(text: str) -> None:
    """The runs of numerical statements, if there are others and the runs may take long."""
    source = (
        "import time\nimport numpy as np\nimport matplotlib.pyplot as plt\n"
        "def step(x):\n    return np.sin(x) * 2\n"
        "def clip(x):\n    x[x > 3] = 3\n"
        "def show(x):\n    plt.plot(x)\n"
        "def log(x):\n    show(x)\n"
        "def f(x, ax, seen):\n    for k in range(99):\n"
    )
    source += "".join(f"        {line}\n" for line in text.splitlines()) + "    return x, k\n"
    tree = ast.parse(source)
    first = source[: source.index("for k in")].count("\n") + 2
    loops = loops_of(tree, source, "f.py", ArrayWork(tree, "f.py")).values()
    (loop,) = (loop for loop in loops if loop.line == first - 1)
    found = [list(range(region.lines[1] - first, region.lines[-1] - first + 1)) for region in loop.regions]
    assert found == KINDS[text]
