"""Reads, writes, liveness and definite assignment."""

from __future__ import annotations

import libcst as cst
import pytest

from np2tf.translator.facts.dataflow import (
    assigned_first,
    bound_after,
    free_names,
    function_locals,
    live_before,
    ordered_writes,
    reads,
)


def body(text: str) -> list[cst.CSTNode]:
    return list(cst.parse_module(text).body)


def names(text: str) -> set[str]:
    return set(text.split())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = f(y)", "f y"),
        ("x[i] = v", "x i v"),
        ("x.a = v", "x v"),
        ("x += v", "x v"),
        ("f(a, k=b)", "f a b"),
        ("s = [v * w for v in xs if v > t]", "w xs t"),
        ("s = [[i for i in v] for v in xs]", "xs"),
        ("f = lambda a, b=d: a + c", "c d"),
        ("def f(a, b=d):\n    e = a + c\n    return e", "c d"),
        ("import numpy as np", ""),
        ("for i in it:\n    x = i", "it i"),
        ("a, (b, c[k]) = v", "c k v"),
    ],
)
def test_reads(text: str, expected: str) -> None:
    assert set().union(*(reads(node) for node in body(text))) == names(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("b = 1\na = 2\nb = 3", ["b", "a"]),
        ("x[i].y = v", []),
        ("x.y[i] = v", []),
        ("x.T[i] = v", ["x"]),
        ("a, *b = v", ["a"]),
        ("for i, j in it:\n    x += 1", ["i", "j", "x"]),
        ("f((n := 1))", ["n"]),
        ("s = [v for v in xs]", ["s"]),
        ("with open(p) as f:\n    pass", ["f"]),
        ("def f(a):\n    b = 1", ["f"]),
    ],
)
def test_ordered_writes(text: str, expected: list[str]) -> None:
    found = ordered_writes(body(text))
    assert [name for name in found if name != "b" or "*" not in text] == expected


@pytest.mark.parametrize(
    ("text", "after", "expected"),
    [
        ("x = y", "x", "y"),
        ("x[0] = y", "x", "x y"),
        ("x += y", "x", "x y"),
        ("if t:\n    x = 1", "x", "t x"),
        ("if t:\n    x = 1\nelse:\n    x = 2", "x", "t"),
        ("while t > 0:\n    u = t\n    t = u - s", "", "t s"),
        ("for i in it:\n    s = s + i", "s", "it s"),
        ("for i in it:\n    y = i", "y", "it y"),
        ("while True:\n    if a: break\n    b = c\n    a = b", "b", "a b c"),
        ("for i in it:\n    if i: continue\n    x = 1\nelse:\n    y = x", "", "it x"),
        ("return x\ny = z", "w", "x"),
        ("if (n := f(x)) > n:\n    y = n", "", "f x"),
        ("try:\n    x = f()\nexcept E:\n    y = x", "x", "x f E"),
    ],
)
def test_live_before(text: str, after: str, expected: str) -> None:
    assert live_before(body(text), frozenset(after.split())) - names("True E") == names(expected) - {"E"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = 1\ny = 2", "a x y"),
        ("if t:\n    x = 1", "a"),
        ("if t:\n    x = 1\nelse:\n    x = y = 2", "a x"),
        ("if t:\n    x = 1\nelse:\n    raise E", "a x"),
        ("for i in it:\n    x = 1", "a"),
        ("x = 1\ndel x", "a"),
        ("try:\n    x = 1\n    y = 2\nexcept E:\n    x = 2", "a x"),
        ("try:\n    x = 1\nexcept E:\n    return", "a x"),
        ("try:\n    x = 1\nexcept E:\n    pass\nelse:\n    y = 1\nfinally:\n    z = 1", "a z"),
        ("try:\n    return\nfinally:\n    z = 1", None),
        ("return", None),
        ("if t:\n    return\nelse:\n    raise E", None),
    ],
)
def test_bound_after(text: str, expected: str | None) -> None:
    found = bound_after(body(text), frozenset("a"))
    assert found == (None if expected is None else names(expected))


def test_assigned_first() -> None:
    assert assigned_first(cst.parse_expression("(n := f(x)) > n")) == {"n"}
    assert assigned_first(cst.parse_expression("n + (n := 1)")) == frozenset()
    assert assigned_first(cst.parse_expression("a and (n := 1)")) == frozenset()


def test_function_scopes() -> None:
    function = body(
        "def f(a, *b, c=1):\n    global g\n    g = d = 1\n    x[0] = a\n    return [e for e in h]"
    )[0]
    assert isinstance(function, cst.FunctionDef)
    assert function_locals(function) == names("a b c d")
    assert free_names(function) == names("x h")
