"""Calls of builtins: most accept tensors like arrays; calls that would show the difference are refused."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from np2tf.rewrites.tensorflow_target.model import edits
from np2tf.rewrites.tensorflow_target.model.operations import arithmetic, element_of
from np2tf.rewrites.tensorflow_target.model.texts import show_in_text
from np2tf.rewrites.tensorflow_target.model.values import (
    NO_VALUE,
    NUMBERS,
    Value,
    array,
    join,
    list_value,
    plain,
    tuple_value,
    union,
)
from np2tf.rewrites.tensorflow_target.model.world import Evaluate, Frame
from np2tf.tree.names import words

#: Builtins that read or change state that the source text does not show.
_REFLECTION = words("eval exec globals locals vars compile super __import__ setattr delattr breakpoint")
_TEXT_BUILTINS = words("print str repr format ascii")


def builtin_call(node: cst.Call, name: str, frame: Frame, evaluate: Evaluate) -> Value:
    """Return the value of a call of a builtin."""
    world = frame.world
    world.forget(node.func)
    arguments = [evaluate(arg.value, frame) for arg in node.args]
    if name in _REFLECTION:
        return world.refuse(node, "NP2TF603", what=f"`{name}`")
    if name in _TEXT_BUILTINS:
        for arg, value in zip(node.args, arguments):
            if arg.keyword is None or arg.keyword.value != "file":
                show_in_text(arg.value, value, frame)
        return plain("none") if name == "print" else plain("str")
    if any(value.is_undetermined for value in arguments):
        return NO_VALUE
    if name == "isinstance" and len(arguments) == 2 and arguments[0].only("object", "none"):
        return plain("bool")
    if any(value.may("object", "class") and not value.may("any") for value in arguments):
        return world.refuse(node, "NP2TF603", what=f"`{name}` of an object")
    handler = _HANDLERS.get(name)
    if handler is not None:
        return handler(node, arguments, frame).doubtful(*arguments)
    if all(value.is_plain for value in arguments):
        return plain("other", "int", "str", "bool", "float")
    return world.refuse(node, "NP2TF606", what=f"`{name}`")


def _read_later(node: cst.CSTNode, arguments: list[Value]) -> list[object]:
    """Return the memory of an iterator, which reads its operands only when an item is requested."""
    return [node, *(root for value in arguments for root in value.memory)]


def _zip(node: cst.Call, arguments: list[Value], frame: Frame) -> Value:
    values = [element_of(value) for value, arg in zip(arguments, node.args) if arg.keyword is None]
    return list_value(tuple_value(values), _read_later(node, arguments))


def _enumerate(node: cst.Call, arguments: list[Value], frame: Frame) -> Value:
    if not arguments:
        return plain("other")
    return list_value(tuple_value([plain("int"), element_of(arguments[0])]), _read_later(node, arguments))


def _sum(node: cst.Call, arguments: list[Value], frame: Frame) -> Value:
    if not arguments:
        return plain("other")
    element = element_of(arguments[0])
    start = arguments[1] if len(arguments) > 1 else plain("int")
    if element.is_plain and start.is_plain:
        return join(plain("int"), element) or element
    if element.may("list", "tuple") and not element.may("any"):
        return frame.world.refuse(node, "NP2TF606", what="`sum` of lists")
    return join(arithmetic([element, start], node), start) or element


def _extreme(node: cst.Call, arguments: list[Value], frame: Frame) -> Value:
    keywords = [arg for arg in node.args if arg.keyword is not None]
    if keywords and not all(value.is_plain for value in arguments):
        return frame.world.refuse(node, "NP2TF606", what="`min` and `max` with `key`")
    if any(arg.star for arg in node.args):
        return union(element_of(value) for value in arguments)
    return element_of(arguments[0]) if len(arguments) == 1 else union(arguments)


def _sort(node: cst.Call, arguments: list[Value], frame: Frame) -> Value:
    if len(node.args) > 1 and not all(value.is_plain for value in arguments):
        return frame.world.refuse(node, "NP2TF606", what="`sorted` with `key`")
    return list_value(element_of(arguments[0]), [node]) if arguments else plain("other")


def _list(node: cst.Call, arguments: list[Value], frame: Frame) -> Value:
    if not arguments:
        return Value(frozenset(["list"]), memory=frozenset([node]))
    return list_value(element_of(arguments[0]), [node])


def _tuple(node: cst.Call, arguments: list[Value], frame: Frame) -> Value:
    if not arguments:
        return tuple_value([])
    if arguments[0].only("tuple") and arguments[0].items is not None:
        return arguments[0]
    if arguments[0].only("shape"):
        return arguments[0]
    element = element_of(arguments[0])
    return Value(frozenset(["tuple"]), item=element, memory=element.memory, certain=element.certain)


def _round(node: cst.Call, arguments: list[Value], frame: Frame) -> Value:
    if not arguments or all(value.is_plain for value in arguments):
        return plain("int", "float")
    world = frame.world
    if not all(value.only("scalar", *NUMBERS) or value.may("any") for value in arguments):
        return world.refuse(node, "NP2TF606", what="`round` of an array")
    world.edit(node.func, edits.rename_to(world.helper("_python_round")), "_python_round")
    return (
        plain("int") if len(arguments) == 1 else join(array(None, 0), plain("int", "float")) or arguments[0]
    )


def _kind(*kinds: str) -> Callable[[cst.Call, list[Value], Frame], Value]:
    return lambda node, arguments, frame: plain(*kinds)


_HANDLERS: dict[str, Callable[[cst.Call, list[Value], Frame], Value]] = {
    "float": _kind("float"),
    "int": _kind("int"),
    "bool": _kind("bool"),
    "complex": _kind("complex"),
    "len": _kind("int"),
    "any": _kind("bool"),
    "all": _kind("bool"),
    "range": _kind("range"),
    "abs": lambda node, arguments, frame: arithmetic(arguments, node),
    "pow": lambda node, arguments, frame: arithmetic(arguments[:2], node, power=True),
    "zip": _zip,
    "enumerate": _enumerate,
    "sum": _sum,
    "min": _extreme,
    "max": _extreme,
    "sorted": _sort,
    "reversed": lambda node, arguments, frame: list_value(
        element_of(arguments[0]), _read_later(node, arguments)
    ),
    "list": _list,
    "tuple": _tuple,
    "round": _round,
}
