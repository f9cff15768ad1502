"""Whether a module that never names NumPy computes with the arrays of its callers."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import libcst as cst

from np2tf.translator.facts.array_work import ArrayWorks
from np2tf.translator.facts.facts import Facts
from np2tf.translator.tree.nodes import dotted_name, words

#: Methods of arrays that lists, dicts and texts do not have.
_METHODS = words("argmax argmin argsort astype cumprod cumsum ravel reshape")


def takes_arrays(facts: Facts) -> bool:
    """Return whether a module works on arrays that it does not make: no library gives it other objects."""
    if not all(name.split(".")[0] in sys.stdlib_module_names for name in imported_modules(facts)):
        return False
    if any(_is_method_of_arrays(call) for call in facts.nodes(cst.Call)):
        return True
    works = facts.get(ArrayWorks)
    return any(works.of(function).uses_arrays for function in facts.nodes(cst.FunctionDef))


def imported_modules(facts: Facts) -> Iterator[str]:
    """Yield the names of the modules that a module imports, "." for those of its own package."""
    for node in facts.nodes(cst.Import):
        yield from (alias.evaluated_name for alias in node.names)
    for statement in facts.nodes(cst.ImportFrom):
        yield "." if statement.relative else dotted_name(statement.module) or ""


def _is_method_of_arrays(node: cst.Call) -> bool:
    func = node.func
    return isinstance(func, cst.Attribute) and func.attr.value in _METHODS
