"""Calls of NumPy's functions and random generators."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from np2tf.translator.tensorflow import edits
from np2tf.translator.tensorflow.conversions import convert
from np2tf.translator.tensorflow.host_calls import call_on_host, fits_host, kept_call
from np2tf.translator.tensorflow.hosts import contains_host, operation
from np2tf.translator.tensorflow.hosts import table as borders_table
from np2tf.translator.tensorflow.model import Frame
from np2tf.translator.tensorflow.numpy_table import (
    ON_HOST,
    TENSORS,
    ArgumentValues,
    Draw,
    Function,
    result,
)
from np2tf.translator.tensorflow.operations import dtype_value, element_of
from np2tf.translator.tensorflow.values import (
    ARRAYS,
    HOST,
    NO_VALUE,
    NUMBERS,
    PYTHON_DTYPES,
    Value,
    array,
    plain,
    union,
    unknown,
)
from np2tf.translator.tree.nodes import name_node, words

# -- numpy calls ---------------------------------------------------------------------------------------------
# Translates calls of NumPy's functions: to a function of TensorFlow, to a helper, or to NumPy itself.

#: Kinds of values that only arguments for a dtype or a shape may have.
_NO_ARGUMENTS = ("str", "dict", "function", "module")
#: Parameters that take text.
_OF_TEXT = frozenset({"indexing", "subscripts"})
#: Parameters for numbers that NumPy or a library may give: the call is translated all the same.
_NUMBERS_FOR = words(
    "shape newshape axis axis1 axis2 num n N M k size decimals reps repeats shift keepdims ddof offset ord "
    "deg indices_or_sections source destination pad_width"
)
#: Functions that make values between numbers.
_BETWEEN = ("arange", "linspace")
_WRONG_DTYPE = "this dtype is not translated"


def numpy_call(node: cst.Call, qualified_name: str, frame: Frame) -> Value:
    """Return the value of a call of a name of NumPy."""
    world = frame.world
    name = qualified_name.removeprefix("numpy.")
    world.forget(node.func)
    if name in world.table.dtypes:
        return _conversion(node, world.table.dtypes[name], frame)
    if name in world.table.kept:
        return kept_call(node, frame)
    function, on_host = world.table.functions.get(name), _on_host(name, frame)
    # A handler around the call may wait for NumPy's error.
    if on_host is not None and (function is None or (frame.raise_states and name.startswith("linalg."))):
        return call_on_host(node, on_host, frame)
    if function is None:
        if name in borders_table().made:
            return operation(node, frame, is_evaluated=False)
        for arg in node.args:
            frame.evaluate(arg.value)
        if name == "seterr" and any(not _is_quiet(arg.value) for arg in node.args):
            why = "TensorFlow does not raise NumPy's floating-point errors"
            world.refuse(world.facts.module, "NP2TF602", name=world.facts.code(node.func), why=why)
        return world.refuse(node, "NP2TF601", name=world.facts.code(node.func))
    argument_values, wrong = read_arguments(node, function, None, frame)
    if _gets_host_values(node, function, frame):
        return operation(node, frame)
    if wrong not in (None, _WRONG_DTYPE) and fits_host(function, argument_values):
        return call_on_host(node, function, frame)
    if wrong is not None:
        world.refuse(node, "NP2TF602", name=f"{world.facts.code(node.func)}", why=wrong)
        return array(None, None, [node], scalar=True)
    world.computing.add(node)
    target, helpers = target_of(function, argument_values, frame)
    world.edit(node.func, edits.rename_to(target), *helpers)
    return result(function, argument_values, node)


def _on_host(name: str, frame: Frame) -> Function | None:
    """Return the facts about a function that NumPy may compute; None for others."""
    table = frame.world.table
    if name in table.host:
        return table.host[name]
    ufunc, _, method = name.rpartition(".")
    if method in _UFUNC_METHODS and ufunc in table.functions:
        result_word, *parameters = _UFUNC_METHODS[method]
        return Function(name, tuple(parameters), result_word, "", False)
    return table.functions.get(name)


#: Methods of NumPy's functions of elements, which NumPy computes -> the word for the result, and parameters.
_UFUNC_METHODS = {
    "outer": ("crossed", "a", "b"),
    "reduce": ("any", "array", "axis", "dtype"),
    "accumulate": ("like", "array", "axis", "dtype"),
    "reduceat": ("like", "array", "indices", "axis", "dtype"),
}


def write_result(node: cst.Call, out: cst.Arg, frame: Frame) -> bool:
    """Follow a call whose result a statement binds to the place of `out=`; return whether TensorFlow
    computes it, so that `out=` goes away.
    """
    world = frame.world
    name = (world.facts.imports.numpy_name(node.func) or "").removeprefix("numpy.")
    function = world.table.functions.get(name)
    if function is not None:
        call = node.with_changes(args=[arg for arg in node.args if arg is not out])
        argument_values, wrong = read_arguments(call, function, None, frame)
        if wrong is None and not _gets_host_values(call, function, frame):
            target, helpers = target_of(function, argument_values, frame)
            world.forget(node.func)
            world.computing.add(node)
            world.edit(node.func, edits.rename_to(target), *helpers)
            world.edit(node, _without_out)
            return True
    call_on_host(node, function or world.table.host[name], frame, is_out_bound=True)
    return False


def _without_out(node: cst.Call) -> cst.Call:
    args = [arg for arg in node.args if arg.keyword is None or arg.keyword.value != "out"]
    return node.with_changes(args=[*args[:-1], args[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)])


def _is_quiet(node: cst.BaseExpression) -> bool:
    """Return whether an expression is one of the texts by which NumPy goes on after an error."""
    return isinstance(node, cst.SimpleString) and node.evaluated_value in ("ignore", "warn")


def _gets_host_values(node: cst.Call, function: Function, frame: Frame) -> bool:
    """Return whether an argument that is an array may be a host value: NumPy runs the call, then."""
    for position, arg in enumerate(node.args):
        value = frame.world.values.get(arg.value)
        is_number = _parameter(function.parameters, position, arg) in _NUMBERS_FOR
        if value is not None and contains_host(value) and not is_number:
            return True
    return False


def _conversion(node: cst.Call, dtype: str, frame: Frame) -> Value:
    """Return the value of a conversion such as `np.float64(x)`."""
    world = frame.world
    if len(node.args) != 1 or node.args[0].star or node.args[0].keyword is not None:
        return world.refuse(node, "NP2TF602", name=world.facts.code(node.func), why="it takes one argument")
    value = frame.evaluate(node.args[0].value)
    if contains_host(value):
        return operation(node, frame)
    if value.is_undetermined:
        return NO_VALUE
    if value.may("str") and not value.may("any"):
        return world.refuse(node, "NP2TF602", name=world.facts.code(node.func), why="it parses a string")
    dtype_name = name_node(world.dtype_name(dtype))
    # A number of Python's would become a tensor of half its precision first.
    helpers = () if value.only(*ARRAYS) else ("_cast",)
    target = world.helper("_cast") if helpers else f"{world.tf}.cast"

    def edit(updated_node: cst.Call) -> cst.Call:
        first = updated_node.args[0].with_changes(comma=cst.MaybeSentinel.DEFAULT)
        return updated_node.with_changes(func=name_node(target), args=[first, cst.Arg(dtype_name)])

    world.edit(node, edit, *helpers)
    rank = 0 if value.only("int", "float", "bool", "complex", "scalar") else value.rank
    return array(dtype, rank, [node], scalar=True).doubtful(value)


def read_arguments(
    node: cst.Call, function: Function, base: tuple[Value, cst.BaseExpression] | None, frame: Frame
) -> tuple[dict[str, tuple[Value, cst.BaseExpression]], str | None]:
    """Return the argument of a call for each parameter, and why one cannot be translated, or None."""
    parameters = function.parameters
    argument_values: dict[str, tuple[Value, cst.BaseExpression]] = (
        {} if base is None else {parameters[0]: base}
    )
    wrong = None
    for position, arg in enumerate(node.args, len(argument_values)):
        name = _parameter(parameters, position, arg)
        is_dtype = name == "dtype"
        value = dtype_value(arg.value, frame) if is_dtype else frame.evaluate(arg.value)
        if value is None or name is None:
            wrong = wrong or (
                f"of its parameters only {_text_of_parameters(parameters)} are translated"
                if name is None
                else _WRONG_DTYPE
            )
            continue
        if not is_dtype and not value.may("any") and value.may(*_NO_ARGUMENTS) and name not in _OF_TEXT:
            wrong = wrong or "an argument is not an array"
        if value.may("shape") and not value.may("any") and name not in ("shape", "newshape", "size"):
            wrong = wrong or "a shape is not an array"
        argument_values[name] = (value, arg.value)
    return argument_values, wrong or _unlike_numpy(function, argument_values)


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
    if parameters[-1].startswith("*") and position >= len(parameters) - 1:
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
    if function.name == "einsum" and not _has_plain_subscripts(arguments):
        return "its subscripts are not a literal of letters"
    if function.name == "linspace" and any(value.only("array", "list") for value in values):
        return "its ends are arrays"
    if function.name in _BETWEEN and any(value.dtype == "float32" for value in values):
        return "its ends have single precision"
    if function.name == "arange" and not all(map(_is_int, values)) and _dtype_of(arguments) != "float64":
        return "its values have another dtype than its ends"
    if function.name == "power" and any(value.dtype == "bool" for value in values):
        return "powers of booleans have another dtype"
    return None


def _dtype_of(arguments: ArgumentValues) -> str | None:
    """Return the dtype that a call asks for; float64 if it asks for none."""
    return arguments["dtype"][0].dtype if "dtype" in arguments else "float64"


def _has_plain_subscripts(arguments: ArgumentValues) -> bool:
    """Return whether the first argument of `np.einsum` is a text without an ellipsis."""
    _, first = next(iter(arguments.values()), (None, None))
    return isinstance(first, cst.SimpleString) and "." not in str(first.evaluated_value)


def target_of(function: Function, arguments: ArgumentValues, frame: Frame) -> tuple[str, tuple[str, ...]]:
    """Return the function that is called instead, and the helpers that the call needs."""
    world = frame.world
    for name, (value, node) in arguments.items():
        is_number = name in _NUMBERS_FOR or _takes_several(function)
        if value.only("list", "tuple") and value.may_be_array and not is_number:
            # Python's numbers beside arrays in a list count as float64, which tensors would not let them.
            world.edit(node, edits.wrap_in(world.helper("_array")), "_array")
    helper = function.helper
    if function.name == "where" and len(arguments) == 1:
        helper = "_nonzero"
    if function.name == "arange" and all(_is_int(value) for value, _ in arguments.values()):
        helper = ""
    if function.only_with_arrays and all(_is_python(value) for value, _ in arguments.values()):
        helper = ""
    if helper and function.name in _BETWEEN and not all(value.is_plain for value, _ in arguments.values()):
        return world.helper(helper), (helper, TENSORS)
    if helper:
        return world.helper(helper), (helper,)
    return f"{world.tnp}.{function.name}", ()


def _is_int(value: Value) -> bool:
    return value.certain and value.only("int", "dtype")


def _is_python(value: Value) -> bool:
    return value.is_plain or value.only("dtype") or value.only("array")


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
    drawn = _result(node, values, draw, dtype)
    world.computing.add(node)
    if generator is None and drawn.only("scalar", *NUMBERS) and all(map(_is_number, values)):
        return plain("int" if dtype == "int64" else "float")  # The functions give Python's numbers.
    if drawn.only("array") and dtype:
        world.edit(node, edits.wrap_in(f"{world.tf}.constant"), ON_HOST)
    else:
        world.edit(node, edits.wrap_in(world.helper("_drawn")), "_drawn")
    return drawn


def _is_number(value: Value) -> bool:
    return value.certain and value.only(*NUMBERS, "scalar")


def _argument(arg: cst.Arg, frame: Frame) -> Value:
    """Return the value of an argument, which NumPy gets as an array."""
    if arg.keyword is not None and arg.keyword.value == "dtype":
        value = dtype_value(arg.value, frame)
        if value is None:
            return frame.world.refuse(arg, "NP2TF602", name="`dtype`", why="this dtype is not translated")
        return value
    value = frame.evaluate(arg.value)
    if not value.is_plain or value.may("shape"):
        convert(arg.value, value, frame)
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
    is_of_numbers = all(value.only(*NUMBERS, "scalar", "none", "dtype", "str") for value in values)
    if size is None or size.only("none"):
        if draw.axes or any(value.only("array") for value in values):
            return array(dtype_or_none, draw.axes or None, [node])
        rank = 0 if is_of_numbers else None
        drawn = array(dtype_or_none, rank, [node], scalar=True)
        return union([plain("int" if dtype_or_none == "int64" else "float"), drawn])
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
