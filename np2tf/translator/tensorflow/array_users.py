"""What a text tells of the arrays of callers elsewhere: whether a module or a function takes them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace

import libcst as cst

from np2tf.translator.facts.array_work import ArrayWorks
from np2tf.translator.facts.dataflow import bound_targets
from np2tf.translator.facts.facts import Facts
from np2tf.translator.tensorflow.values import Value, array, unknown
from np2tf.translator.tree.nodes import dotted_name, walk, words

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


_ATTRIBUTES = frozenset({"T", "shape", "ndim", "dtype"})


def open_parameter(function: cst.FunctionDef | cst.Lambda, name: str) -> Value:
    """Return the value of a parameter that callers elsewhere set: an array, if the function uses it as only
    arrays can be used before it binds the name again; else anything.
    """
    root = ("param", function, name)
    may_be_array = False
    for node in walk(function.body):
        if isinstance(node, cst.Assign) and any(name in bound_targets(one.target) for one in node.targets):
            break
        if _shows_axes(node, name):
            return replace(array(None, None, [root]), certain=False)
        may_be_array |= (
            isinstance(node, cst.Attribute) and node.attr.value in _ATTRIBUTES and _is(node.value, name)
        )
    if may_be_array:
        return replace(array(None, None, [root], scalar=True), certain=False)
    return unknown(root, certain=False)


def _shows_axes(node: cst.CSTNode, name: str) -> bool:
    """Return whether a node can only be about an array of this name that has axes: an index, a product."""
    if isinstance(node, cst.Subscript):
        return len(node.slice) > 1 and _is(node.value, name)
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.MatrixMultiply):
        return _is(node.left, name) or _is(node.right, name)
    return False


def _is(node: cst.CSTNode, name: str) -> bool:
    return isinstance(node, cst.Name) and node.value == name
