"""Calls of methods: of arrays, of Python's containers and texts, and of libraries."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from np2tf.rewrites.tensorflow_target.calls.draws import is_generator_method, random_call
from np2tf.rewrites.tensorflow_target.calls.numpy_calls import (
    arguments,
    dtype_value,
    result,
    target_of,
)
from np2tf.rewrites.tensorflow_target.model import edits
from np2tf.rewrites.tensorflow_target.model.operations import element_of
from np2tf.rewrites.tensorflow_target.model.texts import show_in_text
from np2tf.rewrites.tensorflow_target.model.values import (
    ARRAYS,
    CONTAINERS,
    NO_VALUE,
    Value,
    array,
    join,
    list_value,
    plain,
    tuple_value,
    unknown,
)
from np2tf.rewrites.tensorflow_target.model.world import Evaluate, Frame
from np2tf.rewrites.tensorflow_target.objects.attributes import put_into_attributes
from np2tf.tree.names import words

_TEXTS = words("split rsplit splitlines partition rpartition")
_COUNTS = words("find rfind index rindex count")
#: Methods of arrays that take their arguments as any number of integers, or as one tuple.
_SHAPE_METHODS = frozenset({"reshape", "transpose"})
#: Methods that become a helper with the array as the first argument -> the name of the helper.
_HELPERS = {"astype": "_cast", "flatten": "_flatten", "tolist": "_tolist", "item": "_item"}


def method_call(node: cst.Call, base: Value, frame: Frame, evaluate: Evaluate) -> Value:
    """Return the value of `base.name(…)`, where `base` is no object of the program's classes."""
    world, func = frame.world, node.func
    assert isinstance(func, cst.Attribute)
    name = func.attr.value
    if base.is_undetermined:
        for arg in node.args:
            evaluate(arg.value, frame)
        return NO_VALUE
    if is_generator_method(base, name, frame):
        return random_call(node, name, frame, evaluate, base)
    is_array = base.only(*ARRAYS) or (base.may("any") and name != "copy")
    if is_array and name in world.table.methods:
        return _array_method(node, name, base, frame, evaluate)
    if name == "copy" and base.only("any") and not node.args:
        world.edit(node, edits.function_of(world.helper("_copy")), "_copy")
        return unknown(node, certain=False)
    if base.may(*ARRAYS):
        for arg in node.args:
            evaluate(arg.value, frame)
        if base.only(*ARRAYS):
            return world.refuse(node, "NP2TF601", name=f"ndarray.{name}")
        return world.refuse(node, "NP2TF605", name=world.facts.code(func.value))
    if base.only("list", "dict", "tuple"):
        return _container_method(node, name, base, frame, evaluate)
    values = [evaluate(arg.value, frame) for arg in node.args]
    if base.only("dtype"):
        return world.refuse(node, "NP2TF601", name=f"dtype.{name}")
    if base.only("str"):
        return _text_method(node, name, values, frame)
    if base.only("module"):
        return _library_call(node, values, frame)
    if all(value.is_plain for value in values) and base.is_plain:
        return plain("other")
    return world.refuse(node, "NP2TF607", name=world.facts.code(func))


def _library_call(node: cst.Call, arguments: list[Value], frame: Frame) -> Value:
    library = (frame.world.facts.imports.imported_name(node.func) or "").split(".")[0]
    if library in ("math", "cmath"):
        return plain("int", "float", "bool")
    if all(value.is_plain for value in arguments):
        return plain("other")
    return frame.world.refuse(node, "NP2TF607", name=frame.world.facts.code(node.func))


def _text_method(node: cst.Call, name: str, arguments: list[Value], frame: Frame) -> Value:
    world = frame.world
    if name == "format":
        for arg, value in zip(node.args, arguments):
            show_in_text(arg.value, value, frame)
        return plain("str")
    if not all(value.is_plain for value in arguments) and name != "join":
        return world.refuse(node, "NP2TF607", name=world.facts.code(node.func))
    if name in _TEXTS:
        return list_value(plain("str"), [node])
    return plain("int") if name in _COUNTS else plain("str", "bool", "other")


def _container_method(node: cst.Call, name: str, base: Value, frame: Frame, evaluate: Evaluate) -> Value:
    """Return the value of a method of a list, tuple or dictionary. An item that is put in shares the memory
    of the container.
    """
    world = frame.world
    values = [evaluate(arg.value, frame) for arg in node.args]
    element = element_of(base)
    if name in ("append", "insert", "extend", "setdefault", "update"):
        new_element = values[-1] if values else plain("none")
        new_element = element_of(new_element) if name in ("extend", "update") else new_element
        put_into(node, base, new_element, frame)
        return join(element, new_element) if name == "setdefault" and new_element else plain("none")  # type: ignore[return-value]
    if name in ("get", "pop") and base.only("dict"):
        return join(element, values[1] if len(values) > 1 else plain("none")) or element
    if name in ("pop", "popitem"):
        return element
    if name == "items":
        return list_value(tuple_value([plain("str", "int", "float"), element]), [node])
    if name in ("values", "copy"):
        return (
            Value(base.kinds, item=element, memory=base.memory | {node})
            if name == "copy"
            else list_value(element, [node])
        )
    if name == "keys":
        return list_value(plain("str", "int", "float"), [node])
    if name in ("clear", "reverse") or (name == "sort" and not values):
        return plain("none")
    if base.is_plain and all(value.is_plain for value in values):
        return plain("other")
    return world.refuse(node, "NP2TF606", what=f"`{name}` of a container")


def put_into(node: cst.CSTNode, base: Value, element: Value, frame: Frame) -> None:
    """Put an item into a container: every name of the container may now hold the item."""
    roots = base.memory
    outside = [root for root in roots if isinstance(root, tuple) and root[0] != "attribute"]
    put_into_attributes(base, element, frame)
    if outside and (element.may_be_array or element.memory):
        frame.world.refuse(node, "NP2TF604", name=frame.world.facts.code(node), other="a container of others")
    for name, value in list(frame.env.items()):
        if value.may(*CONTAINERS) and not value.memory.isdisjoint(roots):
            new_value = replace(
                value,
                memory=value.memory | element.memory,
                items=None,
                item=join(element_of(value) if value.items else value.item, element),
            )
            frame.bind(name, new_value)


def _array_method(node: cst.Call, name: str, base: Value, frame: Frame, evaluate: Evaluate) -> Value:
    world, func = frame.world, node.func
    assert type(func) is cst.Attribute
    if name in _HELPERS:
        return _own_method(node, name, base, frame, evaluate)
    function = world.table.functions[name]
    if name in _SHAPE_METHODS and len(node.args) > 1:
        return _spread_method(node, name, base, frame, evaluate)
    argument_values = arguments(node, function, (base, func.value), frame, evaluate)
    if argument_values is None:
        return array(None, None, [node], scalar=True)
    target, helpers = target_of(function, argument_values, frame)
    world.edit(node, edits.function_of(target), *helpers)
    return result(function, argument_values, node, frame)


def _spread_method(node: cst.Call, name: str, base: Value, frame: Frame, evaluate: Evaluate) -> Value:
    """`x.reshape(2, 3)` -> `tnp.reshape(x, (2, 3))`."""
    world = frame.world
    values = [evaluate(arg.value, frame) for arg in node.args]
    if any(arg.star or arg.keyword is not None for arg in node.args):
        return world.refuse(node, "NP2TF602", name=f"ndarray.{name}", why="of its arguments one is a keyword")

    def edit(updated_node: cst.Call) -> cst.Call:
        elements = [cst.Element(arg.value, comma=arg.comma) for arg in updated_node.args]
        call_of_tuple = updated_node.with_changes(args=[cst.Arg(cst.Tuple(elements))])
        return edits.function_of(f"{world.tnp}.{name}")(call_of_tuple)  # type: ignore[return-value]

    world.edit(node, edit)
    return array(base.dtype, len(node.args), base.memory | {node}).doubtful(base, *values)


def _own_method(node: cst.Call, name: str, base: Value, frame: Frame, evaluate: Evaluate) -> Value:
    world = frame.world
    dtype = None
    if name == "astype":
        value = dtype_value(node.args[0].value, frame, evaluate) if node.args else None
        if value is None or len(node.args) != 1 or node.args[0].keyword is not None:
            return world.refuse(node, "NP2TF602", name="ndarray.astype", why="this dtype is not translated")
        dtype = value.dtype
    elif node.args:
        return world.refuse(node, "NP2TF602", name=f"ndarray.{name}", why="its arguments are not translated")
    helper = _HELPERS[name]
    world.edit(node, edits.function_of(world.helper(helper)), helper)
    if name == "astype":
        rank = 0 if base.only("scalar") else base.rank
        return array(dtype, rank, [node], scalar=True).doubtful(base)
    if name == "flatten":
        return array(base.dtype, 1, [node]).doubtful(base)
    if name == "item":
        return plain("int", "float", "bool", "complex")
    inner = plain("int", "float", "bool", "complex")
    return join(list_value(inner, [node]), list_value(list_value(inner, [node]), [node])) or unknown(node)
