"""Draws of NumPy's random generators: NumPy draws, and the results become tensors."""

from __future__ import annotations

import libcst as cst

from np2tf.rewrites.tensorflow_target.calls.numpy_calls import dtype_value
from np2tf.rewrites.tensorflow_target.model import edits
from np2tf.rewrites.tensorflow_target.model.operations import element_of
from np2tf.rewrites.tensorflow_target.model.table import Draw
from np2tf.rewrites.tensorflow_target.model.values import (
    ARRAYS,
    NUMBERS,
    PYTHON_DTYPES,
    Value,
    array,
    join,
    plain,
    unknown,
)
from np2tf.rewrites.tensorflow_target.model.world import Evaluate, Frame

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


def random_call(
    node: cst.Call, name: str, frame: Frame, evaluate: Evaluate, generator: Value | None = None
) -> Value:
    """Return the value of a call of a function of `numpy.random`, or of a generator's method."""
    world = frame.world
    world.forget(node.func)
    if world.facts.imports.numpy_name(node.func) is not None:
        world.keep(node.func)
    values = [_argument(arg, frame, evaluate) for arg in node.args]
    if name in world.table.generators:
        return plain("generator")
    if name in _STATES:
        return plain("none", "other")
    if generator is not None and generator.may("any"):
        world.edit(node, edits.wrap_in(world.helper("_drawn")), "_drawn")
        return unknown(node, certain=False)
    draw = world.table.draws[name]
    dtype = _dtype(node, values, draw)
    if dtype is None:
        return world.refuse(
            node, "NP2TF602", name=world.facts.code(node.func), why="it may draw what is no number"
        )
    world.edit(node, edits.wrap_in(world.helper("_drawn")), "_drawn")
    return _result(node, values, draw, dtype)


def _argument(arg: cst.Arg, frame: Frame, evaluate: Evaluate) -> Value:
    """Return the value of an argument, which NumPy gets as an array."""
    if arg.keyword is not None and arg.keyword.value == "dtype":
        value = dtype_value(arg.value, frame, evaluate)
        if value is None:
            return frame.world.refuse(arg, "NP2TF602", name="`dtype`", why="this dtype is not translated")
        return value
    value = evaluate(arg.value, frame)
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


def shuffled_argument(node: cst.Call, frame: Frame, evaluate: Evaluate) -> cst.BaseExpression | None:
    """Return the array that a call shuffles; None if the call is no shuffle."""
    func = node.func
    qualified_name = frame.world.facts.imports.numpy_name(func)
    is_function = qualified_name == f"{_RANDOM}shuffle"
    is_method = (
        qualified_name is None
        and isinstance(func, cst.Attribute)
        and func.attr.value == "shuffle"
        and evaluate(func.value, frame).only("generator")
    )
    if not (is_function or is_method) or not node.args or node.args[0].star:
        return None
    return node.args[0].value if node.args[0].keyword is None else None


def shuffle_edit(helper: str) -> edits.Edit:
    """`rng.shuffle(x)` -> `helper(rng.shuffle, x)`."""

    def edit(updated_node: cst.Call) -> cst.Call:
        comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
        first = cst.Arg(updated_node.func, comma=comma)
        return updated_node.with_changes(func=cst.Name(helper), args=[first, *updated_node.args])

    return edit
