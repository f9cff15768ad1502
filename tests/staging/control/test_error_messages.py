"""Errors of loops and branches name the variable, what it is on both sides, and both lines."""

from __future__ import annotations

import importlib
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import np2tf
from np2tf.core.errors import (
    AliasingError,
    BranchDtypeError,
    BranchTypeError,
    ContainerChangeError,
    IntegerGrowthError,
    ListGrowthError,
    LoopTypeError,
    RankChangeError,
    StagingError,
    XlaShapeError,
)
from np2tf.staging.objects.code_names import last_line, return_line
from tests.helpers.differential import HEAD, arguments_of, load, translation


@dataclass(frozen=True)
class Case:
    """A program with an error.

    Attributes:
        error: its class.
        body: rows of `def f(x):`; ``# one`` and ``# other`` mark the lines that the message names.
        words: what the message has in it, in this order; {one} and {other} stand for the lines.
        arguments: the arguments of the call.
        head: rows before the function.
    """

    error: type[StagingError]
    body: str
    words: str
    arguments: str = "np.arange(3.)"
    head: str = ""
    params: str = "x"


CASES = {
    "items of a list differ in shape": Case(
        ListGrowthError,
        """
        rows = []
        s = x.sum()
        while s < 100:
            s = s + 50
            rows.append(x)
            rows.append(x[:2])
        return rows
        """,
        "differ in shape: an array of float64 and shape (3,) and an array of float64 and shape (2,)",
    ),
    "items of a list differ in kind": Case(
        ListGrowthError,
        """
        rows = []
        s = x.sum()
        while s < 100:
            s = s + 50
            rows.append(x)
            rows.append((x, s))
        return rows
        """,
        "differ in kind: an array or number and a tuple of 2",
    ),
    "a loop's variable is of another type": Case(
        LoopTypeError,
        """
        k = 'a'  # one
        s = x.sum()
        while s < 100:
            s = s + 1
            k = x * 2  # other
        return k
        """,
        "`k` is a str before the loop {one} and an array of float64 and shape (3,) after an iteration "
        "{other}",
    ),
    "a loop's variable has another structure": Case(
        LoopTypeError,
        """
        pair = (x, x)  # one
        s = x.sum()
        while s < 100:
            s = s + 1
            pair = (x, x, x)  # other
        return pair
        """,
        "`pair` is a tuple of 2 before the loop {one} and a tuple of 3 after an iteration {other}",
    ),
    "an item of a loop's variable is of another type": Case(
        LoopTypeError,
        """
        d = {'a': x, 'b': None}  # one
        s = x.sum()
        while s < 100:
            s = s + 1
            d = {'a': x, 'b': 'text'}  # other
        return d
        """,
        "`d['b']` is None before the loop {one} and a str after an iteration {other}",
    ),
    "a loop's variable has another number of dimensions": Case(
        RankChangeError,
        """
        y = x * 2  # one
        s = x.sum()
        while s < 100:
            s = s + 1
            y = y[None] + s  # other
        return y
        """,
        "`y` is an array of float64 and shape (3,) before the loop {one} and "
        "an array of float64 and shape (1, 3) after an iteration {other}",
    ),
    "an iteration with a break": Case(
        RankChangeError,
        """
        y = x
        for i in range(20):
            if x[i % 3] > 5:
                break
            y = y[None]
        return y
        """,
        "`y` is an array of float64 and shape",
    ),
    "an array grows in a loop for XLA": Case(
        XlaShapeError,
        """
        y = x * 1  # one
        s = x.sum()
        while s < 100:
            s = s + 30
            y = np.concatenate([y, x])  # other
        return y
        """,
        "`y` is an array of float64 and shape (3,) before the loop {one} and an array of float64 and "
        "shape (?,) after an iteration {other}, and XLA should compile the loop",
    ),
    "an integer grows": Case(
        IntegerGrowthError,
        """
        n = 1  # one
        s = x.sum()
        while s < 100:
            s = s + 1
            n = n << 1  # other
        return x[:2] * n
        """,
        "the Python integer `n` {one} grows in a compiled loop {other} and may exceed 64 bits",
    ),
    "an attribute changes in a loop": Case(
        RankChangeError,
        """
        s = x.sum()
        while s < 100:
            s = s + 1
            p.w = x[None]  # other
        return x
        """,
        "the attribute `w` of a P is an array of float64 and shape (3,) before the loop (line ",
        "np.arange(3.), P()",
        "class P:\n    def __init__(self):\n        self.w = np.zeros(3)\n\n\n",
        "x, p",
    ),
    "two names in a loop": Case(
        AliasingError,
        """
        a = np.zeros(3)
        b = x * 1
        s = x.sum()
        while s < 100:
            s = s + 1
            a[0] = s  # other
            b = a  # one
        return a, b
        """,
        "`b` {one} and `a` {other} may be the same array in a compiled loop, and one is written to",
    ),
    "the sides of a branch give other types": Case(
        BranchTypeError,
        """
        if x.sum() > 2:
            z = np.sin(x)
            y = 'a'  # one
        else:
            z = np.cos(x)
            y = z * 2  # other
        return y, z
        """,
        "`y` is a str on one side of a branch {one} and an array of float64 and shape (3,) on the other "
        "{other}",
    ),
    "one side of a branch leaves None": Case(
        BranchTypeError,
        """
        y = None
        if x.sum() > 2:
            z = x * 2
            y = z * 2  # one
        return y
        """,
        "`y` is an array of float64 and shape (3,) on one side of a branch {one} and None on the other "
        "(line ",
    ),
    "the sides of a branch give other structures": Case(
        BranchTypeError,
        """
        if x.sum() > 2:
            z = np.sin(x)
            y = z, x  # one
        else:
            z = np.cos(x)
            y = z, x, x  # other
        return y, z
        """,
        "`y` is a tuple of 2 on one side of a branch {one} and a tuple of 3 on the other {other}",
    ),
    "the sides of a branch give other numbers of dimensions": Case(
        RankChangeError,
        """
        if x.sum() > 2:
            z = np.sin(x)
            y = z  # one
        else:
            z = np.cos(x)
            y = z[None]  # other
        return y, z
        """,
        "`y` is an array of float64 and shape (3,) on one side of a branch {one} and an array of float64 and "
        "shape (1, 3) on the other {other}",
    ),
    "the sides of a branch give other shapes to XLA": Case(
        XlaShapeError,
        """
        if x.sum() > 2:
            z = np.sin(x)
            y = z  # one
        else:
            z = np.cos(x)
            y = z[1:]  # other
        return y * 2
        """,
        "`y` is an array of float64 and shape (3,) on one side of a branch {one} and an array of float64 and "
        "shape (2,) on the other {other}, and XLA should compile the branch",
    ),
    "the sides of a branch give two narrow dtypes": Case(
        BranchDtypeError,
        """
        if x.sum() > 2:
            z = np.sin(x)
            y = z.astype('int32')  # one
        else:
            z = np.cos(x)
            y = z.astype('float32')  # other
        return y, z
        """,
        "`y` is an array of int32 and shape (3,) on one side of a branch {one} and an array of float32 and "
        "shape (3,) on the other {other}, and has another dtype after the branch",
    ),
    "a conditional expression": Case(
        BranchTypeError,
        """
        y = x if x.sum() > 2 else None  # one
        return y
        """,
        "`y` is an array of float64 and shape (3,) on one side of a branch {one} and None on the other {one}",
    ),
    "a conditional expression without a name": Case(
        BranchTypeError,
        """
        return x if x.sum() > 2 else 'a'  # one
        """,
        "a value is an array of float64 and shape (3,) on one side of a branch {one} and a str on the other "
        "{one}",
    ),
    "an attribute of two types": Case(
        BranchTypeError,
        """
        if x.sum() > 2:
            p.w = x
            p.k = 'a'  # one
        return x
        """,
        "the attribute `k` of a P is a str on one side of a branch {one} and None on the other (line ",
        "np.arange(3.), P()",
        "class P:\n    def __init__(self):\n        self.w = np.zeros(3)\n        self.k = None\n\n\n",
        "x, p",
    ),
}


def marked(text: str) -> dict[str, str]:
    """The lines that are marked, as messages name them."""
    return {
        mark: f"(line {number})"
        for number, row in enumerate(text.splitlines(), 1)
        for mark in ("one", "other")
        if row.endswith(f"# {mark}")
    }


def source_of(case: Case) -> str:
    """The whole program."""
    rows = [row[4:] for row in case.body.strip("\n").splitlines()]
    return f"{HEAD}{case.head}def f({case.params}):\n" + "\n".join(rows) + "\n"


def why(function: Any, args: tuple[Any, ...]) -> tuple[str, str]:
    """The code and the reason for which a call is not one XLA program."""
    with np2tf.config.using(jit="on", tier="compile"):
        told = function.explain(*args)
    return told.code or XlaShapeError.code, told.reason or told.not_xla


@pytest.mark.parametrize("name", CASES)
def test_message(name: str) -> None:
    """The variable, both types or shapes, and both lines of the user's code."""
    case = CASES[name]
    text = translation(source_of(case))
    space = load(text)
    code, reason = why(space["f"], arguments_of(case.arguments, space))
    assert code == case.error.code, reason
    assert case.words.format_map({"one": "", "other": "", **marked(text)}) in reason


def test_lines_are_those_of_the_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module that is translated while it is imported: the lines are the user's own."""
    case = CASES["a loop's variable is of another type"]
    source = source_of(case)
    (tmp_path / "module_with_loop.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    with np2tf.translating(["module_with_loop"]):
        module = importlib.import_module("module_with_loop")
    try:
        code, reason = why(module.f, (np.arange(3.0),))
    finally:
        del sys.modules["module_with_loop"]
    assert code == case.error.code
    assert reason == case.words.format_map(marked(source))


def test_operands_have_no_line_of_np2tfs_own() -> None:
    """The left operand of `and` is its own result where it decides, in np2tf's code."""
    body = "    while np.abs(h) > 0.1 and k < 5:\n        h = h / 2\n        k += 1\n    return h\n"
    f = load(translation(f"{HEAD}def f(x):\n    h = x[:1]\n    k = 0\n{body}"))["f"]
    code, reason = why(f, (np.arange(3.0),))
    assert code == RankChangeError.code
    assert reason.startswith("a value is a Python bool on one side of a branch (line ")
    assert reason.endswith("and an array of bool and shape (1,) on the other")


def test_dtypes_that_never_settle() -> None:
    """The message names an array whose dtype changes in every iteration, and both dtypes."""

    @np2tf.jit(tier="compile")
    def f(x: Any) -> Any:
        def step(i: Any, y: Any, n: Any) -> Any:
            kinds = np.dtype("float32"), np.dtype("int32")
            return np2tf.tnp.asarray(y, kinds[y.dtype == kinds[0]]), n + 1

        y, _ = np2tf.for_loop(np2tf.range(100), step, (x, 0))
        return y

    told = f.explain(np.arange(3.0, dtype="float32"))
    assert told.code == LoopTypeError.code
    assert "`y` is an array of float32 and shape (3,) before the loop (line " in told.reason
    assert "an array of float32 and shape (3,) after an iteration (line " in told.reason
    assert "and of float64 in the loop: its dtype keeps changing" in told.reason


def test_containers_that_data_choose() -> None:
    """The message names a dict that is a different object on each side of a branch."""

    @np2tf.jit(tier="compile")
    def f(x: Any, p: Any, q: Any) -> Any:
        p, q = np2tf.cond(x.sum() > 2, lambda p, q: (q, p), lambda p, q: (p, q), p, q)
        return p["a"] + q["a"] * 2

    told = f.explain(np.arange(3.0), {"a": np.ones(3)}, {"a": np.zeros(3)})
    assert told.code == ContainerChangeError.code
    line = f.__wrapped__.__code__.co_firstlineno + 2
    assert told.reason == (
        f"`p` is the list or dict `q` on one side of a branch (line {line}) and "
        f"the list or dict `p` on the other (line {line})"
    )


def test_lines_that_bind_a_name() -> None:
    """`last_line` gives the last line that binds a name, up to a place, also for attributes and nonlocals."""

    def sample(self: Any, a: Any) -> Any:
        b = a
        a, b = b, a
        self.c = a

        def inner() -> Any:
            nonlocal b
            b = 3

        return inner

    first = sample.__code__.co_firstlineno
    assert [last_line(sample.__code__, word) for word in ("a", "b", "c", "d")] == [
        first + 2,
        first + 2,
        first + 3,
        None,
    ]
    assert last_line(sample.__code__, "b", until=0) is None
    assert return_line(sample.__code__) == first + 9
    inner = sample(type("Empty", (), {})(), 1).__code__
    assert last_line(inner, "b") == first + 7
