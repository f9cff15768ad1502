"""Loops with statements that only Python can run, under a condition: the rest of the loop is compiled."""

from __future__ import annotations

import contextlib
import io
import random
from typing import Any

import numpy as np
import pytest

from np2tf.staging.host.replacement import Balance
from np2tf.staging.tiers import constants
from tests.helpers.differential import arguments_of, load, observe
from tests.helpers.replacing import Taken, execute, imported, taken, way

__all__ = ["taken", "way"]
HEAD = "import sys\nimport numpy as np\n\n\nclass Track(list):\n    pass\n\n\n"
#: name -> the body of f(x), which tells what it does by `tell`
ROWS = {
    "every tenth iteration": """
        for k in range(60):
            x = x * 1.1
            if k % 10 == 0:
                tell(k, x.sum())
            x = x + 1
        return x, k
        """,
    "the condition needs what the iteration has computed": """
        total = 0.0
        for k in range(60):
            step = np.sin(x + k)
            if step.sum() > 2.5:
                tell(k, step)
            total += step.sum()
        return total
        """,
    "Python changes what the next iterations read": """
        due, seen = 5, 0
        for k in range(60):
            x = x * 1.01 + seen
            if k >= due:
                tell(k)
                due = due * 2
                seen += 1
        return x, due, seen
        """,
    "a while": """
        t, due = 0.0, 0.3
        while t < 2.0:
            t += 0.03125
            x = x + np.cos(t)
            if t >= due:
                tell(t, x[0])
                due += 0.3
        return x, t, due
        """,
    "two exits, and work between and behind them": """
        a = b = 0.0
        for k in range(50):
            x = x * 0.9
            if k % 7 == 3:
                tell("first", k, x[0])
                a += 1
            y = x + a
            if k % 5 == 1:
                tell("second", k, y[1])
                b -= 1
            x = y + b
        return x, y, a, b
        """,
    "names that only Python binds, without values yet": """
        t = 0.0
        while t < 2.0:
            t += 0.03125
            x = x + np.cos(t)
            if t >= 1.5:
                mark = x.sum()
                tell(t, mark)
        return x, mark
        """,
    "a flag, and a name of another type, which each iteration binds anew": """
        last, due = None, 0.0
        for k in range(80):
            show = False
            step = 0.125
            if k % 9 == 4:
                show = True
                step = k
            x = x * 0.99 + step
            if show:
                tell(k, step, last)
                last = step
        return x, show, step, last
        """,
    "jumps before a name is bound anew": """
        mode = "first"
        for k in range(60):
            x = x + 0.5
            if k % 4 == 1:
                continue
            mode = k % 3 == 0
            if k % 10 == 8:
                tell(k, mode, x)
        return x, mode
        """,
    "a while that ends at the beginning of a part": """
        t, show = 0.0, "never"
        while t < 1.0:
            t += 0.0625
            show = t > 0.5
            x = x + t
            if t == 0.25:
                tell(t, show)
        return x, t, show
        """,
    "both exits of one iteration": """
        for k in range(30):
            x = x + 1
            if k % 6 == 0:
                tell("first", k)
                x = x * 0.5
            x = x - 0.25
            if k % 6 == 0:
                tell("second", k, x[0])
        return x
        """,
    "the first statement": """
        for k in range(40):
            if k % 8 == 0:
                tell(k, x[0])
            x = x * 1.5
        return x
        """,
    "Python breaks off": """
        for k in range(100):
            x = x * 1.1
            if x.sum() > 500:
                tell("over", k)
                break
            x = x + 1
        else:
            tell("never")
        return x, k
        """,
    "Python goes on with the next iteration": """
        for k in range(40):
            x = x * 1.1
            if k % 4 == 1:
                tell(k)
                continue
            x = x + 1
        return x
        """,
    "compiled code breaks off": """
        for k in range(100):
            x = x * 1.1
            if k % 9 == 0:
                tell(k)
            if x.sum() > 900:
                break
        else:
            tell("never")
        return x, k
        """,
    "compiled code goes on with the next iteration": """
        for k in range(60):
            x = x * 1.05
            if k % 3 == 0:
                continue
            if k % 10 == 0:
                tell(k)
            x = x + 1
        return x
        """,
    "Python returns": """
        for k in range(100):
            x = x * 1.1
            if x.sum() > 500:
                tell("over", k)
                return x, k
        return x
        """,
    "Python raises": """
        for k in range(100):
            x = x * 1.1
            if x.sum() > 500:
                tell("over", k)
                raise ValueError(f"over at {k}")
        return x
        """,
    "an array is written to": """
        for k in range(1, 40):
            x[k % 3] += x[(k + 1) % 3]
            if k % 11 == 0:
                tell(x)
                x[0] = 1.0
            x[1] -= 0.5
        return x
        """,
    "a view of an argument": """
        row = x[1:]
        for k in range(30):
            row += 0.5
            if k == 17:
                tell(x)
                row = row.copy()
        return x, row
        """,
    "a list grows": """
        track = Track()
        for k in range(30):
            x = x * 1.01
            if k % 4 == 0:
                track.append((k, x.max()))
        return len(track), track[-1]
        """,
    "steps downwards": """
        for k in range(90, 3, -2):
            x = x + k
            if k % 10 == 0:
                tell(k, x[0])
        return x, k
        """,
    "the condition always holds": """
        for k in range(20):
            x = x * 1.1
            if k >= 0:
                tell(k, x[0])
        return x
        """,
    "loops within loops": """
        for k in range(12):
            for j in range(5):
                x = x + j * 0.5
            if k % 5 == 4:
                tell(k, x[0])
        return x
        """,
    "one of several branches": """
        for k in range(40):
            x = x * 1.1
            if k % 10 == 9:
                tell(k, x[0])
            elif k % 10 == 4:
                x = x - 1
            elif k % 10 == 2:
                tell("two", k)
            else:
                x = x + 0.5
        return x
        """,
    "generators are shared": """
        rng = np.random.default_rng(3)
        for k in range(40):
            x = x + rng.random(3)
            if k % 9 == 8:
                tell(k, rng.integers(100), x[0])
        return x, rng.random()
        """,
    "numbers that become arrays": """
        s = 0
        for k in range(30):
            s = s + x
            if k % 12 == 11:
                tell(s)
                s = s * 0.5
        return s
        """,
}


#: Conditions that must not be asked twice: no side exits.
IMPURE = {
    "a draw": "np.random.rand() < 0.3",
    "a draw of a generator": "rng.random() < 0.3",
    "a function that draws": "drawn(0.3)",
    "a walrus": "(due := due + 1) % 3 == 0",
    "an iterator": "next(numbers) % 3 == 0",
    "a list that shrinks": "stack.pop() % 2",
    "a property": "Counter.one.next % 3 == 0",
    "a method that has the name of an array's": "Counter.one.max() % 3 == 0",
    "a function that has a builtin's name": "abs(1) % 3 == 0",
}


HELPERS = """
class Counter:
    def __init__(self):
        self.count = 0

    @property
    def next(self):
        self.count += 1
        return self.count

    def max(self):
        return self.next


Counter.one = Counter()


def abs(step):
    Counter.one.count += step
    return Counter.one.count


def drawn(limit):
    return np.random.rand() < limit


"""


@pytest.mark.parametrize("name", IMPURE)
def test_conditions_that_are_asked_once(name: str, taken: Taken) -> None:
    """Numbers are drawn, and names bound, as often as in Python."""
    body = f"""
        np.random.seed(3)
        rng, numbers, due, stack = np.random.default_rng(4), iter(range(99)), 0, list(range(50))
        for k in range(40):
            x = x * 1.01
            if {IMPURE[name]}:
                tell(k, x[0])
            x = x + 0.5
        return x, due, np.random.rand(), rng.random(), next(numbers), len(stack), Counter.one.next
        """
    _compare(_source(body).replace("def f(x)", HELPERS + "def f(x)"), "np.array([1.0, 2.0, 3.0])")


def _outcomes(functions: dict[str, Any], given: str) -> list[Any]:
    told: list[Any] = []

    def tell(*values: Any) -> None:
        told.append([_rounded(value) for value in values])

    functions["tell"] = tell
    outcomes = []
    for _ in range(3):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            outcomes.append((observe(functions["f"], arguments_of(given)), printed.getvalue(), list(told)))
        told.clear()
    return outcomes


def _rounded(value: Any) -> Any:
    """A value without its last digits: compiled code fuses multiplications with additions."""
    if isinstance(value, str):
        return value
    if isinstance(value, np.ndarray):
        return [_rounded(item) for item in value.tolist()]
    return float(f"{value:.9g}")


def _compare(source: str, given: str) -> None:
    wanted = _outcomes(load(source), given)
    for found, numpy in zip(_outcomes(imported(source), given), wanted, strict=True):
        assert found[0].differs_from(numpy[0]) is None
        assert found[1] == numpy[1]
        assert found[2] == numpy[2]


def _source(body: str) -> str:
    lines = body.strip("\n").splitlines()
    return HEAD + "def f(x):\n" + "\n".join(line[4:] for line in lines).rstrip() + "\n"


@pytest.mark.parametrize("name", ROWS)
def test_side_exits(name: str, taken: Taken) -> None:
    """Results, effects, their order, and errors are as on NumPy, and the loop is compiled."""
    _compare(_source(ROWS[name]), "np.array([1.0, 2.0, 3.0])")
    assert taken.over


_STATEMENTS = (
    "x = x * 1.01",
    "x = np.sin(x) + k * 0.01",
    "y = x + s",
    "s = s + float(y[0])",
    "y[k % 3] += 0.25",
    "x = np.where(y > s, x, -x)",
    "if k % 5 == 2: x = x + y",
    "if k % 7 == 6: continue",
    "if s > 1e6: break",
    "flag = s > 1.0",
    "kind = k % 3; x = x + kind",
    "x += 0.0625; x = x % 4.0",
    "y *= 0.5; y = np.roll(y, SHIFTS[1])",
    "x = x + y[MASK].sum()",
)
_EXITS = (
    "if k % 4 == 1: tell(k, x, s)",
    "if y.sum() > 1.0: tell('sum', y)",
    "if k == due: tell(due); due = due * 2 + 1",
    "if k % 6 == 0: tell(k); x = x * 0.5; s += 1",
    "if k % 8 == 5: tell(k, s)\n        else: x = x + 0.125",
    "if k > 25: tell('late', k); break",
    "if k % 9 == 3: tell('on'); continue",
    "if k % 5 == 4: mark = (k, flag, kind); tell(mark)",
    "if kind == 2 and k > 9: tell(flag); flag = 'seen'",
)


def _random_loop(seed: int) -> str:
    choice = random.Random(seed)
    body = choice.choices(_STATEMENTS, k=choice.randint(2, 6))
    for statement in choice.sample(_EXITS, choice.randint(1, 3)):
        body.insert(choice.randint(0, len(body)), statement)
    is_while = choice.random() < 0.4
    head = "    k = -1\n    while k < 35:\n        k += 1\n" if is_while else "    for k in range(36):\n"
    lines = "".join(f"        {statement}\n" for statement in body)
    arrays = "SHIFTS, MASK = np.array([2, 1, 0]), np.array([True, False, True])\n"
    begin = "    y, s, due, flag, kind, mark = x.copy(), 0.5, 2, None, -1, ()\n"
    return f"{HEAD}{arrays}def f(x):\n{begin}{head}{lines}    return x, y, s, due, k, flag, kind, mark\n"


@pytest.mark.usefixtures("way")
def test_random_loops_with_side_exits(taken: Taken) -> None:
    """Loops of random statements and exits."""
    for seed in range(25):
        source = _random_loop(seed)
        try:
            _compare(source, "np.array([1.0, 2.0, 3.0])")
        except AssertionError as error:
            raise AssertionError(f"seed {seed}\n{source}") from error
    assert taken.over > 25


def test_exits_that_come_too_often() -> None:
    """After some exits, what compiled code has taken decides whether the host runs iterations for comparison:
    few, so that Python need not act in them.
    """
    balance = Balance()
    for _ in range(constants.EXITS_TO_COUNT - 1):
        balance.note(rounds=8, seconds=0.01, at_exit=True)
    assert balance.rounds_to_compare(per_round=0.001) == 0, "too few exits tell nothing"
    balance.note(rounds=8, seconds=0.01, at_exit=True)
    assert balance.rounds_to_compare(per_round=0.001) == 4
    assert balance.is_lost(per_round=0.001)
    for _ in range(constants.EXITS_TO_COUNT):
        balance.note(rounds=50, seconds=0.02, at_exit=False)
        balance.note(rounds=50, seconds=0.02, at_exit=True)
    assert balance.rounds_to_compare(per_round=0.001) == 0


def test_loops_of_a_module(taken: Taken) -> None:
    """The names of a module have the values that Python gives them."""
    source = (
        "import numpy as np\n"
        "x, track, due = np.ones(3), [], 4\n"
        "for k in range(50):\n"
        "    y = x * 1.01\n"
        "    if k == due:\n"
        "        track.append((k, y.sum()))\n"
        "        due += 9\n"
        "    x = y + 1\n"
    )
    wanted: dict[str, Any] = {}
    exec(source, wanted)
    found: dict[str, Any] = {}
    execute(source, found)
    assert taken.over
    for name in ("x", "y", "track", "due", "k"):
        np.testing.assert_allclose(found[name], wanted[name], rtol=1e-12)
