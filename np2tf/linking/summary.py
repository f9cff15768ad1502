"""What other modules need to know of a module's functions: plain data, made once per file.

Names, effects, calls, classes, bases and imports, as tuples, texts and numbers: nothing of the file's tree is
kept. `facts/references.py` and `rewrites/control/summaries.py` make them, `linking.py` joins them.
"""

from __future__ import annotations

from typing import NamedTuple


class Ref(NamedTuple):
    """What an expression refers to, as far as the text around it shows.

    Attributes:
        kind: which of these it is:
            "top": the name `name` at the top of the module;
            "module": the module `name`, which begins with dots where it is relative;
            "function", "class": the one defined here under the qualified name `name`;
            "attribute": the attribute `name` of what `parts[0]` refers to;
            "call": the result of calling `parts[0]`, with `parts[1]`, if it is there, as first argument;
            "item": an element of what `parts[0]` refers to;
            "table": a dict, list or tuple of `parts`;
            "any": one of `parts`, nobody knows which;
            "self": an object of the class `name` of this module, or of one derived from it;
            "object": an object of the class that `parts[0]` refers to, or of one derived from it;
            "super": what the bases of the class `name` give;
            "around": the parameter `name` of a function around this one;
            "unknown": anything.
    """

    kind: str
    name: str = ""
    parts: tuple[Ref, ...] = ()


UNKNOWN = Ref("unknown")


class Use(NamedTuple):
    """A call, or a read of what may be a property, that no test keeps from being evaluated."""

    ref: Ref
    is_call: bool


class FunctionSummary(NamedTuple):
    """One function or method.

    Attributes:
        name: qualified, within the module.
        why: a clause on what in its own text keeps it from being traced where it is called; nothing if it
            only computes.
        uses: what it calls and reads.
        decorators: outermost first.
        returns: the qualified name of the inner function that it gives; its first parameter's name, if it
            gives that back.
        first: the name of its first parameter.
        is_staged: whether `@np2tf.jit` stands at it.
        is_property: whether reading an attribute runs it.
        is_abstract: whether another one is always run in its place.
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
    """One class at the top of a module.

    Attributes:
        bases: in the order of the source.
        methods: the names of the functions defined in it.
        attributes: what its own text and its methods assign to attributes of its objects.
    """

    name: str
    bases: tuple[Ref, ...]
    methods: frozenset[str]
    attributes: dict[str, Ref]


class ModuleSummary(NamedTuple):
    """One file.

    Attributes:
        names: what its names at the top refer to.
        stars: the modules that it imports all names of.
        exports: what a star import of it brings, where `__all__` says so.
    """

    path: str
    names: dict[str, Ref]
    stars: tuple[Ref, ...]
    exports: frozenset[str] | None
    functions: dict[str, FunctionSummary]
    classes: dict[str, ClassSummary]
