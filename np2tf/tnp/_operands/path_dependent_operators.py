"""Python's operators on numbers that are Python's on one path and NumPy's on another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from np2tf.staging import PathTypeError
from np2tf.tnp._array.ndarray import scalar, tensor_scalar
from np2tf.tnp._operands.conversion import cast
from np2tf.tnp._operands.path_dependent import PathDependentKind, path_dependence_error, path_dependent_scalar
from np2tf.tnp._operands.python_scalars import is_weak, overflows, weak_tensor
from np2tf.tnp._tensor.index_bounds import record_violation

#: With smaller steps than this, no loop can count so far that 64 bits overflow.
_STEP = 2**31
_DIVIDES = frozenset({"divide", "floor_divide", "remainder"})


def apply(function: Callable[..., Any], name: str, *operands: Any) -> Any:
    """Apply an operator to path-dependent numbers.

    Args:
        function: the operator.
        name: the name of the corresponding ufunc.
        operands: path-dependent and Python numbers.

    Raises:
        StagingError: the result has several types, or Python's meaning of the operator cannot be kept.
    """
    if name == "divmod":
        raise PathTypeError("divmod of a number that may be Python's or NumPy's")
    kinds = {operand.path_dependent for operand in operands if not is_weak(operand)}
    narrow = {kind for kind in kinds if kind.narrow}
    if narrow and len(kinds) > 1:
        raise path_dependence_error(min(narrow, key=str))
    as_python = function(*map(_widen, operands))
    as_numpy = function(*map(_to_numpy_number, operands)) if narrow else as_python
    python, wide = _all_python(operands), as_python.tensor
    if narrow:
        wide = tf.where(python, wide, cast(as_numpy.tensor, as_python.dtype))
        for wrong in _exceeds_numpy_type(operands):
            record_violation(tf.logical_not(python) & wrong)
    if as_python.dtype == bool:
        return tensor_scalar(wide)
    wrong = _is_other(name, operands, as_python.tensor) if len(operands) > 1 else None
    if wrong is not None:
        record_violation(python & wrong)
    kind = {"i": int, "f": float, "c": complex}[as_python.dtype.kind]
    return path_dependent_scalar(wide, PathDependentKind(kind, as_numpy.dtype), python)


def _widen(number: Any) -> Any:
    """Return a number in the type that holds Python's numbers."""
    if type(number) is not scalar:
        return number
    return tensor_scalar(weak_tensor(number) if is_weak(number) else number.tensor)


def _to_numpy_number(number: Any) -> Any:
    """Return the NumPy number that a path-dependent number is on some paths; a Python number is returned
    unchanged.
    """
    if is_weak(number):
        return number
    return tensor_scalar(cast(number.tensor, number.path_dependent.dtype))


def _all_python(operands: tuple[Any, ...]) -> tf.Tensor:
    """Return a boolean tensor that is true if all path-dependent operands are Python's."""
    flags = [operand.python for operand in operands if not is_weak(operand)]
    return flags[0] if len(flags) == 1 else tf.reduce_all(tf.stack(flags))


def _exceeds_numpy_type(operands: tuple[Any, ...]) -> list[tf.Tensor]:
    """Return, for each integer, whether it is Python's and does not fit the NumPy type of the other operand.

    NumPy refuses such an integer.
    """
    return [
        operand.python & tf.not_equal(cast(_to_numpy_number(operand).tensor, operand.dtype), operand.tensor)
        for operand in operands
        if not is_weak(operand) and operand.path_dependent.weak is int and len(operands) > 1
    ]


def _is_other(name: str, operands: tuple[Any, ...], result: tf.Tensor) -> tf.Tensor | None:
    """Return whether Python raises an error or computes another number than NumPy; None if it never does.

    Raises:
        StagingError: the difference cannot be detected.
    """
    tensors = [weak_tensor(operand) if is_weak(operand) else operand.tensor for operand in operands]
    left, right = (tf.cast(tensor, result.dtype) for tensor in tensors)
    if name in _DIVIDES:
        return tf.equal(right, tf.zeros((), right.dtype))
    if not result.dtype.is_integer and name == "power":
        finite = [tf.math.is_finite(tf.abs(value)) for value in (left, right, result)]
        return finite[0] & finite[1] & tf.logical_not(finite[2])
    if (name == "power" and not (type(operands[1]) is int and operands[1] >= 0)) or "shift" in name:
        raise PathTypeError(f"{name} of an integer that may be Python's or NumPy's")
    steps = name in ("add", "subtract") and any(
        type(operand) is int and abs(operand) < _STEP for operand in operands
    )
    return overflows(name, left, right, result) if result.dtype.is_integer and not steps else None
