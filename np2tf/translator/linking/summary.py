"""Summaries: plain data about a module's functions for the analysis of other modules, made once per file.

A summary holds names, effects, calls, classes, bases and imports as tuples, strings and numbers, and nothing
of the file's tree. `np2tf.translator.control.summaries` makes summaries; this folder joins them.
"""

from __future__ import annotations

from typing import NamedTuple


class Ref(NamedTuple):
    """The object that an expression refers to, as far as the text around it shows.

    Attributes:
        kind: the kind of reference:
            "top": the name `name` at the top of the module;
            "module": the module `name`, which begins with dots if it is relative;
            "function", "class": the definition in this module with the qualified name `name`;
            "attribute": the attribute `name` of the object of `parts[0]`;
            "call": the result of calling `parts[0]`, with `parts[1]`, if present, as first argument;
            "item": an element of the object of `parts[0]`;
            "table": a dict, list or tuple of `parts`;
            "any": any of `parts`; the text does not show which;
            "self": an object of the class `name` of this module, or of a derived class;
            "object": an object of the class that `parts[0]` refers to, or of a derived class;
            "super": `super()` in the class `name`;
            "around": the parameter `name` of a function around this function;
            "unknown": any object.
    """

    kind: str
    name: str = ""
    parts: tuple[Ref, ...] = ()


UNKNOWN = Ref("unknown")


class Use(NamedTuple):
    """A call, or a read of a possible property, that every call of the function evaluates."""

    ref: Ref
    is_call: bool


class FunctionSummary(NamedTuple):
    """One function or method.

    Attributes:
        name: the qualified name within the module.
        why: a clause on why the function's own text cannot be traced where it is called; empty if it only
            computes.
        uses: the calls and reads that every call of it evaluates.
        decorators: the decorators, outermost first.
        returns: the qualified name of the inner function that it returns, or the name of its first parameter,
            if it returns that argument.
        first: the name of its first parameter.
        is_staged: whether it is decorated with `@np2tf.jit`.
        is_property: whether reading an attribute runs it.
        is_abstract: whether a method that overrides it always runs in its place.
    """

    name: str
    line: int
    why: str = ""
    uses: tuple[Use, ...] = ()
    decorators: tuple[Ref, ...] = ()
    returns: str = ""
    first: str = ""
    is_staged: bool = False
    is_property: bool = False
    is_abstract: bool = False


class ClassSummary(NamedTuple):
    """One class at the top of a module; `attributes` are the values that its body and methods assign."""

    name: str
    bases: tuple[Ref, ...]
    methods: frozenset[str]
    attributes: dict[str, Ref]


class ModuleSummary(NamedTuple):
    """One file.

    Attributes:
        names: the references of the names at its top.
        stars: the modules of its star imports.
        exports: the names that a star import of this module binds, if `__all__` lists them.
    """

    path: str
    names: dict[str, Ref]
    stars: tuple[Ref, ...]
    exports: frozenset[str] | None
    functions: dict[str, FunctionSummary]
    classes: dict[str, ClassSummary]


def by_callee(name: str, place: str, reason: str) -> str:
    """Return the reason for a function that calls another one, which cannot be compiled.

    A chain of calls reads "it calls `f` (a.py:3), which calls `g` (a.py:9), which cannot be staged: it …".
    """
    if reason.startswith("it calls `") and ", which cannot be compiled: " in reason:
        return f"it calls `{name}` ({place}), which {reason.removeprefix('it ')}"
    return f"it calls `{name}` ({place}), which cannot be compiled" + (f": {reason}" if reason else "")
