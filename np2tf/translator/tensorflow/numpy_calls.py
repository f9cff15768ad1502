"""Calls of NumPy's functions and random generators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import libcst as cst

from np2tf.core import rules
from np2tf.translator.tensorflow import edits
from np2tf.translator.tensorflow.hosts import operation
from np2tf.translator.tensorflow.model import Frame
from np2tf.translator.tensorflow.numpy_table import RESULTS, Draw, Function
from np2tf.translator.tensorflow.operations import element_of
from np2tf.translator.tensorflow.values import (
    ARRAYS,
    HOST,
    NO_VALUE,
    NUMBERS,
    PYTHON_DTYPES,
    Value,
    array,
    join,
    plain,
    unknown,
)
from np2tf.translator.tree.nodes import name_node, words

# -- numpy calls ---------------------------------------------------------------------------------------------
# Translates calls of NumPy's functions: to a function of TensorFlow, or to a helper.

ArgumentValues = dict[str, tuple[Value, cst.BaseExpression]]

#: Functions that may return their argument itself.
_MAY_RETURN_THEIR_ARGUMENT = frozenset({"asarray", "asanyarray", "ascontiguousarray"})
#: Kinds of values that only arguments for a dtype or a shape may have.
_NO_ARGUMENTS = ("str", "dict", "function", "module")
#: Parameters for numbers that NumPy or a library may give: the call is translated all the same.
_NUMBERS_FOR = words(
    "shape newshape axis axis1 axis2 num n N M k size decimals reps repeats shift keepdims ddof offset ord "
    "deg indices_or_sections source destination pad_width"
)


def numpy_call(node: cst.Call, qualified_name: str, frame: Frame) -> Value:
    """Return the value of a call of a name of NumPy."""
    world = frame.world
    name = qualified_name.removeprefix("numpy.")
    world.forget(node.func)
    if name in world.table.dtypes:
        return _conversion(node, world.table.dtypes[name], frame)
    function = world.table.functions.get(name)
    if function is None:
        for arg in node.args:
            frame.evaluate(arg.value)
        if name == "seterr" and any(not _is_quiet(arg.value) for arg in node.args):
            why = "TensorFlow does not raise NumPy's floating-point errors"
            world.refuse(world.facts.module, "NP2TF602", name=world.facts.code(node.func), why=why)
        return world.refuse(node, "NP2TF601", name=world.facts.code(node.func))
    argument_values = arguments(node, function, None, frame)
    if _gets_host_values(node, frame):
        return operation(node, frame)
    if argument_values is None:
        return array(None, None, [node], scalar=True)
    world.computing.add(node)
    target, helpers = target_of(function, argument_values, frame)
    world.edit(node.func, edits.rename_to(target), *helpers)
    return result(function, argument_values, node, frame)


def _is_quiet(node: cst.BaseExpression) -> bool:
    """Return whether an expression is one of the texts by which NumPy goes on after an error."""
    return isinstance(node, cst.SimpleString) and node.evaluated_value in ("ignore", "warn")


def _gets_host_values(node: cst.Call, frame: Frame) -> bool:
    """Return whether an argument that is an array may be a host value: NumPy runs the call, then."""
    world, facts = frame.world, frame.world.facts
    name = facts.imports.numpy_name(node.func)
    function = world.table.functions.get((name or "").removeprefix("numpy."))
    shift = 1 if name is None else 0
    if function is None and isinstance(node.func, cst.Attribute):
        function = world.table.functions.get(node.func.attr.value)
    for position, arg in enumerate(node.args, shift):
        value = world.values.get(arg.value)
        parameter = _parameter(function.parameters, position, arg) if function is not None else None
        if value is not None and _holds_host(value) and parameter not in _NUMBERS_FOR:
            return True
    return False


def _holds_host(value: Value) -> bool:
    return value.is_host or any(map(_holds_host, value.parts))


def _conversion(node: cst.Call, dtype: str, frame: Frame) -> Value:
    """Return the value of a conversion such as `np.float64(x)`."""
    world = frame.world
    if len(node.args) != 1 or node.args[0].star or node.args[0].keyword is not None:
        return world.refuse(node, "NP2TF602", name=world.facts.code(node.func), why="it takes one argument")
    value = frame.evaluate(node.args[0].value)
    if _holds_host(value):
        return operation(node, frame)
    if value.may("str") and not value.may("any"):
        return world.refuse(node, "NP2TF602", name=world.facts.code(node.func), why="it parses a string")
    helper, dtype_name = world.helper("_cast"), name_node(world.dtype_name(dtype))

    def edit(updated_node: cst.Call) -> cst.Call:
        first = updated_node.args[0].with_changes(comma=cst.MaybeSentinel.DEFAULT)
        return updated_node.with_changes(func=cst.Name(helper), args=[first, cst.Arg(dtype_name)])

    world.edit(node, edit, "_cast")
    rank = 0 if value.only("int", "float", "bool", "complex", "scalar") else value.rank
    return array(dtype, rank, [node], scalar=True).doubtful(value)


def arguments(
    node: cst.Call, function: Function, base: tuple[Value, cst.BaseExpression] | None, frame: Frame
) -> ArgumentValues | None:
    """Return the argument of a call for each parameter; None if an argument cannot be translated."""
    world = frame.world
    parameters = function.parameters
    argument_values: ArgumentValues = {} if base is None else {parameters[0]: base}
    wrong = None
    for position, arg in enumerate(node.args, len(argument_values)):
        name = _parameter(parameters, position, arg)
        is_dtype = name == "dtype"
        value = dtype_value(arg.value, frame) if is_dtype else frame.evaluate(arg.value)
        if value is None or name is None:
            wrong = wrong or (
                f"of its parameters only {_text_of_parameters(parameters)} are translated"
                if name is None
                else "this dtype is not translated"
            )
            continue
        if not is_dtype and not value.may("any") and value.may(*_NO_ARGUMENTS) and name != "indexing":
            wrong = wrong or "an argument is not an array"
        if value.may("shape") and not value.may("any") and name not in ("shape", "newshape", "size"):
            wrong = wrong or "a shape is not an array"
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
        return "NumPy returns half precision for booleans"
    arrays = [value for value in values if value.may("array", "scalar") and not value.may("any")]
    together = function.result in ("elementwise", "float", "bool", "where", "product") and arrays
    if together and any(value.only("list", "tuple") for value in values):
        return "an array is combined with a list"
    if function.name == "power" and any(value.dtype == "bool" for value in values):
        return "powers of booleans have another dtype"
    return None


def dtype_value(node: cst.BaseExpression, frame: Frame) -> Value | None:
    """Return the value of an argument for a dtype; None if it cannot be translated."""
    world = frame.world
    named = type(node) is cst.Name and node.value in PYTHON_DTYPES
    if named and world.facts.scopes.owner(node) is None:  # type: ignore[arg-type]
        return Value(frozenset(["dtype"]), PYTHON_DTYPES[node.value])  # type: ignore[attr-defined]
    if type(node) is cst.SimpleString:
        dtype = world.table.dtypes.get(str(node.evaluated_value), "")
        if not dtype:
            return None
        world.forget(node)
        world.edit(node, edits.rename_to(world.dtype_name(dtype)))
        return Value(frozenset(["dtype"]), dtype)
    value = frame.evaluate(node)
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


# -- draws ---------------------------------------------------------------------------------------------------
# Draws of NumPy's random generators: NumPy draws, and the results become tensors.

_RANDOM = "numpy.random."
#: Methods and functions that change a generator, or tell its state.
_STATES = frozenset({"seed", "get_state", "set_state", "spawn", "bytes"})


def is_random_name(qualified_name: str, frame: Frame) -> bool:
    """Return whether a name of NumPy is a function of `numpy.random` that is translated."""
    name = qualified_name.removeprefix(_RANDOM)
    table = frame.world.table
    return qualified_name.startswith(_RANDOM) and (
        name in table.draws or name in table.generators or name in _STATES
    )


def is_generator_method(base: Value, name: str, frame: Frame) -> bool:
    """Return whether a method of a generator, or of an object of a caller elsewhere, is translated.

    Whatever such an object is, on NumPy it gets NumPy's arrays, and so it does in the translation.
    """
    is_generator = base.may("generator") and base.only("generator", "none", "any")
    is_of_others = base.only("any") and not base.certain
    return (is_generator or is_of_others) and (name in frame.world.table.draws or name in _STATES)


def random_call(node: cst.Call, name: str, frame: Frame, generator: Value | None = None) -> Value:
    """Return the value of a call of a function of `numpy.random`, or of a generator's method."""
    world = frame.world
    world.forget(node.func)
    if world.facts.imports.numpy_name(node.func) is not None:
        world.keep(node.func)
    values = [_argument(arg, frame) for arg in node.args]
    if name in world.table.generators:
        return plain("generator")
    if name in _STATES:
        return plain("none", HOST)
    if generator is not None and generator.may("any"):
        world.edit(node, edits.wrap_in(world.helper("_drawn")), "_drawn")
        return unknown(node, certain=False)
    draw = world.table.draws[name]
    dtype = _dtype(node, values, draw)
    if dtype is None:
        return world.refuse(
            node, "NP2TF602", name=world.facts.code(node.func), why="it may draw something other than numbers"
        )
    world.computing.add(node)
    world.edit(node, edits.wrap_in(world.helper("_drawn")), "_drawn")
    return _result(node, values, draw, dtype)


def _argument(arg: cst.Arg, frame: Frame) -> Value:
    """Return the value of an argument, which NumPy gets as an array."""
    if arg.keyword is not None and arg.keyword.value == "dtype":
        value = dtype_value(arg.value, frame)
        if value is None:
            return frame.world.refuse(arg, "NP2TF602", name="`dtype`", why="this dtype is not translated")
        return value
    value = frame.evaluate(arg.value)
    if not value.is_plain or value.may("shape"):
        frame.world.edit(arg.value, edits.wrap_in(frame.world.helper("_host")), "_host")
    return value


def _dtype(node: cst.Call, values: list[Value], draw: Draw) -> str | None:
    """Return the dtype of what is drawn; "" if it is unknown, None if it may be no number."""
    for arg, value in zip(node.args, values):
        if arg.keyword is not None and arg.keyword.value == "dtype":
            return value.dtype or ""
    if draw.dtype:
        return draw.dtype
    if not values or node.args[0].keyword is not None:
        return None
    first = values[0]
    if first.only(*ARRAYS):
        return first.dtype or ""
    if first.only("int"):
        return "int64"
    kinds = element_of(first).kinds if first.only("list", "tuple", "range") else frozenset()
    return PYTHON_DTYPES[next(iter(kinds))] if len(kinds) == 1 and kinds <= NUMBERS else None


def _result(node: cst.Call, values: list[Value], draw: Draw, dtype: str) -> Value:
    """Return the possible values of a draw: Python's or NumPy's number, or an array."""
    dtype_or_none = dtype or None
    if draw.size is None and not draw.dtype:  # a permutation
        first = values[0]
        return array(dtype_or_none, 1 if first.only("int", "list", "range") else first.rank, [node])
    if draw.size is None:
        if any(arg.star for arg in node.args):
            return array(dtype_or_none, None, [node], scalar=True)
        return array(dtype_or_none, len(node.args), [node]) if node.args else plain("float")
    size = _size(node, values, draw.size)
    is_of_numbers = all(value.only(*NUMBERS, "none", "dtype", "str") for value in values)
    if size is None or size.only("none"):
        if is_of_numbers and not draw.axes:
            return join(
                plain("int" if dtype_or_none == "int64" else "float"), array(dtype_or_none, 0)
            ) or array(dtype_or_none, 0)
        return array(dtype_or_none, draw.axes or None, [node], scalar=not draw.axes)
    if size.only("int", "scalar"):
        return array(dtype_or_none, 1 + draw.axes, [node])
    if size.only("tuple") and size.items is not None:
        return array(dtype_or_none, len(size.items) + draw.axes, [node])
    return array(dtype_or_none, None, [node], scalar=True)


def _size(node: cst.Call, values: list[Value], position: int) -> Value | None:
    for index, (arg, value) in enumerate(zip(node.args, values)):
        if arg.star:
            return Value(frozenset(["any"]))
        if (arg.keyword is not None and arg.keyword.value == "size") or (
            arg.keyword is None and index == position
        ):
            return value
    return None


def shuffled_argument(node: cst.Call, frame: Frame) -> cst.BaseExpression | None:
    """Return the array that a call shuffles; None if the call is no shuffle."""
    func = node.func
    qualified_name = frame.world.facts.imports.numpy_name(func)
    is_function = qualified_name == f"{_RANDOM}shuffle"
    is_method = (
        qualified_name is None
        and isinstance(func, cst.Attribute)
        and func.attr.value == "shuffle"
        and frame.evaluate(func.value).only("generator")
    )
    if not (is_function or is_method) or not node.args or node.args[0].star:
        return None
    return node.args[0].value if node.args[0].keyword is None else None


def shuffle_edit(helper: str) -> edits.Edit:
    """`rng.shuffle(x)` -> `helper(rng.shuffle, x)`."""

    def edit(updated_node: cst.Call) -> cst.Call:
        args = [cst.Arg(updated_node.func), *updated_node.args]
        return updated_node.with_changes(func=cst.Name(helper), args=args)

    return edit
