"""Operators between numbers of which some have a type that depends on the path."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.staging import PathTypeError, StagingError
from np2tf.tnp._array.ndarray import scalar, tensor_scalar
from np2tf.tnp._operands.conversion import as_tensor, cast
from np2tf.tnp._operands.path_dependent import (
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
from np2tf.tnp._operands.promotion import choices_of_kinds, promotion_kind, ufunc_loop
from np2tf.tnp._operands.python_scalars import is_undecided, is_weak, overflows, weak_kind
from np2tf.tnp._tensor.index_bounds import record_only_if, record_violation

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
    """Apply an operator to numbers, of which at least one is path-dependent.

    Each loop of the ufunc that some path needs is computed. Where Python's numbers alone would give another
    result than NumPy's, or an error, the call is discarded.

    Args:
        function: the operator.
        name: the name of the corresponding ufunc.
        operands: the numbers.

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

    Args:
        function: plain number -> number.
        number: the path-dependent number.

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
