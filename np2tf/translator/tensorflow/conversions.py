"""Converts values for NumPy and Python: `x.numpy()`, or `_host(x)` with the lines that the program needs."""

from __future__ import annotations

from collections.abc import Iterable

import libcst as cst

from np2tf.translator.facts.facts import Facts
from np2tf.translator.tensorflow import edits
from np2tf.translator.tensorflow.model import Frame
from np2tf.translator.tensorflow.numpy_table import (
    CONVERTED,
    DICTIONARIES,
    DTYPES,
    ITERATORS,
    LISTS,
    VIEWS,
    table,
)
from np2tf.translator.tensorflow.values import ANY_KIND, ARRAYS, PLAIN, Value
from np2tf.translator.tree.nodes import walk, words

#: Functions and classes that make dictionaries and iterators.
_MAKERS = {
    DICTIONARIES: words("dict defaultdict OrderedDict Counter vars globals locals"),
    ITERATORS: words("zip enumerate map filter reversed iter"),
}
#: Functions of Python that only read the items of an iterator or of a view.
_READERS = words("list tuple sorted set sum min max any all len dict zip enumerate")


def convert(node: cst.BaseExpression, value: Value, frame: Frame) -> None:
    """Plan NumPy's arrays, numbers and dtypes in the place of TensorFlow's."""
    world = frame.world
    if isinstance(node, (cst.List, cst.Tuple)) and all(
        isinstance(element, cst.Element) and element.value in world.values for element in node.elements
    ):
        for element in node.elements:
            part = world.values[element.value]
            if part.may_be_tensor:
                convert(element.value, part, frame)
    elif value.only(*ARRAYS) and value.certain:
        world.edit(node, edits.to_numpy, CONVERTED)
    else:
        world.edit(node, edits.wrap_in(world.helper("_host")), CONVERTED, "_host", *lines_for([value], frame))


def holds_dtype(value: Value) -> bool:
    """Return whether the value, or an item in it, can be a dtype, which is TensorFlow's."""
    return value.may("dtype") or any(map(holds_dtype, value.parts))


def lines_for(values: Iterable[Value], frame: Frame) -> set[str]:
    """Return which lines of the helper `_host` values need: for dtypes, and for all containers that the
    program makes, if one may be a container.
    """
    lines = set()
    for value in values:
        if holds_dtype(value) and not value.may(ANY_KIND):
            lines.add(DTYPES)
        if not value.only(*ARRAYS, *PLAIN):
            worlds = [*frame.world.program.worlds.values(), frame.world]
            lines.update([LISTS], *(world.facts.get(_lines_of_module) for world in worlds))
    return lines


def _lines_of_module(facts: Facts) -> frozenset[str]:
    """Return which lines of the helper `_host` the text of a module may need."""
    found = set()
    for node in walk(facts.module):
        if isinstance(node, (cst.Dict, cst.DictComp)) or (isinstance(node, cst.Param) and node.star == "**"):
            found.add(DICTIONARIES)
        elif isinstance(node, (cst.GeneratorExp, cst.Yield, cst.Call)) and not _is_only_read(node, facts):
            found |= _lines_of_iterable(node)
        elif isinstance(node, (cst.Name, cst.Attribute)) and _names_dtype(node, facts):
            found.add(DTYPES)
    return frozenset(found)


def _lines_of_iterable(node: cst.GeneratorExp | cst.Yield | cst.Call) -> set[str]:
    """Return the lines for an iterator, a dictionary or a view of one, whose items are not only read."""
    if not isinstance(node, cst.Call):
        return {ITERATORS}
    if isinstance(node.func, cst.Attribute):
        name = node.func.attr.value
        return {VIEWS, DICTIONARIES} if name in ("items", "values") else set()
    name = node.func.value if isinstance(node.func, cst.Name) else ""
    return {line for line, names in _MAKERS.items() if name in names}


def _is_only_read(node: cst.CSTNode, facts: Facts) -> bool:
    """Return whether the items of an expression are only read, by a loop or a function of Python's."""
    up = facts.parents[node]
    outer = facts.parents[up] if isinstance(up, cst.Arg) else None
    func = outer.func if isinstance(outer, cst.Call) else None
    reads = isinstance(func, cst.Name) and func.value in _READERS
    return reads or isinstance(up, (cst.For, cst.CompFor))


def _names_dtype(node: cst.Name | cst.Attribute, facts: Facts) -> bool:
    """Return whether an expression names a dtype, and may give it to a name or container."""
    name = (facts.imports.numpy_name(node) or "").removeprefix("numpy.")
    is_attribute = isinstance(node, cst.Attribute) and node.attr.value == "dtype"
    return (is_attribute or name in table().dtypes) and not _is_dtype(node, facts)


def _is_dtype(node: cst.CSTNode, facts: Facts) -> bool:
    """Return whether an expression is only the dtype that a call makes an array of, or what is called."""
    up = facts.parents[node]
    if isinstance(up, (cst.Call, cst.Annotation)):
        return True
    call = facts.parents[up] if isinstance(up, cst.Arg) else None
    return isinstance(call, cst.Call) and (
        facts.imports.numpy_name(call.func) is not None
        or (isinstance(call.func, cst.Attribute) and call.func.attr.value == "astype")
    )
