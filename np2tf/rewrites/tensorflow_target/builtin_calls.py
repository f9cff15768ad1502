"""Calls of builtins: most accept tensors like arrays; calls that would show the difference are refused."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from np2tf.rewrites.tensorflow_target.model import edits
from np2tf.rewrites.tensorflow_target.model.operations import arithmetic, element_of
from np2tf.rewrites.tensorflow_target.model.values import (
    NOTHING,
    NUMBERS,
    Value,
    array,
    join,
    list_value,
    plain,
    tuple_value,
    union,
)
from np2tf.rewrites.tensorflow_target.model.world import Frame
from np2tf.rewrites.tensorflow_target.numpy_calls import Evaluate
from np2tf.tree.names import words

#: Builtins that read or change state that the source text does not show.
_HIDDEN = words("eval exec globals locals vars compile super __import__ setattr delattr breakpoint")
_SHOWN = words("print str repr format ascii")


def builtin_call(node: cst.Call, name: str, frame: Frame, evaluate: Evaluate) -> Value:
    """Return the value of a call of a builtin."""
    world = frame.world
    world.forget(node.func)
    given = [evaluate(arg.value, frame) for arg in node.args]
    if name in _HIDDEN:
        return world.refuse(node, "NP2TF603", what=f"`{name}`")
    if name in _SHOWN:
        for arg, value in zip(node.args, given):
            if not value.is_plain and not (arg.keyword is not None and arg.keyword.value == "file"):
                world.edit(arg.value, edits.wrap_in(world.helper("_host")), "_host")
        return plain("none") if name == "print" else plain("str")
    if any(one.is_undetermined for one in given):
        return NOTHING
    handler = _HANDLERS.get(name)
    if handler is not None:
        return handler(node, given, frame).doubtful(*given)
    if all(one.is_plain for one in given):
        return plain("other", "int", "str", "bool", "float")
    return world.refuse(node, "NP2TF606", what=f"`{name}`")


def _read_later(node: cst.CSTNode, given: list[Value]) -> list[object]:
    """Return the memory of an iterator, which reads its operands only when an item is requested."""
    return [node, *(root for one in given for root in one.memory)]


def _zip(node: cst.Call, given: list[Value], frame: Frame) -> Value:
    values = [element_of(value) for value, arg in zip(given, node.args) if arg.keyword is None]
    return list_value(tuple_value(values), _read_later(node, given))


def _enumerate(node: cst.Call, given: list[Value], frame: Frame) -> Value:
    if not given:
        return plain("other")
    return list_value(tuple_value([plain("int"), element_of(given[0])]), _read_later(node, given))


def _sum(node: cst.Call, given: list[Value], frame: Frame) -> Value:
    if not given:
        return plain("other")
    held = element_of(given[0])
    start = given[1] if len(given) > 1 else plain("int")
    if held.is_plain and start.is_plain:
        return join(plain("int"), held) or held
    if held.may("list", "tuple") and not held.may("any"):
        return frame.world.refuse(node, "NP2TF606", what="`sum` of lists")
    return join(arithmetic([held, start], node), start) or held


def _extreme(node: cst.Call, given: list[Value], frame: Frame) -> Value:
    keywords = [arg for arg in node.args if arg.keyword is not None]
    if keywords and not all(one.is_plain for one in given):
        return frame.world.refuse(node, "NP2TF606", what="`min` and `max` with `key`")
    if any(arg.star for arg in node.args):
        return union(element_of(one) for one in given)
    return element_of(given[0]) if len(given) == 1 else union(given)


def _sort(node: cst.Call, given: list[Value], frame: Frame) -> Value:
    if len(node.args) > 1 and not all(one.is_plain for one in given):
        return frame.world.refuse(node, "NP2TF606", what="`sorted` with `key`")
    return list_value(element_of(given[0]), [node]) if given else plain("other")


def _list(node: cst.Call, given: list[Value], frame: Frame) -> Value:
    if not given:
        return Value(frozenset(["list"]), memory=frozenset([node]))
    return list_value(element_of(given[0]), [node])


def _tuple(node: cst.Call, given: list[Value], frame: Frame) -> Value:
    if not given:
        return tuple_value([])
    if given[0].only("tuple") and given[0].items is not None:
        return given[0]
    if given[0].only("shape"):
        return given[0]
    held = element_of(given[0])
    return Value(frozenset(["tuple"]), item=held, memory=held.memory, certain=held.certain)


def _round(node: cst.Call, given: list[Value], frame: Frame) -> Value:
    if not given or all(one.is_plain for one in given):
        return plain("int", "float")
    world = frame.world
    if not all(one.only("scalar", *NUMBERS) or one.may("any") for one in given):
        return world.refuse(node, "NP2TF606", what="`round` of an array")
    world.edit(node.func, edits.rename_to(world.helper("_python_round")), "_python_round")
    return plain("int") if len(given) == 1 else join(array(None, 0), plain("int", "float")) or given[0]


def _kind(*kinds: str) -> Callable[[cst.Call, list[Value], Frame], Value]:
    return lambda node, given, frame: plain(*kinds)


_HANDLERS: dict[str, Callable[[cst.Call, list[Value], Frame], Value]] = {
    "float": _kind("float"),
    "int": _kind("int"),
    "bool": _kind("bool"),
    "complex": _kind("complex"),
    "len": _kind("int"),
    "any": _kind("bool"),
    "all": _kind("bool"),
    "range": _kind("range"),
    "abs": lambda node, given, frame: arithmetic(given, node),
    "pow": lambda node, given, frame: arithmetic(given[:2], node, power=True),
    "zip": _zip,
    "enumerate": _enumerate,
    "sum": _sum,
    "min": _extreme,
    "max": _extreme,
    "sorted": _sort,
    "reversed": lambda node, given, frame: list_value(element_of(given[0]), _read_later(node, given)),
    "list": _list,
    "tuple": _tuple,
    "round": _round,
}
