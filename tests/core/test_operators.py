"""The table of operators feeds all that call or emit them; none knows a name of its own."""

from __future__ import annotations

import ast
import builtins
import functools
import importlib
import operator
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import np2tf
from np2tf.core.operators import (
    CONTROL,
    NUMBER,
    OPERATORS,
    PYTHON,
    SEQUENCE,
    of_role,
    python_meaning,
    staging_operator,
)
from np2tf.staging.callees.known_callees import BUILTINS
from np2tf.staging.tiers import call_context
from np2tf.translator.control import calls
from tests.helpers.construct_rows import CALLS
from tests.helpers.plain_operators import PLAIN, executed

PACKAGE = Path(__file__).resolve().parents[2] / "np2tf"
#: Names of np2tf that emitted code uses and that are no operators.
OTHERS = {"at", "jit", "tnp", "host_memory", "warn"}


def texts(folder: str) -> Iterator[str]:
    """The texts in the code of a folder, without docstrings."""
    for path in sorted((PACKAGE / folder).rglob("*.py")):
        tree = ast.parse(path.read_text())
        docs = {
            id(node.body[0].value)
            for node in ast.walk(tree)
            if isinstance(node, (ast.Module, ast.FunctionDef, ast.ClassDef))
            and node.body
            and isinstance(node.body[0], ast.Expr)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
                yield node.value


def emitted() -> set[str]:
    """The names that texts of the translator have behind `np2tf.`."""
    folders = "translator/control", "translator/rewrites"
    return {name for one in folders for text in texts(one) for name in re.findall(r"\bnp2tf\.(\w+)", text)}


def test_consumers_are_complete() -> None:
    """Every consumer of the table has all names of the table, and no further name."""
    names = set(OPERATORS)
    assert set(PYTHON) == names  # what `np2tf` has until TensorFlow is loaded, and the host tier
    assert names <= set(np2tf.__all__)
    assert names <= set(dir(np2tf))
    assert set(PLAIN) == names  # the judge of translated text
    assert set(BUILTINS.values()) == {name for name in names if callable(getattr(builtins, name, None))}
    assert set(calls._NUMBERS) == set(of_role(NUMBER))
    assert set(calls._SEQUENCES) == set(of_role(SEQUENCE))
    assert emitted() <= names | OTHERS
    assert set(of_role(CONTROL)) <= emitted()


def test_reloading_the_package_keeps_the_operators_that_stage() -> None:
    """IPython's `%reload_ext np2tf` executes the module again."""
    call_context.load()
    importlib.reload(np2tf)
    assert all(getattr(np2tf, name) is staging_operator(name) for name in OPERATORS)


@pytest.mark.parametrize("name", OPERATORS)
def test_both_meanings_are_there(name: str) -> None:
    """Each operator has a meaning for known values, and a meaning for staged values, which `np2tf` gives."""
    staged = staging_operator(name)
    assert getattr(np2tf, name) in (staged, PYTHON[name])
    assert callable(python_meaning(name)) or name == "math"
    assert callable(staged) or name == "math"
    if callable(staged):
        assert staged.__name__.rstrip("_") in (name.rstrip("_"), name)


def test_the_public_names_are_typed() -> None:
    """Type checkers see the operators that are no builtins."""
    source = (PACKAGE / "__init__.py").read_text()
    for name in (*of_role(CONTROL), "not_", "undefined"):
        assert f" import {name} as {name}" in source


def test_python_column_needs_no_tensorflow() -> None:
    """The table and Python's meanings load neither NumPy nor TensorFlow, nor the rest of np2tf."""
    code = (
        "import sys; from np2tf.core.operators import OPERATORS, python_meaning\n"
        "for name in OPERATORS: python_meaning(name)\n"
        "print(*(name for name in ('numpy', 'tensorflow', 'libcst', 'np2tf.tnp') if name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


@pytest.mark.parametrize("name", CALLS)
def test_meanings_agree(name: str) -> None:
    """For known values the staging operator does what Python's does."""

    def value(function: Any) -> Any:
        args = tuple(list(argument) if type(argument) is list else argument for argument in CALLS[name])
        result = function(*args)
        return list(result) if name in of_role(SEQUENCE) else result

    expected = value(python_meaning(name))
    for function in (PYTHON[name], PLAIN[name], staging_operator(name)):
        got = value(function)
        assert got == expected
        assert type(got) is type(expected)


def test_every_meaning_is_compared() -> None:
    """The operators that `CALLS` leaves out have no value to compare."""
    assert set(OPERATORS) - set(CALLS) == {"math", "print", "call", "context", "on_host", "undefined"}
    assert python_meaning("call")(np.sum) is np.sum
    assert executed("import np2tf\nx = np2tf.cond(1, lambda: 2, lambda: 3)\n")["x"] == 2


class _Steps:
    """Steps that are methods."""

    def one(self, i: int, s: Any) -> Any:
        return (*s, i)

    def several(self, i: int, s: int, t: int) -> Any:
        return s + i, t * 2


def _decorated(function: Any) -> Any:
    @functools.wraps(function)
    def call(*args: Any) -> Any:
        return function(*args)

    return call


def _one(i: int, s: Any) -> Any:
    return (*s, i)


def _any_number(i: int, *state: int) -> Any:
    return tuple(value + i for value in state)


#: Step -> its state, and the state after the items 0, 1 and 2.
STEPS: dict[str, tuple[Any, Any, Any]] = {
    "one value": (lambda i, s: s + i, 1, 4),
    "one value, which is a tuple": (_one, (7,), (7, 0, 1, 2)),
    "a method of one value": (_Steps().one, (), (0, 1, 2)),
    "several values": (lambda i, s, t: (s + i, t * 2), (0, 1), (3, 8)),
    "a method of several values": (_Steps().several, (0, 1), (3, 8)),
    "a list of several values": (lambda i, s, t: [s + i, t * 2], (0, 1), (3, 8)),
    "any number of values": (_any_number, (1,), (4,)),
    "no values in a tuple": (_any_number, (), ()),
    "a default that may be a value": (lambda i, s, k=1: (s + i * k, k), (1,), (4, 1)),
    "a keyword": (lambda i, s, *, k=2: s + i * k, 1, 7),
    "a partial of one value": (functools.partial(lambda k, i, s: s + i * k, 2), 1, 7),
    "a partial by keyword": (functools.partial(lambda i, s, k: s + i * k, k=2), 1, 7),
    "a decorated step": (_decorated(_one), (), (0, 1, 2)),
    "a builtin": (operator.add, 1, 4),
}


@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize("meaning", [python_meaning, staging_operator])
def test_the_parameters_of_a_step_tell_the_form_of_the_state(meaning: Any, name: str) -> None:
    """A step of exactly one variable takes and returns its value; any other one takes a tuple's items."""
    loop = meaning("for_loop")
    step, state, after = STEPS[name]
    assert loop(range(3), step, state) == after
    assert isinstance(loop(range(0), step, state), type(after))


@pytest.mark.parametrize("meaning", [python_meaning, staging_operator])
def test_the_state_of_a_while(meaning: Any) -> None:
    loop = meaning("while_loop")
    assert loop(lambda n: n < 5, lambda n: n + 2, 0) == 6
    assert loop(lambda s: len(s) < 3, lambda s: (*s, 1), ()) == (1, 1, 1)
    assert loop(lambda n, s: n < 5, lambda n, s: (n + 2, s * 2), (0, 1)) == (6, 8)
    left = [3, 2, 1]
    assert loop(lambda: left, lambda: left.pop()) is None
    assert left == []


@pytest.mark.parametrize("meaning", [python_meaning, staging_operator])
def test_a_loop_without_state(meaning: Any) -> None:
    """Its step takes the item alone, and may return anything."""
    loop = meaning("for_loop")
    items: list[int] = []
    assert loop(range(4), items.append) is None
    assert loop(range(9), lambda i: items.append(i) or i, keep_going=lambda: len(items) < 6) is None
    assert items == [0, 1, 2, 3, 0, 1]
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        loop(range(4), lambda i, s: s)


@pytest.mark.parametrize("meaning", [python_meaning, staging_operator])
def test_a_case_evaluates_no_test_behind_a_true_one(meaning: Any) -> None:
    case = meaning("case")
    asked: list[str] = []

    def test(name: str, value: bool) -> Any:
        return lambda: asked.append(name) or value

    branches = [(test("a", False), lambda: 1), (test("b", True), lambda: 2), (test("c", True), lambda: 3)]
    assert case(branches, default=lambda: 4) == 2
    assert asked == ["a", "b"]
    assert case([], default=lambda: 4) == 4
    assert case([(0, lambda x: x), (np.bool_(False), lambda x: -x)], lambda x: x * 2, 5) == 10
