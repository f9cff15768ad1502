"""Functions of converted files, raised to plain Python for the host: same meaning, no operator left."""

from __future__ import annotations

import ast
import copy
import subprocess
import sys
import textwrap
import traceback
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import np2tf
from tests.helpers.raised import compared, module_of, operators_in, outcome, raise_all, raised

ROOT = Path(__file__).resolve().parents[3]
CONTROL = sorted((ROOT / "fixtures" / "control").glob("*.tf.py"))
KERNELS = sorted((ROOT / "benchmarks" / "kernels").glob("*.py"))
PROGRAMS = sorted((ROOT / "fixtures" / "programs").glob("*.py"))
#: Fixtures in which operators stay: what a lambda binds by `:=` is its own name.
LEFT = {"chained_comparison": {"and_"}}
HEAD = "from np2tf import tnp\nimport np2tf\n\n\n"


def converted(path: Path) -> str:
    """The translation of a file."""
    return np2tf.convert(path.read_text(encoding="utf-8")).text


def function_of(text: str, folder: Path, name: str = "f") -> types.FunctionType:
    """The function of a text, below the imports of a converted file."""
    function: types.FunctionType = getattr(module_of(HEAD + textwrap.dedent(text), folder), name)
    return function


# -- what is converted ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", CONTROL, ids=lambda path: path.name.partition(".")[0])
def test_fixtures(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each fixture gives the same raised, and no operator is left but those listed."""
    text = path.read_text(encoding="utf-8")
    source = path.with_name(path.name.replace(".tf.py", ".np.py")).read_text(encoding="utf-8")
    plain = module_of(source, tmp_path)
    module = module_of(text, tmp_path)
    functions = raise_all(module)
    if "np2tf.for_loop" in text:
        assert functions
    left = set().union(*map(operators_in, functions)) - {"numpy_function", "undefined"}
    assert left == LEFT.get(path.name.partition(".")[0], set())
    if hasattr(plain, "main"):
        expected = compared(plain.main()), capsys.readouterr().out
        assert (compared(module.main()), capsys.readouterr().out) == expected


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
def test_kernels(path: Path, tmp_path: Path) -> None:
    """Each kernel gives the same raised, and writes the same into its arguments."""
    plain = module_of(path.read_text(encoding="utf-8"), tmp_path)
    of_arguments = path.parent / "arguments" / path.name
    maker = module_of(of_arguments.read_text(encoding="utf-8"), tmp_path) if of_arguments.exists() else plain
    args = maker.initialise(maker.SMALL)
    module = module_of(converted(path), tmp_path)
    left = set().union(*map(operators_in, raise_all(module))) - {"numpy_function"}
    assert left == set()
    np.random.seed(1)
    expected = outcome(plain.kernel, *copy.deepcopy(args))
    np.random.seed(1)
    assert outcome(module.kernel, *copy.deepcopy(args)) == expected


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_programs(path: Path, tmp_path: Path) -> None:
    """Each program gives the same raised."""
    module = module_of(converted(path), tmp_path)
    functions = raise_all(module)
    assert set().union(*map(operators_in, functions)) == set()
    plain = module_of(path.read_text(encoding="utf-8"), tmp_path)
    assert compared(module.main()) == compared(plain.main())


# -- single forms --------------------------------------------------------------------------------------------

#: Text of a function, calls of it, and what is in the raised code.
FORMS = {
    "one value": (
        """
        def f(x):
            def step_i(i, s):
                s = s + x[i]
                return s

            s = np2tf.for_loop(np2tf.range(np2tf.len(x)), step_i, 0.0)
            return s
        """,
        ["(np.arange(4.0),)", "(np.zeros(0),)"],
    ),
    "no value": (
        """
        def f(x):
            def step_i(i):
                x.append(i)

            np2tf.for_loop(np2tf.range(3), step_i)
            return x
        """,
        ["([],)"],
    ),
    "case": (
        """
        def f(x, k):
            def if_so():
                y = x + 1
                return y * 2

            y = np2tf.case([(k > 2, lambda: x), (lambda: k > 1, if_so)], default=lambda: -x)
            return y
        """,
        ["(np.arange(3.0), 3)", "(np.arange(3.0), 2)", "(np.arange(3.0), 0)"],
    ),
}


@pytest.mark.parametrize("name", FORMS)
def test_forms(name: str, tmp_path: Path) -> None:
    """Forms that np2tf's operators have."""
    text, calls = FORMS[name]
    function = function_of(text, tmp_path)
    new = raised(function)
    assert new is not None
    assert not operators_in(new)
    for call in calls:
        assert outcome(new, *eval(call)) == outcome(function, *eval(call))


#: Text of a function whose first operator must stay, and calls of it.
TRAPS = {
    "a lambda in the step is kept": (
        """
        def f(n):
            kept = []

            def step_i(i, kept):
                kept.append(lambda: i)
                return kept

            kept = np2tf.for_loop(range(n), step_i, kept)
            return [g() for g in kept]
        """,
        ["(3,)"],
    ),
    "a function in the step is kept": (
        """
        def f(n):
            kept = []

            def step_i(i, kept):
                def late():
                    return i

                kept = [*kept, late]
                return kept

            kept = np2tf.for_loop(range(n), step_i, kept)
            return [g() for g in kept]
        """,
        ["(3,)"],
    ),
    "a generator in the step is kept": (
        """
        def f(n):
            kept = []

            def step_i(i, kept):
                kept.append(i + k for k in range(2))
                return kept

            kept = np2tf.for_loop(range(n), step_i, kept)
            return [list(g) for g in kept]
        """,
        ["(3,)"],
    ),
    "the step is used twice": (
        """
        def f(n):
            def step_i(i, s):
                s = s + i
                return s

            s = np2tf.for_loop(range(n), step_i, 0)
            t = np2tf.for_loop(range(n), step_i, s)
            return s, t
        """,
        ["(3,)"],
    ),
    "the step is called elsewhere": (
        """
        def f(n):
            def step_i(i, s):
                s = s + i
                return s

            s = np2tf.for_loop(range(n), step_i, 0)
            return s, step_i(1, 2)
        """,
        ["(3,)"],
    ),
    "the step has a default": (
        """
        def f(n):
            def step_i(i, s=5):
                s = s + i
                return s

            s = np2tf.for_loop(range(n), step_i, 0)
            return s
        """,
        ["(3,)"],
    ),
    "the step takes any number": (
        """
        def f(n):
            def step_i(i, *state):
                return (state[0] + i,)

            s = np2tf.for_loop(range(n), step_i, 0)
            return s
        """,
        ["(3,)"],
    ),
    "the step has a decorator": (
        """
        def doubled(step):
            return lambda i, s: 2 * step(i, s)


        def f(n):
            @doubled
            def step_i(i, s):
                s = s + i
                return s

            s = np2tf.for_loop(range(n), step_i, 0)
            return s
        """,
        ["(3,)"],
    ),
    "a name may be read before it is bound": (
        """
        def f(n):
            def step_i(i, s):
                if i == 0:
                    t = 5
                s = s + t
                return s

            s = np2tf.for_loop(range(n), step_i, 0)
            return s
        """,
        ["(1,)", "(2,)"],
    ),
    "the step returns from its middle": (
        """
        def f(n):
            def step_i(i, s):
                for k in range(3):
                    if k == 1:
                        return s + k
                return s

            s = np2tf.for_loop(range(n), step_i, 0)
            return s
        """,
        ["(3,)"],
    ),
    "the step's result is another tuple": (
        """
        def f(n):
            def step_i(i, s, t):
                pair = (s + i, t)
                return pair

            s, t = np2tf.for_loop(range(n), step_i, (0, 1))
            return s
        """,
        ["(3,)"],
    ),
    "the step returns too much": (
        """
        def f(n):
            def step_i(i, s, t):
                return s, t, i

            s, t = np2tf.for_loop(range(n), step_i, (0, 1))
            return s
        """,
        ["(1,)", "(2,)", "(0,)"],
    ),
    "a global of the step": (
        """
        total = 0


        def f(n):
            def step_i(i, s):
                global total
                total = total + i
                return s + total

            s = np2tf.for_loop(range(n), step_i, 0)
            return s
        """,
        ["(0,)"],
    ),
    "a test of `case` that is called": (
        """
        def f(x):
            def if_so():
                y = x + 1
                return y

            y = np2tf.cond(x, if_so, lambda *more: more)
            return y
        """,
        ["(1,)", "(0,)"],
    ),
    "items of another length": (
        """
        def f(x):
            return np2tf.list_of(lambda u, v: u * v, x)
        """,
        ["([(1, 2), (3, 4)],)", "([(1, 2, 3)],)"],
    ),
    "a comprehension's functions are kept": (
        """
        def f(x):
            return [g() for g in np2tf.list_of(lambda u: lambda: u, x)]
        """,
        ["([1, 2],)"],
    ),
}


@pytest.mark.parametrize("name", TRAPS)
def test_what_must_stay(name: str, tmp_path: Path) -> None:
    """Text that is not what the translator writes keeps its operator, and means the same."""
    text, calls = TRAPS[name]
    function = function_of(text, tmp_path)
    new = raised(function)
    left = operators_in(function if new is None else new)
    assert left & {"for_loop", "cond", "list_of"}
    for call in calls:
        assert outcome(new or function, *eval(call)) == outcome(function, *eval(call))


#: Text that may be raised in any way, as long as it means the same: names around helpers, order of effects.
SAME = {
    "a name of the step is a name of the function": (
        """
        scale = 10


        def f(n):
            def step_i(i, s):
                scale = i * 2
                s = s + scale
                return s

            s = np2tf.for_loop(range(n), step_i, 0)
            return s * scale
        """,
        ["(3,)"],
    ),
    "the item is a name of the function": (
        """
        def f(i, n):
            def step_i(i, s):
                s = s + i
                return s

            s = np2tf.for_loop(range(n), step_i, 0)
            return s, i
        """,
        ["(7, 3)"],
    ),
    "the state has another name inside": (
        """
        def f(n):
            def step_i(i, t):
                t = t + n
                return t

            n = np2tf.for_loop(range(n), step_i, 1)
            return n
        """,
        ["(3,)"],
    ),
    "the state changes places": (
        """
        def f(n):
            a, b = 1, 2

            def step_i(i, b, a):
                a = a + i
                return a, b

            a, b = np2tf.for_loop(range(n), step_i, (a, b))
            return a, b
        """,
        ["(0,)", "(1,)", "(4,)"],
    ),
    "an error in a loop leaves the state": (
        """
        def f(x):
            s = 0
            try:
                def step_i(i, s):
                    s = s + x[i]
                    return s

                s = np2tf.for_loop(range(5), step_i, s)
            except np2tf.on_host(IndexError) as error:
                return s, str(error)
            return s
        """,
        ["([1, 2],)", "([1, 2, 3, 4, 5],)"],
    ),
    "an error in a branch leaves the operand": (
        """
        def f(x):
            s = [1]
            with tnp.errstate(divide="ignore"):
                try:
                    def then(s):
                        s = s + [2]
                        s = s + x[5]
                        return s

                    s = np2tf.cond(x, then, lambda s: s, s)
                finally:
                    print(s)
            return s
        """,
        ["([1, 2],)", "([],)"],
    ),
    "an inner function sees the state": (
        """
        def f(n):
            s = 1

            def seen():
                return s

            def step_i(i, s):
                s = s + seen()
                return s

            s = np2tf.for_loop(range(n), step_i, s)
            return s, seen()
        """,
        ["(3,)"],
    ),
    "an inner function changes an operand": (
        """
        def f(n):
            s = 1

            def change():
                nonlocal s
                s = s + 10
                return s

            def then(t):
                u = change()
                return t + u

            r = np2tf.cond(n > 1, then, lambda t: t, s)
            return r, s
        """,
        ["(3,)", "(0,)"],
    ),
    "a key changes with the value": (
        """
        def f(x):
            k = 0

            def following():
                nonlocal k
                k = k + 1
                return 7.0

            x = tnp.at(x)[k].set(following())
            x = tnp.at(x)[k].add(following())
            return x, k
        """,
        ["(np.zeros(4),)", "([0, 0, 0, 0],)", "({0: 1, 1: 2, 2: 3},)"],
    ),
    "a value changes what is added to": (
        """
        def f(x):
            def changed():
                x[0] = 100
                return 1

            x = tnp.at(x)[0].add(changed())
            return x
        """,
        ["(np.zeros(4),)", "([0, 0],)"],
    ),
    "updates of many kinds": (
        """
        def f(x, v):
            x = tnp.at(x)[1].add(v)
            x = tnp.at(x)[0].multiply(v)
            x = tnp.at(x)[-1].floor_divide(2)
            x = tnp.at(x)[1:].subtract(v)
            y = tnp.at(x)[0].power(2)
            x = tnp.at(x).sort()
            return x, y is x
        """,
        [
            "(np.arange(4), 2)",
            "(np.arange(4), 0.5)",
            "(np.arange(4.0), 0.5)",
            "(np.arange(4, dtype='u1'), 300)",
            "([3, 2, 1], 2)",
            "({0: 1}, 2)",
        ],
    ),
    "a preset that nothing binds": (
        """
        def f(n):
            def step_i(i, y, s):
                y = i
                return y, s + y

            y, s = np2tf.for_loop(range(n), step_i, (np2tf.undefined("y"), 0))
            return s if n < 1 else (s, y)
        """,
        ["(0,)", "(3,)"],
    ),
    "an unbound state": (
        """
        def f(n):
            if n > 5:
                s = 1

            def step_i(i, s):
                s = 2
                return s

            s = np2tf.for_loop(range(n), step_i, s)
            return n
        """,
        ["(0,)", "(6,)", "(3,)"],
    ),
    "an unbound operand": (
        """
        def f(n):
            if n > 5:
                s = 1

            def then(s):
                t = 2
                return t

            t = np2tf.cond(n > 2, then, lambda s: 1, s)
            return t
        """,
        ["(0,)", "(6,)", "(3,)"],
    ),
    "tests that bind": (
        """
        def f(a, b, c):
            y = np2tf.and_(a < (middle := b + 1), lambda: middle < c)
            return y, middle
        """,
        ["(1, 2, 5)", "(9, 2, 5)"],
    ),
    "builtins of other names": (
        """
        def f(range):
            int = 3
            return np2tf.range(range), np2tf.int(2.5), int, np2tf.len([1]), np2tf.max(1, 2)
        """,
        ["(2,)"],
    ),
    "a loop that stops": (
        """
        def f(x):
            x = iter(x)
            s = 0.0
            done = False

            def keep_going(s, done):
                return np2tf.not_(done)

            def step_v(v, s, done):
                done = v > 2
                s = np2tf.cond(np2tf.not_(done), lambda: s + v, lambda: s)
                return s, done

            s, done = np2tf.for_loop(x, step_v, (s, done), keep_going=keep_going)
            return s, next(x, None)
        """,
        ["([1, 2, 3, 4, 5],)", "([],)"],
    ),
    "an iterable that reads the state": (
        """
        def f(n):
            def step_i(i, n):
                n = n * 2
                return n

            n = np2tf.for_loop(range(n), step_i, n + 1)
            return n
        """,
        ["(3,)"],
    ),
    "recursion": (
        """
        @np2tf.jit
        def f(n):
            def step_i(i, s):
                s = s + f(i)
                return s

            s = np2tf.for_loop(range(n), step_i, 1)
            return s
        """,
        ["(5,)"],
    ),
}


@pytest.mark.parametrize("name", SAME)
def test_same(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is raised means the same as the converted text, also in its errors."""
    text, calls = SAME[name]
    function = function_of(text, tmp_path)
    plain = getattr(function, "__wrapped__", function)
    new = raised(function)
    assert new is not None
    for call in calls:
        assert outcome(new, *eval(call)) == outcome(plain, *eval(call))
        if "print" in text:
            first, second = capsys.readouterr().out.split("\n")[:2]
            assert first == second


def test_a_shadowed_module_stays(tmp_path: Path) -> None:
    """A parameter or global of the name `np2tf` or `tnp` is not np2tf."""
    text = "def f(np2tf, x):\n    return np2tf.not_(x)\n"
    assert raised(function_of(text, tmp_path)) is None
    text = "tnp = {}\n\n\ndef f(x):\n    return [tnp.at(v) for v in x]\n"
    assert raised(function_of(text, tmp_path)) is None


def test_functions_without_text_stay() -> None:
    """Code that was not made from a file, or from other text than the file has now."""
    space: dict[str, Any] = {}
    exec(HEAD + "def f(x):\n    return np2tf.not_(x)\n", space)
    assert raised(space["f"]) is None


def test_other_text_stays(tmp_path: Path) -> None:
    """A file that has changed since it was imported is not the function's text."""
    function = function_of("def f(x):\n    return np2tf.not_(x)\n", tmp_path)
    path = Path(function.__code__.co_filename)
    path.write_text(path.read_text().replace("not_(x)", "int(x)"))
    assert raised(function) is None


def test_generators_stay(tmp_path: Path) -> None:
    """A generator may run on when there are tensors."""
    assert raised(function_of("def f(x):\n    yield np2tf.not_(x)\n", tmp_path)) is None


def test_functions_that_see_names_stay(tmp_path: Path) -> None:
    """`locals()` shows the names of the converted text."""
    text = "def f(x):\n    y = np2tf.not_(x)\n    return sorted(locals())\n"
    assert raised(function_of(text, tmp_path)) is None


def test_closures_defaults_and_super(tmp_path: Path) -> None:
    """A raised function has the closure, the defaults and the class of the converted function."""
    text = """
    class Base:
        def scale(self):
            return 3


    class Derived(Base):
        def scale(self, k=2, *, extra=1):
            def step_i(i, s):
                s = s + super(__class__, self).scale() * k
                return s

            s = np2tf.for_loop(range(4), step_i, extra)
            return s


    def outer(weight):
        def inner(x):
            def then(x):
                x = x * weight
                return x

            return np2tf.cond(x > 1, then, lambda x: -x, x)

        return inner
    """
    module = module_of(HEAD + textwrap.dedent(text), tmp_path)
    method = raised(module.Derived.scale)
    assert method is not None
    assert not operators_in(method)
    derived = module.Derived()
    assert method(derived) == derived.scale() == 25
    assert method(derived, 1, extra=0) == 12
    inner = module.outer(5)
    new = raised(inner)
    assert new is not None
    assert not operators_in(new)
    assert [new(k) for k in (0, 1, 2)] == [inner(k) for k in (0, 1, 2)] == [0, -1, 10]


def test_tracebacks_show_the_converted_lines(tmp_path: Path) -> None:
    """An error in a raised loop names the file and the line of the converted text."""
    text = """
    def f(x):
        def step_i(i, s):
            s = s + 1 / x[i]
            return s

        s = np2tf.for_loop(range(len(x)), step_i, 0.0)
        return s
    """
    function = function_of(text, tmp_path)
    new = raised(function)
    assert new is not None
    with pytest.raises(ZeroDivisionError) as caught:
        new([1, 0])
    last = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert (last.filename, last.line) == (function.__code__.co_filename, "s = s + 1 / x[i]")


# -- when functions are raised -------------------------------------------------------------------------------

PROCESS = """\
import sys
import numpy as np
import np2tf
from np2tf import tnp


@np2tf.jit
def looped(x):
    def step_i(i, x):
        x = tnp.at(x)[i].set(tnp.sqrt(x[i]))
        return x

    x = np2tf.for_loop(range(len(x)), step_i, x)
    return x


@np2tf.jit
def short(x):
    return np2tf.cond(x > 1, lambda: tnp.sqrt(x), lambda: x)


def names(function):
    return set(function._host.original.__code__.co_names)


print(looped(np.arange(4.0)), "for_loop" in names(looped))
short(2.0)
print("cond" in names(short))
for _ in range(200000):
    short(2.0)
print("cond" in names(short), "cond" in short._plain.__code__.co_names)
import tensorflow as tf
print("for_loop" in names(looped), "cond" in short._plain.__code__.co_names)
print(float(short(tf.constant(4.0))))
"""


def test_functions_are_raised_when_it_pays(tmp_path: Path) -> None:
    """One with a loop at once, a short one after some milliseconds; none when there may be tensors."""
    path = tmp_path / "program.py"
    path.write_text(PROCESS)
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "[0.         1.         1.41421356 1.73205081] False",
        "True",
        "False False",
        "True True",
        "2.0",
    ]


def test_every_form_is_parsed() -> None:
    """The texts of these tests are Python."""
    for text, _ in [*TRAPS.values(), *SAME.values(), *FORMS.values()]:
        ast.parse(textwrap.dedent(text))
