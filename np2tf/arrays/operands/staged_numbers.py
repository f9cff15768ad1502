"""Arithmetic of staged Python numbers, also of numbers whose type depends on the path."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.arrays.array.ndarray import scalar, tensor_scalar, weak_scalar
from np2tf.arrays.operands.conversion import as_tensor, cast
from np2tf.arrays.operands.path_dependent import (
    Alternatives,
    Kind,
    PathDependentKind,
    any_of,
    dtype_of_kind,
    is_python,
    kind_of_dtype,
    main_number,
    path_dependent_scalar,
    plain_number,
    promoting_kind,
)
from np2tf.arrays.operands.promotion import choices_of_kinds, promotion_kind, ufunc_loop
from np2tf.arrays.tensors.dtype_dispatch import power
from np2tf.arrays.tensors.symbolic_integers import Int, SymInt, combine, distance, lower_bound, upper_bound
from np2tf.arrays.tensors.violations import record_only_if, record_violation
from np2tf.core.errors import PathTypeError, StagingError, ValueNeededError

# -- python scalars ------------------------------------------------------------------------------------------
# Arithmetic of staged Python numbers: Python's result types, and the known bounds of integers.

_TF_KIND: dict[type, tf.DType] = {bool: tf.bool, int: tf.int64, float: tf.float64, complex: tf.complex128}
_ORDER = (bool, int, float, complex)

_ARITHMETIC: dict[str, Callable[[Any, Any], tf.Tensor]] = {
    "add": tf.add,
    "subtract": tf.subtract,
    "multiply": tf.multiply,
    "divide": tf.truediv,
    "floor_divide": tf.math.floordiv,
    "remainder": tf.math.floormod,
    "power": power,
    "minimum": tf.minimum,
    "maximum": tf.maximum,
}
BITWISE: dict[str, Callable[[Any, Any], tf.Tensor]] = {
    "bitwise_and": tf.bitwise.bitwise_and,
    "bitwise_or": tf.bitwise.bitwise_or,
    "bitwise_xor": tf.bitwise.bitwise_xor,
    "left_shift": lambda a, b: tf.bitwise.left_shift(a, tf.minimum(b, 63)),
    "right_shift": lambda a, b: tf.bitwise.right_shift(a, tf.minimum(b, 63)),
}
_COMPARISON: dict[str, Callable[[Any, Any], tf.Tensor]] = {
    "less": tf.less,
    "less_equal": tf.less_equal,
    "greater": tf.greater,
    "greater_equal": tf.greater_equal,
    "equal": tf.equal,
    "not_equal": tf.not_equal,
}


#: The same comparisons for Python's integers, if the difference of two integers is known.
_INTEGER_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
    "equal": operator.eq,
    "not_equal": operator.ne,
}


def is_weak(value: Any) -> bool:
    """Return whether `value` is a Python number, staged or not."""
    return type(value) in _TF_KIND or (type(value) is scalar and value.weak is not None)


def is_undecided(*values: Any) -> bool:
    """Return whether all values are numbers, of which at least one is path-dependent."""
    return any(type(value) is scalar and value.alternatives is not None for value in values) and all(
        type(value) is scalar or type(value) in _TF_KIND or isinstance(value, np.generic) for value in values
    )


def weak_kind(value: Any) -> type:
    """Return the Python type of a Python number, staged or not."""
    return (value.weak or float) if type(value) is scalar else type(value)


def weak_tensor(value: Any, kind: type | None = None) -> tf.Tensor:
    """Return a Python number as a tensor."""
    dtype = _TF_KIND[kind or weak_kind(value)]
    if type(value) is scalar:
        return tf.cast(value.tensor, dtype)
    return tf.constant(value, dtype)


def known_int(value: Any) -> Int:
    """Return an integer or bool, staged or not, with its known bounds."""
    if type(value) is scalar:
        return (
            value.staged_integer
            if value.staged_integer is not None
            else SymInt.fresh(weak_tensor(value, int))
        )
    return int(value)


def weak_binary(name: str, left: Any, right: Any) -> Any:
    """Return ``left <name> right`` for two Python numbers, of which at least one is staged.

    Raises:
        StagingError: Python's meaning cannot be kept with 64-bit integers.
    """
    kind = max(weak_kind(left), weak_kind(right), key=_ORDER.index)
    if name in _COMPARISON:
        return _compare(name, left, right, kind)
    if name in BITWISE and kind in (bool, int):
        return _bits(name, left, right, kind)
    if name not in _ARITHMETIC:
        raise ValueNeededError(f"the operator {name} between Python numbers known only at run time")
    if kind is bool:
        kind = int
    if name == "power" and kind is int and not (isinstance(right, int) and right >= 0):
        raise ValueNeededError("an integer power whose exponent is known only at run time")
    if name == "divide" and kind is int:
        kind = float
    tensors = weak_tensor(left, kind), weak_tensor(right, kind)
    if name in ("divide", "floor_divide", "remainder") and not _nonzero(right):
        # Python raises ZeroDivisionError; the kernels of integers raise another error.
        is_zero = tf.equal(tensors[1], 0)
        record_violation(is_zero)
        tensors = tensors[0], tf.where(is_zero, tf.ones_like(tensors[1]), tensors[1])
    tensor = _ARITHMETIC[name](*tensors)
    if kind is not int:
        if name == "power":
            _check_power(*tensors, tensor)
        return weak_scalar(tensor, kind)
    integer = combine(name, known_int(left), known_int(right), tensor)
    if name in _MAY_OVERFLOW and not _fits(name, integer, known_int(left), known_int(right)):
        record_violation(_MAY_OVERFLOW[name](*tensors, tensor))
        integer = SymInt.fresh(tensor)
    return weak_scalar(tensor, int, integer)


def _check_power(base: tf.Tensor, exponent: tf.Tensor, result: tf.Tensor) -> None:
    """Discard the call if Python raises an error for this power, or returns a complex number for floats."""
    finite = [tf.math.is_finite(tf.abs(value)) for value in (base, exponent, result)]
    record_violation(finite[0] & finite[1] & tf.logical_not(finite[2]))


def _bits(name: str, left: Any, right: Any, kind: type) -> Any:
    """Compute a bitwise operation in int64, whose bits agree with the infinite two's complement of Python."""
    if "shift" in name:
        if (lower_bound(known_int(right)) or 0) < 0 or lower_bound(known_int(right)) is None:
            raise ValueNeededError("a shift by a number that may be negative")
        kind = int
    tensors = weak_tensor(left, int), weak_tensor(right, int)
    if name == "left_shift":
        power = tf.pow(tf.constant(2.0, tf.float64), tf.cast(tensors[1], tf.float64))
        record_violation(tf.abs(tf.cast(tensors[0], tf.float64)) * power >= 9.2e18)
    tensor = BITWISE[name](*tensors)
    if kind is bool:
        return weak_scalar(tf.cast(tensor, tf.bool), bool)
    return weak_scalar(tensor, int, combine(name, known_int(left), known_int(right), tensor))


def _fits(name: str, staged_integer: SymInt, left: Int, right: Int) -> bool:
    """Return whether the result certainly fits into 64 bits; Python's integers have any number of bits."""
    if staged_integer.low is not None and staged_integer.high is not None:
        return not _may_exceed(staged_integer)
    if name in ("multiply", "power"):
        return False
    # A counter that grows by small steps: no loop runs long enough to overflow it.
    return any(_is_small(side) for side in (left, right))


def _may_exceed(staged_integer: SymInt) -> bool:
    ends = (staged_integer.low or 0, staged_integer.high or 0)
    return not (ends[0] >= -(2**63) and ends[1] < 2**63)


def _is_small(value: Int) -> bool:
    ends = lower_bound(value), upper_bound(value)
    return ends[0] is not None and ends[1] is not None and ends[0] >= -(2**31) and ends[1] <= 2**31


#: The name of an operation -> a function of both operands and their 64-bit result that returns whether the
#: result is wrong.
_MAY_OVERFLOW: dict[str, Callable[[tf.Tensor, tf.Tensor, tf.Tensor], tf.Tensor]] = {
    "add": lambda a, b, c: tf.bitwise.bitwise_and(_differ(a, c), _differ(b, c)) < 0,
    "subtract": lambda a, b, c: tf.bitwise.bitwise_and(_differ(a, b), _differ(a, c)) < 0,
    "multiply": lambda a, b, c: tf.abs(tf.cast(a, tf.float64) * tf.cast(b, tf.float64)) >= 9.2e18,
    "power": lambda a, b, c: tf.pow(tf.abs(tf.cast(a, tf.float64)), tf.cast(b, tf.float64)) >= 9.2e18,
}


def overflows(name: str, left: tf.Tensor, right: tf.Tensor, result: tf.Tensor) -> tf.Tensor | None:
    """Return whether Python's integer differs from the 64-bit `result`; None if it never does."""
    wrong = _MAY_OVERFLOW.get(name)
    return None if wrong is None else wrong(left, right, result)


def _differ(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    """Return an integer that is negative if the signs of a and b differ."""
    return tf.bitwise.bitwise_xor(a, b)


def _nonzero(value: Any) -> bool:
    """Return whether a divisor is certainly not zero."""
    if type(value) is not scalar:
        return bool(value)
    if value.weak is not int or value.staged_integer is None:
        return False
    return value.staged_integer.excludes_zero


def _compare(name: str, left: Any, right: Any, kind: type) -> Any:
    if kind in (int, bool):
        decision = _decide_by_bounds(name, known_int(left), known_int(right))
        if decision is not None:
            return decision
    return weak_scalar(_COMPARISON[name](weak_tensor(left, kind), weak_tensor(right, kind)), bool)


def _decide_by_bounds(name: str, left: Int, right: Int) -> bool | None:
    """Return the result of a comparison if the known bounds decide it, else None."""
    apart = distance(left, right)
    if apart is not None:
        return bool(_INTEGER_COMPARISONS[name](0, apart))
    a, b, c, d = lower_bound(left), upper_bound(left), lower_bound(right), upper_bound(right)
    if a is None or b is None or c is None or d is None:
        return None
    if name in ("less", "greater_equal") and (b < c or a >= d):
        return (b < c) == (name == "less")
    if name in ("greater", "less_equal") and (a > d or b <= c):
        return (a > d) == (name == "greater")
    if name in ("equal", "not_equal") and (b < c or d < a or a == b == c == d):
        return (a == b == c == d) == (name == "equal")
    return None


def weak_unary(name: str, value: scalar) -> scalar:
    """Return ``-x``, ``+x``, ``~x`` or ``abs(x)`` of a staged Python number."""
    kind = weak_kind(value) if weak_kind(value) is not bool else int
    tensor = weak_tensor(value, kind)
    if name == "invert":
        return weak_binary("subtract", -1, value)
    if name == "positive":
        return weak_scalar(tensor, kind, value.staged_integer if kind is int else None)
    result = tf.negative(tensor) if name == "negative" else tf.abs(tensor)
    result_integer = None
    if kind is int:
        result_integer = SymInt.fresh(result)
        integer = value.staged_integer
        if integer is not None and integer.low is not None and integer.high is not None:
            ends = (
                sorted((-integer.low, -integer.high))
                if name == "negative"
                else sorted((abs(integer.low), abs(integer.high)))
            )
            lowest = 0 if name == "absolute" and integer.low <= 0 <= integer.high else ends[0]
            result_integer = SymInt.fresh(result, lowest, ends[1])
    return weak_scalar(result, float if kind is complex and name == "absolute" else kind, result_integer)


def python_value(value: Any, tensor: np.ndarray) -> Any:
    """Return the Python number that a staged number has turned out to be, given its run-time value."""
    return weak_kind(value)(tensor[()])


# -- path dependent operators --------------------------------------------------------------------------------
# Operators between numbers of which some have a type that depends on the path.

#: With smaller steps than this, no loop can count so far that 64 bits overflow.
_STEP = 2**31
#: Python compares and divides greater integers exactly, not as floats.
_EXACT = 2.0**53
_DIVIDES = frozenset({"divide", "floor_divide", "remainder"})
_OF_BITS = frozenset({"bitwise_and", "bitwise_or", "bitwise_xor"})
_PYTHON = {"b": bool, "i": int, "f": float, "c": complex}

#: The kinds of the operands on some path, and the dtypes of operands and results of NumPy's loop for them.
Combination = tuple[Kind, ...]
Loop = tuple[np.dtype[Any], ...]


def apply(function: Callable[..., Any], name: str, *operands: Any) -> Any:
    """Apply an operator, with its ufunc's name, to numbers of which at least one is path-dependent.

    Each loop of the ufunc that some path needs is computed. Where Python's numbers alone would give another
    result than NumPy's, or an error, the call is discarded.

    Raises:
        StagingError: Python's meaning of the operator cannot be kept.
        TypeError: the operator takes no such numbers on any path.
    """
    if name == "divmod":
        raise PathTypeError("divmod of a number whose type depends on the path")
    loops, error = _loops(name, operands)
    if not loops:
        raise error  # type: ignore[misc]
    for combination in product(*map(_kinds, operands)):
        if combination not in loops:
            record_violation(_holds(combination, operands))
    result_kinds = {combination: _result_kind(combination, loop) for combination, loop in loops.items()}
    tensors: dict[Kind, tf.Tensor] = {}
    for loop in dict.fromkeys(loops.values()):
        combinations = [combination for combination, own_loop in loops.items() if own_loop == loop]
        condition = any_of([_holds(combination, operands) for combination in combinations])
        only = None if len(loops) == len(combinations) else condition
        with record_only_if(only):
            result = _compute(function, name, operands, loop, combinations)
        kind = result.dtype.as_numpy_dtype
        tensors[kind] = result if kind not in tensors else tf.where(condition, result, tensors[kind])
    kinds = PathDependentKind.of(result_kinds.values())
    by_dtype = [tensors[dtype.type] for dtype in kinds.dtypes]
    if len(kinds.kinds) == 1:
        return plain_number(by_dtype[0], kinds.kinds[0])
    flags = [
        any_of([_holds(combination, operands) for combination, own in result_kinds.items() if own == kind])
        for kind in kinds.kinds
    ]
    return path_dependent_scalar(Alternatives(kinds, tuple(by_dtype), tuple(flags)))


def of_each_kind(function: Callable[[scalar], Any], number: scalar) -> Any:
    """Return what a function of one number gives for a path-dependent one: for each kind by itself.

    Raises:
        TypeError: the function takes no such number on any path.
    """
    alternatives, error = number.alternatives, None
    results: list[tuple[tf.Tensor, Any]] = []
    for kind, flag in zip(alternatives.kinds.kinds, alternatives.flags, strict=True):
        try:
            with record_only_if(flag):
                plain = plain_number(alternatives.tensor(dtype_of_kind(kind)), kind)
                results.append((flag, function(plain)))
        except TypeError as refusal:
            record_violation(flag)
            error = refusal
    if not results:
        raise error  # type: ignore[misc]
    kinds = PathDependentKind.of(_kinds(result)[0] for _, result in results)
    tensors: dict[np.dtype[Any], tf.Tensor] = {}
    for flag, result in results:
        dtype = dtype_of_kind(_kinds(result)[0])
        tensor = as_tensor(result, dtype)
        tensors[dtype] = tensor if dtype not in tensors else tf.where(flag, tensor, tensors[dtype])
    if len(kinds.kinds) == 1:
        return plain_number(tensors[kinds.dtypes[0]], kinds.kinds[0])
    flags = [any_of([flag for flag, result in results if _kinds(result)[0] is kind]) for kind in kinds.kinds]
    return path_dependent_scalar(
        Alternatives(kinds, tuple(tensors[dtype] for dtype in kinds.dtypes), tuple(flags))
    )


def settle_numbers(ufunc: np.ufunc, operands: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the operands of a ufunc with plain numbers for path-dependent ones.

    If the ufunc computes in other dtypes on other paths, the call is discarded unless the numbers are of
    their main kinds.
    """
    places = [k for k, operand in enumerate(operands) if is_undecided(operand)]
    if not places:
        return operands
    try:
        kinds = choices_of_kinds(tuple(map(promotion_kind, operands)))
        loops = {ufunc_loop(ufunc, choice) for choice in kinds}
    except (StagingError, TypeError):
        loops = set()
    settled = list(operands)
    for k in places:
        if len(loops) == 1:
            dtype = next(iter(loops))[k]
            settled[k] = tensor_scalar(as_tensor(operands[k], dtype))
        else:
            settled[k] = main_number(operands[k], promotes=True)
    return tuple(settled)


def _kinds(operand: Any) -> tuple[Kind, ...]:
    if type(operand) is scalar and operand.alternatives is not None:
        kinds: tuple[Kind, ...] = operand.alternatives.kinds.kinds
        return kinds
    return (weak_kind(operand) if is_weak(operand) else kind_of_dtype(operand.dtype),)


def _loops(name: str, operands: Sequence[Any]) -> tuple[dict[Combination, Loop], Exception | None]:
    """Return NumPy's loops for the kinds that the operands have together on some path, and the error of kinds
    without a loop.
    """
    loops: dict[Combination, Loop] = {}
    error: Exception | None = None
    for combination in product(*map(_kinds, operands)):
        kinds = combination
        if _is_python(kinds):
            if _is_beyond_python(name, kinds, operands):
                error = PathTypeError(f"{name} of an integer that may be Python's or NumPy's")
                continue
            # Python's bools are integers, but for & | ^ among themselves.
            keep = name in _OF_BITS and set(kinds) == {bool}
            kinds = tuple(int if kind is bool and not keep else kind for kind in kinds)
        try:
            loop = ufunc_loop(getattr(np, name), tuple(map(promoting_kind, kinds)))
        except TypeError as no_loop:
            error = no_loop
        else:
            loops[combination] = loop
    return loops, error


def _is_python(combination: Combination) -> bool:
    return all(map(is_python, combination))


def _is_beyond_python(name: str, kinds: Combination, operands: Sequence[Any]) -> bool:
    """Return whether the result's type, or an error, depends on the values of Python's integers."""
    if not set(kinds) <= {bool, int} or not (name == "power" or "shift" in name):
        return False
    return not (name == "power" and type(operands[1]) is int and operands[1] >= 0)


def _result_kind(combination: Combination, loop: Loop) -> Kind:
    return _PYTHON[loop[-1].kind] if _is_python(combination) else kind_of_dtype(loop[-1])


def _holds(combination: Combination, operands: Sequence[Any]) -> tf.Tensor:
    """Return whether the operands are of these kinds, as a boolean tensor."""
    result = None
    for kind, operand in zip(combination, operands, strict=True):
        if type(operand) is scalar and operand.alternatives is not None:
            flag = operand.alternatives.is_any((kind,))
            if flag is not None:
                result = flag if result is None else tf.logical_and(result, flag)
    return tf.constant(True) if result is None else result


def _compute(
    function: Callable[..., Any],
    name: str,
    operands: Sequence[Any],
    loop: Loop,
    combinations: Sequence[Combination],
) -> tf.Tensor:
    """Return what one loop gives for the operands' values in its dtypes."""
    values = [
        _value(operand, dtype, {combination[k] for combination in combinations})
        for k, (operand, dtype) in enumerate(zip(operands, loop, strict=False))
    ]
    result = cast(function(*values).tensor, loop[-1])
    of_python = [combination for combination in combinations if _is_python(combination)]
    if of_python:
        wrong = _is_other(name, operands, values, loop, of_python, result)
        if wrong:
            condition = any_of([_holds(combination, operands) for combination in of_python])
            record_violation(tf.logical_and(condition, any_of(wrong)))
    return result


def _value(operand: Any, dtype: np.dtype[Any], kinds: set[Kind]) -> Any:
    """Return an operand for a loop: a plain number, of which the kinds tell what it can be there."""
    if type(operand) is not scalar:
        return operand if is_weak(operand) and type(operand) is not bool else dtype.type(operand)
    if operand.alternatives is None:
        return tensor_scalar(as_tensor(operand, dtype))
    return tensor_scalar(
        operand.alternatives.in_dtype(dtype, as_tensor, [kind for kind in _kinds(operand) if kind in kinds])
    )


def _is_other(
    name: str,
    operands: Sequence[Any],
    values: Sequence[Any],
    loop: Loop,
    combinations: Sequence[Combination],
    result: tf.Tensor,
) -> list[tf.Tensor]:
    """Return whether Python raises an error or computes another number than NumPy, as boolean tensors."""
    tensors = [as_tensor(value, dtype) for value, dtype in zip(values, loop, strict=False)]
    wrong = []
    compares_or_divides = name == "divide" or loop[-1].kind == "b"
    for k, tensor in enumerate(tensors):
        integers = any(combination[k] is int for combination in combinations)
        if integers and tensor.dtype.is_floating and compares_or_divides:
            wrong.append(tf.abs(tensor) > _EXACT)
    if len(tensors) == 1:
        if result.dtype == tf.int64:
            wrong.append(tf.equal(result, tf.int64.min))
        return wrong
    left, right = tensors
    if name in _DIVIDES:
        wrong.append(tf.equal(right, tf.zeros((), right.dtype)))
    elif name == "power" and not result.dtype.is_integer:
        finite = [tf.math.is_finite(tf.abs(value)) for value in (left, right, result)]
        wrong.append(finite[0] & finite[1] & tf.logical_not(finite[2]))
    steps = name in ("add", "subtract") and any(
        type(operand) is int and abs(operand) < _STEP for operand in operands
    )
    if result.dtype.is_integer and not steps:
        overflow = overflows(name, left, right, result)
        wrong += [] if overflow is None else [overflow]
    return wrong
