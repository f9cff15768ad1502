"""Scopes, checked against Python's own symbol tables."""

from __future__ import annotations

import symtable
from pathlib import Path

import libcst as cst
import pytest

from np2tf.translator.facts.facts import Facts
from np2tf.translator.facts.scopes import FreshNames, Scope

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = """
import os.path, a.b as c
from x import y as z, w
G = 1
def f(p, /, q=G, *args, r: int = 2, **kw):
    global G, H
    H = p
    local = lambda t, u=q: t + u + p
    def inner():
        nonlocal local
        local = q
        return os
    with open(p) as handle, q as (one, two):
        pass
    for i, (j, *k) in []:
        del handle
    try:
        pass
    except ValueError as error:
        pass
    match p:
        case {"a": m, **rest}:
            pass
        case [first, *others] | (first, *others):
            pass
        case str() as s:
            pass
    if (walrus := q):
        walrus2 = [(deep := v) for v in p if v]
    return inner
class C(object, metaclass=type):
    attr = 1
    other = [attr for attr in range(attr)]
    def method(self):
        return attr
    x: int
async def g():
    async for n in aiter():
        yield n
gen = (e for e in G for h in e)
"""


def tables(table: symtable.SymbolTable) -> list[tuple[str, frozenset[str], frozenset[str]]]:
    """(name, locals, globals and free names) of every function and class, in order."""
    local_names = {s.get_name() for s in table.get_symbols() if s.is_local()} - {"__class__"}
    local_names = {name.removeprefix(".") for name in local_names if not name.startswith(".")}
    found = (
        [(table.get_name(), frozenset(local_names), frozenset())]
        if table.get_type() in ("function", "class")
        else []
    )
    for child in table.get_children():
        found.extend(tables(child))
    return found


def ours(scope: Scope) -> list[tuple[str, frozenset[str], frozenset[str]]]:
    """The same, as np2tf sees it."""
    node = scope.node
    found = []
    if isinstance(node, (cst.FunctionDef, cst.ClassDef)):
        found.append((node.name.value, frozenset(scope.locals), frozenset()))
    for child in scope.children:
        found.extend(ours(child))
    return found


def is_named(entry: tuple[str, frozenset[str], frozenset[str]]) -> bool:
    """Comprehensions and lambdas have no names of their own."""
    return entry[0] not in {"listcomp", "setcomp", "dictcomp", "genexpr", "lambda", "top"}


SOURCES = [PROGRAM, *[path.read_text() for path in sorted((ROOT / "fixtures/programs").glob("*.py"))]]
SOURCES += [path.read_text() for path in sorted((ROOT / "np2tf/translate").glob("*.py"))]


@pytest.mark.parametrize("source", SOURCES, ids=range(len(SOURCES)))
def test_locals_are_pythons(source: str) -> None:
    """The local names of every function and class are the names that Python's compiler finds."""
    python_tables = sorted(
        entry for entry in tables(symtable.symtable(source, "a.py", "exec")) if is_named(entry)
    )
    np2tf_tables = sorted(ours(Facts.of(cst.parse_module(source)).scopes.module))
    # Since 3.12 Python counts names bound in inlined comprehensions as the function's own.
    assert [entry[0] for entry in np2tf_tables] == [entry[0] for entry in python_tables]
    assert all(m[1] <= t[1] for m, t in zip(np2tf_tables, python_tables))
    if not any("comp" in e[0] for e in python_tables):
        assert sum(len(m[1]) for m in np2tf_tables) <= sum(len(t[1]) for t in python_tables)


def function(facts: Facts, name: str) -> Scope:
    """The scope inside the def of that name."""
    return next(facts.scopes.inside(n) for n in facts.nodes(cst.FunctionDef) if n.name.value == name)


def test_kinds_of_names() -> None:
    """Local, global, nonlocal and free."""
    facts = Facts.of(cst.parse_module(PROGRAM))
    f, inner, method = (function(facts, name) for name in ("f", "inner", "method"))
    assert {"p", "q", "args", "r", "kw", "local", "inner", "handle", "one", "two", "i", "j", "k"} <= f.locals
    assert {"error", "m", "rest", "first", "others", "s", "walrus", "walrus2", "deep"} <= f.locals
    assert "v" not in f.locals
    assert f.globals == {"G", "H"}
    assert not {"G", "H"} & f.locals
    assert inner.nonlocals == {"local"}
    assert {"local", "q", "os"} <= inner.free
    assert "os" in f.free
    assert "q" not in f.free
    assert method.owner_of("attr") is None
    assert {"os", "c", "z", "w", "G", "H", "f", "C", "g", "gen"} <= facts.scopes.module.locals


def test_every_node_has_a_scope() -> None:
    """Whatever is asked, there is an answer."""
    facts = Facts.of(cst.parse_module(PROGRAM))
    for kind in (cst.Name, cst.Attribute, cst.Call, cst.Param, cst.Assign, cst.Subscript, cst.If, cst.Return):
        for node in facts.nodes(kind):
            assert facts.scopes.of(node) is not None
            facts.scopes.function_of(node)


def test_function_of() -> None:
    """Defaults and decorators run outside, the body inside."""
    facts = Facts.of(cst.parse_module("x = 1\ndef f(a=b):\n    return [c for d in e]\n"))
    where = {node.value: facts.scopes.function_of(node) for node in facts.nodes(cst.Name)}
    assert where["x"] is None
    assert where["b"] is None
    assert where["c"] is where["e"] is facts.nodes(cst.FunctionDef)[0]


def test_fresh_names() -> None:
    """A fresh name is never a name of the user's, a builtin, or a name given before to the same function or a
    function around it.
    """
    facts = Facts.of(cst.parse_module("def f():\n    step = 1\n    def g(): pass\ndef h(): pass\n"))
    names = FreshNames(facts.scopes)
    f, g, h = facts.nodes(cst.FunctionDef)
    assert names.name(f, "step") == "step_2"
    assert names.name(f, "step") == "step_3"
    assert names.name(g, "step") == "step_4"
    assert names.name(h, "step") == "step_2"
    assert names.name(h, "sum") == "sum_2"
    assert names.name(h, "class") == "class_2"
    assert names.name(h, "body") == "body"
