"""The results of operators and indices, and where TensorFlow's differ from NumPy's."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from np2tf.translator.tensorflow import edits
from np2tf.translator.tensorflow.conversions import convert, holds_dtype
from np2tf.translator.tensorflow.model import Frame
from np2tf.translator.tensorflow.numpy_table import product
from np2tf.translator.tensorflow.values import (
    ANY_KIND,
    ARRAYS,
    CONTAINERS,
    HOST,
    NO_VALUE,
    NUMBERS,
    PYTHON_DTYPES,
    Value,
    array,
    broadcast_rank,
    join,
    plain,
    promote,
    tuple_value,
    union,
    unknown,
)

# -- texts and dtypes ----------------------------------------------------------------------------------------
# Values that a text shows: tensors become NumPy's numbers and arrays, and dtypes NumPy's.


def show_in_text(node: cst.BaseExpression, value: Value, frame: Frame) -> None:
    """Plan the edit of an expression that a text shows; refuse a dataclass, whose fields are tensors."""
    classes = frame.world.program.classes
    if any(classes.shows_fields(class_node) for class_node in value.object_classes):
        frame.world.refuse(node, "NP2TF606", what="the text of a dataclass object")
    elif (not value.is_plain or holds_dtype(value)) and not value.only("object"):
        convert(node, value, frame)


def show_dtypes(args: Sequence[cst.Arg], values: Sequence[Value], frame: Frame) -> None:
    """Plan NumPy's dtypes for arguments of functions that may show them."""
    for arg, value in zip(args, values):
        if holds_dtype(value) and frame.world.facts.imports.numpy_name(arg.value) is None:
            convert(arg.value, value, frame)


def named_dtype(node: cst.BaseExpression, frame: Frame) -> str | None:
    """Return the dtype that a builtin type or a text names; None if it is not translated."""
    if isinstance(node, cst.Name) and frame.world.facts.scopes.owner(node) is None:
        return PYTHON_DTYPES.get(node.value)
    if isinstance(node, cst.SimpleString):
        return frame.world.table.dtypes.get(str(node.evaluated_value))
    return None


def dtype_value(node: cst.BaseExpression, frame: Frame) -> Value | None:
    """Return the value of an argument for a dtype; None if it cannot be translated."""
    world, dtype = frame.world, named_dtype(node, frame)
    if isinstance(node, cst.SimpleString) and dtype is not None:
        world.forget(node)
        world.edit(node, edits.rename_to(world.dtype_name(dtype)))
    if dtype is not None:
        return Value(frozenset(["dtype"]), dtype)
    value = frame.evaluate(node)
    return value if value.only("dtype") or value.only("none") else None


# -- operations ----------------------------------------------------------------------------------------------
# The results of operators and indices, and the cases in which TensorFlow's differ from NumPy's.

_ORDER = ("bool", "int", "float", "complex")
#: Operators that TensorFlow computes differently for floats -> the helper that computes NumPy's result.
HELPERS: dict[type[cst.CSTNode], str] = {
    cst.FloorDivide: "_floor_divide",
    cst.Modulo: "_remainder",
    cst.FloorDivideAssign: "_floor_divide",
    cst.ModuloAssign: "_remainder",
}
_SUMS = (cst.Add, cst.AddAssign)
_DIFFERENCES = (cst.Subtract, cst.SubtractAssign)
_DIVISIONS = (cst.Divide, cst.DivideAssign)
_SHIFTS = (cst.LeftShift, cst.RightShift, cst.LeftShiftAssign, cst.RightShiftAssign)
_PRODUCTS = (cst.MatrixMultiply, cst.MatrixMultiplyAssign)
_POWERS = (cst.Power, cst.PowerAssign)


def element_of(value: Value) -> Value:
    """Return the value of an item in an iteration over a value."""
    element: Value | None = None
    if value.is_undetermined:
        return NO_VALUE
    if value.may(ANY_KIND, "object", "class"):
        element = unknown(*value.memory, certain=False)
    if value.is_host:
        element = join(element, Value(frozenset([HOST]), memory=value.memory, libraries=value.libraries))
    if value.may("array"):
        rank = None if value.rank is None else value.rank - 1
        memory = frozenset() if rank == 0 else value.memory
        element = join(element, array(value.dtype, rank, memory, scalar=True))
    if value.may("range", "shape"):
        element = join(element, plain("int"))
    if value.may("str", "dict") and not value.may(ANY_KIND):
        element = join(element, plain("str", "int", "float"))
    if value.items is not None:
        element = join(element, union(value.items)) if value.items else element
    elif (value.item is not None and not value.only("dict")) or value.item is not None:
        element = join(element, value.item)
    if element is None:  # What has no items raises an exception.
        element = NO_VALUE if value.only(*CONTAINERS, *NUMBERS, "none") else plain(HOST)
    return element.doubtful(value)


def helper_of(operator: cst.CSTNode, values: Sequence[Value]) -> str | None:
    """Return the helper that must replace an operator; None if the operator stays."""
    if type(operator) in _SUMS and any(value.may(*ARRAYS) for value in values) and promote(values) == "bool":
        return "_add"
    name = HELPERS.get(type(operator))
    if name is None or not any(value.may(*ARRAYS) for value in values):
        return name if name and not all(value.is_plain for value in values) else None
    dtype = promote(values)
    whole = dtype is not None and dtype.startswith("int") and all(value.certain for value in values)
    return None if whole else name


def binary(node: cst.BinaryOperation, left: Value, right: Value, frame: Frame) -> Value:
    """Return the value of `left operator right`."""
    world, operator = frame.world, node.operator
    if left.only("str") and isinstance(operator, cst.Modulo):
        show_in_text(node.right, right, frame)
        return plain("str")
    wrong = unfit(operator, left, right)
    if wrong is not None:
        return world.refuse(node, "NP2TF602", name=f"`{_symbol(operator)}`", why=wrong)
    helper = helper_of(operator, [left, right])
    if helper is not None:
        world.edit(node, edits.operator_call(world.helper(helper)), helper)
    return result_of(operator, left, right, node).doubtful(left, right)


def _symbol(operator: cst.CSTNode) -> str:
    return str(cst.Module([]).code_for_node(operator)).strip()


def unfit(operator: cst.CSTNode, left: Value, right: Value) -> str | None:
    """Return why TensorFlow's result for these operands may differ from NumPy's; None if it does not."""
    sides = (left, right)
    if any(side.is_of_program for side in sides):
        return "an object defines its own operators"
    arrays = any(side.may("array", "scalar") and not side.may(ANY_KIND) for side in sides)
    if arrays and any(side.only("list", "tuple") for side in sides):
        return "an array is combined with a list"
    if isinstance(operator, _SHIFTS) and not all(side.is_plain for side in sides):
        return "tensors have no shift operators"
    if isinstance(operator, (*_POWERS, *HELPERS)) and arrays and any(side.dtype == "bool" for side in sides):
        return "the result has another dtype for booleans"
    if isinstance(operator, (*_DIFFERENCES, *_DIVISIONS, *_PRODUCTS)) and arrays and promote(sides) == "bool":
        return "TensorFlow does not compute it for booleans"
    return None


def result_of(operator: cst.CSTNode, left: Value, right: Value, node: cst.CSTNode) -> Value:
    """Return the value of an operation whose operands `unfit` accepts."""
    if left.is_undetermined or right.is_undetermined:
        return NO_VALUE
    left, right = _without_none(left), _without_none(right)
    if isinstance(operator, _PRODUCTS):
        return product(left, right)
    sequences = left.may(*CONTAINERS, "str", "shape") and right.may(*CONTAINERS, "str", "shape", "int")
    if sequences and not left.may(ANY_KIND) and not right.may(ANY_KIND, *ARRAYS):
        return _sequences(left, right)
    if right.may(*CONTAINERS, "str") and left.only("int"):
        return right
    return arithmetic(
        [left, right], node, divides=isinstance(operator, _DIVISIONS), power=isinstance(operator, _POWERS)
    )


def _sequences(left: Value, right: Value) -> Value:
    """Return a concatenation of two sequences, or a repetition of one sequence."""
    if right.only("int"):
        return left if left.items is None else Value(left.kinds, item=element_of(left), memory=left.memory)
    if left.items is not None and right.items is not None:
        return tuple_value([*left.items, *right.items])
    return join(left, right) or left


def _without_none(value: Value) -> Value:
    """Return an operand of arithmetic without the possibility None, which raises an exception."""
    if "none" not in value.kinds or len(value.kinds) == 1:
        return value
    return Value(
        value.kinds - {"none"}, value.dtype, value.rank, value.items, value.item, value.memory, value.certain
    )


def arithmetic(
    values: Sequence[Value], node: cst.CSTNode, divides: bool = False, power: bool = False
) -> Value:
    """Return the result of arithmetic: an array in new memory if an operand is an array."""
    if any(value.is_undetermined for value in values):
        return NO_VALUE
    if all(value.only(*NUMBERS) for value in values):
        return _number(values, divides, power)
    rank = broadcast_rank(values)
    certainly = any(value.only("array") and (value.rank or 0) > 0 for value in values)
    if any(value.may(ANY_KIND) for value in values) and not certainly:
        return unknown(node, certain=False)
    dtype = promote(values)
    if divides and dtype in ("bool", "int32", "int64"):
        dtype = "float64"
    if power and dtype in ("int32", "int64") and values[-1].only("float"):
        dtype = "float64"
    if all(value.only(*NUMBERS, "scalar") for value in values):
        result = array(dtype, 0)
        if all(value.may(*NUMBERS) for value in values):
            result = join(result, _number([_numbers(value) for value in values], divides, power)) or result
        return result
    if certainly or (rank or 0) > 0:
        return array(dtype, rank, [node])
    result = array(dtype, rank, [node], scalar=True)
    if all(value.may(*NUMBERS) for value in values):
        result = join(result, plain("int", "float")) or result
    return result


def _numbers(value: Value) -> Value:
    return Value(value.kinds & NUMBERS)


def _number(values: Sequence[Value], divides: bool, power: bool) -> Value:
    """Return the result of arithmetic on Python's numbers."""
    kinds = {_ORDER[max(1, _ORDER.index(kind))] for value in values for kind in value.kinds}
    if kinds == {"int"}:
        return plain("float") if divides else plain("int", "float") if power else plain("int")
    if divides:
        kinds = {"float" if kind == "int" else kind for kind in kinds}
    if power and not values[-1].only("int", "bool"):
        kinds.add("complex")
    return plain(*kinds)


_SCALAR_INDEX = (*NUMBERS, "scalar")


def key_part(element: cst.SubscriptElement, frame: Frame) -> Value:
    """Return the value of one part of a key."""
    part = element.slice
    if type(part) is cst.Index:
        value = frame.evaluate(part.value)
        return frame.world.refuse(part.value, "NP2TF603", what="`*` in an index") if part.star else value
    assert type(part) is cst.Slice
    for end in (part.lower, part.upper, part.step):
        if end is not None:
            frame.evaluate(end)
    return plain("none")


def choose(
    base: Value, elements: Sequence[cst.SubscriptElement], key: Sequence[Value], node: cst.CSTNode
) -> Value:
    """Return the part of an array that a key selects."""
    advanced = any(_is_advanced(element, value) for element, value in zip(elements, key))
    rank = base.rank
    if base.may(ANY_KIND) and not base.only("array", "scalar"):
        return unknown(*base.memory, node, certain=False)
    doubtful = any(_may_be_advanced(element, value) for element, value in zip(elements, key))
    if advanced:
        return array(base.dtype, _advanced_rank(base, key), [node], scalar=False)
    if doubtful or rank is None:
        return array(base.dtype, None, [*base.memory, node], scalar=True)
    for element, value in zip(elements, key):
        if type(element.slice) is cst.Index:
            rank += 1 if value.only("none") and not _is_ellipsis(element) else -1
            rank += 1 if _is_ellipsis(element) else 0
    return array(base.dtype, max(rank, 0), base.memory)


def _is_ellipsis(element: cst.SubscriptElement) -> bool:
    return type(element.slice) is cst.Index and type(element.slice.value) is cst.Ellipsis


def _is_advanced(element: cst.SubscriptElement, value: Value) -> bool:
    """Return whether a part of a key is certainly an array or a list, so that the elements are copied."""
    if type(element.slice) is not cst.Index:
        return False
    return value.only("list") or (value.only("array") and (value.rank or 0) > 0)


def _may_be_advanced(element: cst.SubscriptElement, value: Value) -> bool:
    if type(element.slice) is not cst.Index:
        return False
    return value.may("array", "list", "tuple", ANY_KIND) or value.is_host


def _advanced_rank(base: Value, key: Sequence[Value]) -> int | None:
    """Return the number of axes of the result if the key has one array or mask; None if it is unknown."""
    if base.rank is None or len(key) != 1 or key[0].rank is None:
        return None
    if key[0].dtype == "bool":
        return base.rank - key[0].rank + 1
    return base.rank - 1 + key[0].rank if key[0].dtype in ("int32", "int64") else None
