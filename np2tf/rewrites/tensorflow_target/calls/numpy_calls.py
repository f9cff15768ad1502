"""Translates calls of NumPy's functions: to a function of TensorFlow, or to a helper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import libcst as cst

from np2tf import rules
from np2tf.rewrites.tensorflow_target.model import edits
from np2tf.rewrites.tensorflow_target.model.results import RESULTS
from np2tf.rewrites.tensorflow_target.model.table import Function
from np2tf.rewrites.tensorflow_target.model.values import NO_VALUE, PYTHON_DTYPES, Value, array
from np2tf.rewrites.tensorflow_target.model.world import Evaluate, Frame

ArgumentValues = dict[str, tuple[Value, cst.BaseExpression]]

#: Functions that may return their argument itself.
_MAY_RETURN_THEIR_ARGUMENT = frozenset({"asarray", "asanyarray", "ascontiguousarray"})
#: Kinds of values that only arguments for a dtype or a shape may have.
_NO_ARGUMENTS = ("str", "dict", "function", "other", "module")


def numpy_call(node: cst.Call, qualified_name: str, frame: Frame, evaluate: Evaluate) -> Value:
    """Return the value of a call of a name of NumPy."""
    world = frame.world
    name = qualified_name.removeprefix("numpy.")
    world.forget(node.func)
    if name in world.table.dtypes:
        return _conversion(node, world.table.dtypes[name], frame, evaluate)
    function = world.table.functions.get(name)
    if function is None:
        for arg in node.args:
            evaluate(arg.value, frame)
        return world.refuse(node, "NP2TF601", name=world.facts.code(node.func))
    argument_values = arguments(node, function, None, frame, evaluate)
    if argument_values is None:
        return array(None, None, [node], scalar=True)
    target, helpers = target_of(function, argument_values, frame)
    world.edit(node.func, edits.rename_to(target), *helpers)
    return result(function, argument_values, node, frame)


def _conversion(node: cst.Call, dtype: str, frame: Frame, evaluate: Evaluate) -> Value:
    """Return the value of a conversion such as `np.float64(x)`."""
    world = frame.world
    if len(node.args) != 1 or node.args[0].star or node.args[0].keyword is not None:
        return world.refuse(node, "NP2TF602", name=world.facts.code(node.func), why="it takes one argument")
    value = evaluate(node.args[0].value, frame)
    if value.may("str") and not value.may("any"):
        return world.refuse(node, "NP2TF602", name=world.facts.code(node.func), why="it reads a text")
    dtype_path = f"{world.tnp}.{'bool_' if dtype == 'bool' else dtype}"
    helper = world.helper("_cast")

    def edit(updated_node: cst.Call) -> cst.Call:
        comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
        first = updated_node.args[0].with_changes(comma=comma)
        return updated_node.with_changes(func=cst.Name(helper), args=[first, cst.Arg(edits_name(dtype_path))])

    world.edit(node, edit, "_cast")
    rank = 0 if value.only("int", "float", "bool", "complex", "scalar") else value.rank
    return array(dtype, rank, [node], scalar=True).doubtful(value)


def edits_name(path: str) -> cst.BaseExpression:
    """Return a dotted path as an expression."""
    return edits.name_node(path)


def arguments(
    node: cst.Call,
    function: Function,
    base: tuple[Value, cst.BaseExpression] | None,
    frame: Frame,
    evaluate: Evaluate,
) -> ArgumentValues | None:
    """Return the argument of a call for each parameter; None if an argument cannot be translated."""
    world = frame.world
    parameters = function.parameters
    argument_values: ArgumentValues = {} if base is None else {parameters[0]: base}
    wrong = None
    for position, arg in enumerate(node.args, len(argument_values)):
        name = _parameter(parameters, position, arg)
        is_dtype = name == "dtype"
        value = dtype_value(arg.value, frame, evaluate) if is_dtype else evaluate(arg.value, frame)
        if value is None or name is None:
            wrong = wrong or (
                f"of its parameters only {_text_of_parameters(parameters)} are translated"
                if name is None
                else "this dtype is not translated"
            )
            continue
        if not is_dtype and not value.may("any") and value.may(*_NO_ARGUMENTS) and name != "indexing":
            wrong = wrong or "an argument is no array"
        if value.may("shape") and not value.may("any") and name not in ("shape", "newshape", "size"):
            wrong = wrong or "a shape is no array"
        argument_values[name] = (value, arg.value)
        if value.only("list", "tuple") and value.may_be_array and not _takes_several(function):
            # Python's numbers beside arrays in a list count as float64, which tensors would not let them.
            world.edit(arg.value, edits.wrap_in(world.helper("_array")), "_array")
    wrong = wrong or _unlike_numpy(function, argument_values)
    if wrong is not None:
        world.refuse(node, "NP2TF602", name=f"{world.facts.code(node.func)}", why=wrong)
        return None
    return argument_values


def _takes_several(function: Function) -> bool:
    """Return whether a function takes a sequence of separate arrays."""
    return function.parameters[0] in ("arrays", "tup", "*xi") or function.only_with_arrays


def _text_of_parameters(parameters: Sequence[str]) -> str:
    return ", ".join(parameter for parameter in parameters if parameter != "_")


def _parameter(parameters: Sequence[str], position: int, arg: cst.Arg) -> str | None:
    """Return the parameter that gets an argument; None if the argument cannot be translated."""
    if arg.star:
        return None
    if arg.keyword is not None:
        name = arg.keyword.value
        return name if name in parameters and name != "_" else None
    if parameters[0].startswith("*"):
        return f"*{position}"
    if position >= len(parameters) or parameters[position] == "_":
        return None
    return parameters[position]


def _unlike_numpy(function: Function, arguments: ArgumentValues) -> str | None:
    """Return why the dtypes and kinds do not guarantee NumPy's result; None if they do."""
    values = [value for name, (value, _) in arguments.items() if name != "dtype"]
    if function.result == "float" and any(value.dtype == "bool" for value in values):
        return "of truth values NumPy makes half precision"
    arrays = [value for value in values if value.may("array", "scalar") and not value.may("any")]
    together = function.result in ("elementwise", "float", "bool", "where", "product") and arrays
    if together and any(value.only("list", "tuple") for value in values):
        return "an array stands beside a list"
    if function.name == "power" and any(value.dtype == "bool" for value in values):
        return "powers of truth values have another dtype"
    return None


def dtype_value(node: cst.BaseExpression, frame: Frame, evaluate: Evaluate) -> Value | None:
    """Return the value of an argument for a dtype; None if it cannot be translated."""
    world = frame.world
    named = type(node) is cst.Name and node.value in PYTHON_DTYPES
    if named and world.facts.scopes.of(node).owner_of(node.value) is None:  # type: ignore[attr-defined]
        return Value(frozenset(["dtype"]), PYTHON_DTYPES[node.value])  # type: ignore[attr-defined]
    if type(node) is cst.SimpleString:
        dtype = world.table.dtypes.get(str(node.evaluated_value), "")
        if not dtype:
            return None
        world.forget(node)
        world.edit(node, edits.rename_to(f"{world.tnp}.{'bool_' if dtype == 'bool' else dtype}"))
        return Value(frozenset(["dtype"]), dtype)
    value = evaluate(node, frame)
    return value if value.only("dtype") or value.only("none") else None


def target_of(function: Function, arguments: ArgumentValues, frame: Frame) -> tuple[str, tuple[str, ...]]:
    """Return the function that is called instead, and the helpers that the call needs."""
    world = frame.world
    helper = function.helper
    if function.name == "where" and len(arguments) == 1:
        helper = "_nonzero"
    if function.only_with_arrays and all(_is_python(value) for value, _ in arguments.values()):
        helper = ""
    if helper:
        return world.helper(helper), (helper,)
    return f"{world.tnp}.{function.name}", ()


def _is_python(value: Value) -> bool:
    return value.is_plain or value.only("dtype") or value.only("array")


def result(function: Function, arguments: ArgumentValues, node: cst.CSTNode, frame: Frame) -> Value:
    """Return the possible values of a function's result, with the memory that it may share."""
    values = [value for value, _ in arguments.values()]
    if any(value.is_undetermined for value in values):
        return NO_VALUE
    output = RESULTS[function.result](arguments)
    if not output.may("array", "list", "tuple"):
        return output.doubtful(*values)
    rule = rules.find(f"numpy.{function.name}")
    is_view = function.name in _MAY_RETURN_THEIR_ARGUMENT or (rule is not None and rule.returns_view)
    memory = frozenset([node]) | (values[0].memory if is_view and values else frozenset())
    return replace(output, memory=memory).doubtful(*values)
