"""Calls of NumPy's functions that NumPy itself computes: it gets arrays, and its results become tensors."""

from __future__ import annotations

import libcst as cst

from np2tf.translator.tensorflow import edits
from np2tf.translator.tensorflow.conversions import convert, lines_for
from np2tf.translator.tensorflow.hosts import contains_host, host, may_be_out, operation
from np2tf.translator.tensorflow.model import Frame
from np2tf.translator.tensorflow.numpy_table import (
    LISTS,
    RESULTS,
    ArgumentValues,
    Function,
    in_new_memory,
    may_view,
    result,
    several,
)
from np2tf.translator.tensorflow.operations import dtype_value
from np2tf.translator.tensorflow.values import (
    ANY_KIND,
    ARRAYS,
    NO_VALUE,
    Value,
    array,
    list_value,
    plain,
    unknown,
)
from np2tf.translator.tree.nodes import walk, words

#: The words for results whose number of axes does not depend on the parameters that only NumPy takes.
_OF_KNOWN_RANK = frozenset(
    {"like", "complex", "matrix_like", "shape", "filled", "matrix", "counts", "solved", "crossed"}
)
#: Parameters that NumPy takes, and whose half precision or small integers are not translated.
_OF_TRUTH_VALUES = frozenset({"float"})
#: Parameters that let a function write to its first argument.
_WRITTEN = words("copy overwrite_input")
#: Parameters with which a function returns several arrays.
_SEVERAL_FOR = words("retstep returned return_indices full cov sparse")


def call_on_host(node: cst.Call, function: Function, frame: Frame, is_out_bound: bool = False) -> Value:
    """Return the value of a call that NumPy computes: `np.f(x)` -> `_on_host(np.f, x)`.

    `is_out_bound`: the statement binds the array of `out=` to the result.
    """
    world = frame.world
    world.forget(node.func)
    argument_values: dict[str, tuple[Value, cst.BaseExpression]] = {}
    wrong = None
    stays = False
    for position, arg in enumerate(node.args):
        name = _parameter(function, position, arg)
        value = dtype_value(arg.value, frame) if name == "dtype" else frame.evaluate(arg.value)
        stays |= value is None or contains_host(value) or _contains_text(value)
        if value is None:
            continue
        if not _goes_to_host(value):
            wrong = "an argument is not an array"
        if name == "out" and not is_out_bound and not _is_fresh(arg.value, value):
            wrong = "`out` is translated in statements and for new arrays"
        if name in _WRITTEN:
            wrong = "it may write to an argument"
        argument_values[name] = (unknown(certain=False), arg.value) if arg.star else (value, arg.value)
    if may_be_out(node, function.read_count, frame):
        wrong = "it may write to an argument"
    if stays and not is_out_bound:
        return operation(node, frame)
    if wrong is not None:
        return world.refuse(node, "NP2TF602", name=world.facts.code(node.func), why=wrong)
    world.computing.add(node)
    world.keep(node.func)
    lines = lines_for([value for value, _ in argument_values.values()], frame)
    world.edit(node, edits.passed_to(world.helper("_on_host")), "_on_host", *lines)
    if any(name in argument_values for name in _SEVERAL_FOR):
        return in_new_memory(several(), node, function, [value for value, _ in argument_values.values()])
    if function.name in world.table.host:
        return result(function, argument_values, node)
    return _loose_result(function, argument_values, node)


def _contains_text(value: Value) -> bool:
    """Return whether a list or tuple may hold texts, of which NumPy makes arrays that are not translated."""
    return any("str" in part.kinds or _contains_text(part) for part in value.parts)


def fits_host(function: Function, arguments: ArgumentValues) -> bool:
    """Return whether NumPy may compute a call that TensorFlow cannot: its result has a dtype of tensors."""
    of_booleans = any(value.dtype == "bool" for value, _ in arguments.values())
    return not (of_booleans and (function.result in _OF_TRUTH_VALUES or function.name == "power"))


def _parameter(function: Function, position: int, arg: cst.Arg) -> str:
    if arg.keyword is not None:
        return arg.keyword.value
    names = function.parameters
    is_named = position < len(names) and not arg.star and names[position][:1] not in ("*", "_")
    return names[position] if is_named else f"*{position}"


def _is_fresh(node: cst.BaseExpression, value: Value) -> bool:
    """Return whether an expression makes a new array."""
    inside = set(walk(node))
    return value.only("array") and all(root in inside for root in value.memory)


def _loose_result(function: Function, arguments: ArgumentValues, node: cst.Call) -> Value:
    """Return the value of a call with parameters that only NumPy takes."""
    values = [value for value, _ in arguments.values()]
    if any(value.is_undetermined for value in values):
        return NO_VALUE
    known = RESULTS[function.result](arguments)
    if known.only("array"):
        known = array(None, known.rank if function.result in _OF_KNOWN_RANK else None)
    elif known.may("list", "tuple"):
        known = several()
    elif known.may(*ARRAYS):
        known = array(None, None, scalar=True)
    return in_new_memory(known, node, function, values)


def item_on_host(node: cst.Subscript, name: str, frame: Frame) -> Value:
    """Return the value of `np.mgrid[key]` and the like: -> `_on_host(np.mgrid.__getitem__, key)`."""
    world = frame.world
    values = []
    for element in node.slice:
        part = element.slice
        inner_nodes = [part.value] if type(part) is cst.Index else [part.lower, part.upper, part.step]  # type: ignore[attr-defined]
        values += [frame.evaluate(inner_node) for inner_node in inner_nodes if inner_node is not None]
    world.forget(node.value)
    if any(contains_host(value) or _contains_text(value) for value in values):
        return operation(node, frame)
    if not all(map(_goes_to_host, values)):
        return world.refuse(node, "NP2TF602", name=f"np.{name}", why="a part is not an array")
    world.computing.add(node)
    world.keep(node.value)
    helper = world.helper("_on_host")

    def edit(updated_node: cst.Subscript) -> cst.BaseExpression:
        func = cst.Attribute(updated_node.value, cst.Name("__getitem__"))
        args = [cst.Arg(func), cst.Arg(edits.key_expression(updated_node.slice))]
        call = cst.Call(cst.Name(helper), args)
        return call.with_changes(lpar=updated_node.lpar, rpar=updated_node.rpar)

    world.edit(node, edit, "_on_host", LISTS, *lines_for(values, frame))
    word = world.table.grids[name]
    if word == "grid":
        return array(None, len(node.slice) + (len(node.slice) > 1), [node])
    made = array(None, 2 if word == "table" else None, [node])
    return list_value(made, [node]) if word == "several" else made


def _goes_to_host(value: Value) -> bool:
    """Return whether NumPy can take a value: numbers, arrays and texts, but nothing of the program."""
    if value.functions or value.object_classes:
        return False
    return value.may(ANY_KIND) or not value.may("lambda", "module", "generator")


def kept_call(node: cst.Call, frame: Frame) -> Value:
    """Return the value of a call of a name of NumPy that stays, and gets no arrays."""
    world = frame.world
    values = [frame.evaluate(arg.value) for arg in node.args]
    world.keep(node.func)
    if not all(value.is_plain for value in values):
        return world.refuse(node, "NP2TF602", name=world.facts.code(node.func), why="an argument is an array")
    if world.facts.imports.numpy_name(node.func) == "numpy.ndindex":
        return list_value(Value(frozenset(["tuple"]), item=plain("int")), [node])
    return host()


def method_on_host(node: cst.Call, name: str, base: Value, frame: Frame) -> Value:
    """Return the value of a method that NumPy computes: `x.argsort()` -> `_drawn(_host(x).argsort())`."""
    world, func = frame.world, node.func
    assert isinstance(func, cst.Attribute)
    values = [
        dtype_value(arg.value, frame) if _is(arg, "dtype") else frame.evaluate(arg.value) for arg in node.args
    ]
    if any(value is None or contains_host(value) for value in values):
        return operation(node, frame)
    known = 2 if name == "clip" else 1
    written = any(_is(arg, "out") for arg in node.args) or may_be_out(node, known, frame)
    if written or not all(map(_goes_to_host, filter(None, values))):
        return world.refuse(node, "NP2TF602", name=f"ndarray.{name}", why="of one of its arguments")
    for arg, value in zip(node.args, values):
        if value is not None and (not value.is_plain or value.may("dtype")):
            convert(arg.value, value, frame)
    world.computing.add(node)
    convert(func.value, base, frame)
    world.edit(node, edits.wrap_in(world.helper("_drawn")), "_drawn")
    if name in ("argsort", "argpartition"):
        return array("int64", base.rank, [node]).doubtful(base)
    memory = [node, *(base.memory if may_view(name) else ())]
    return array(None, None, memory, scalar=True).doubtful(base)


def _is(arg: cst.Arg, name: str) -> bool:
    return arg.keyword is not None and arg.keyword.value == name
