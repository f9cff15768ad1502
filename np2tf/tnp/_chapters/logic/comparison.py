"""Comparisons of whole arrays, with tolerance and without."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.staging import NoGraphFormError
from np2tf.tnp._array.ndarray import weak_scalar
from np2tf.tnp._chapters.reductions.primitives import isnan, raw_all
from np2tf.tnp._dispatch.argument_types import Array, Operand
from np2tf.tnp._dispatch.op import op
from np2tf.tnp._front.numpy_version import NUMPY
from np2tf.tnp._front.promotion_mode import promote_in_any_mode
from np2tf.tnp._operands.axis_arguments import rank_of
from np2tf.tnp._operands.conversion import cast, to_numpy
from np2tf.tnp._operands.promotion import inexact_type, result_type
from np2tf.tnp._tensor.reductions_of_axes import reduce_all
from np2tf.tnp._ufuncs import table as ufuncs
from np2tf.tnp._ufuncs.tensor_ufunc import Ufunc
from np2tf.tnp._warnings.value_warnings import warn_where

__all__ = [
    "allclose",
    "array_equal",
    "array_equiv",
    "isclose",
]


def _apply(name: str, *operands: Any) -> tf.Tensor:
    """Apply a ufunc to tensors and Python numbers, and return a tensor, or a Python number for Python
    numbers.
    """
    ufunc: Ufunc = getattr(ufuncs, name)
    if name in _IN_PYTHON and all(type(operand) in _NUMBERS for operand in operands):
        return _IN_PYTHON[name](*operands)
    return ufunc.compute(operands)


_NUMBERS = frozenset({int, float, complex})
#: Functions that NumPy's source computes by operators: of Python numbers the results are Python's, and weak.
_IN_PYTHON: dict[str, Any] = {
    "absolute": abs,
    "add": operator.add,
    "multiply": operator.mul,
    "subtract": operator.sub,
}


def _close(a: Any, b: Any, rtol: Any, atol: Any, equal_nan: bool) -> tf.Tensor:
    result_type(a, b)  # whether they may meet
    if NUMPY >= (2, 3) and tf.executing_eagerly() and not (_is_finite(rtol) and _is_finite(atol)):
        _complain(rtol, atol)
    return _is_near(a, b, rtol, atol, equal_nan)


def _is_finite(tolerance: Any) -> bool:
    return bool(np.all(np.isfinite(to_numpy(tolerance, may_leave=True))))


def _complain(rtol: Any, atol: Any) -> None:
    """Warn of tolerances that are not finite, as NumPy does.

    Raises:
        StagingError: ``np.errstate`` asks for anything but a warning.
    """
    if np.geterr()["invalid"] != "warn":
        raise NoGraphFormError("a tolerance that is not finite")
    tolerances = f"atol: {to_numpy(atol, may_leave=True)}, rtol: {to_numpy(rtol, may_leave=True)}"
    warn_where(True, f"One of rtol or atol is not valid, {tolerances}")


@promote_in_any_mode
def _is_near(a: Any, b: Any, rtol: Any, atol: Any, equal_nan: bool) -> tf.Tensor:
    y = float(b) if type(b) is int else b
    if isinstance(y, tf.Tensor):
        y = cast(y, inexact_type(y))
    gap = _apply("absolute", _apply("subtract", a, y))
    tolerance = _apply("add", atol, _apply("multiply", rtol, _apply("absolute", y)))
    near = _apply("less_equal", gap, tolerance) & _apply("isfinite", y)
    result = near | _apply("equal", a, y)
    if equal_nan:
        result |= _apply("isnan", a) & _apply("isnan", y)
    return result


@op(np.isclose)
def isclose(
    a: Operand, b: Operand, rtol: Operand = 1e-05, atol: Operand = 1e-08, equal_nan: bool = False
) -> tf.Tensor:
    """Return which elements of two arrays are equal within a tolerance.

    Args:
        a: array of numbers.
        b: array of numbers, to which the relative tolerance applies.
        rtol: the relative tolerance.
        atol: the absolute tolerance.
        equal_nan: whether NaN equals NaN.

    Returns:
        An array of booleans in the common shape.

    Raises:
        StagingError: a tolerance is not finite, and ``np.errstate`` asks for anything but a warning.

    See https://numpy.org/doc/stable/reference/generated/numpy.isclose.html.
    """
    return _close(a, b, rtol, atol, equal_nan)


def _reduce_all(x: tf.Tensor) -> tf.Tensor:
    return raw_all(x, tuple(range(rank_of(x))), False)


@op(np.allclose)
def allclose(
    a: Operand, b: Operand, rtol: Operand = 1e-05, atol: Operand = 1e-08, equal_nan: bool = False
) -> tf.Tensor:
    """Return whether all elements of two arrays are equal within a tolerance.

    Args:
        a: array of numbers.
        b: array of numbers, to which the relative tolerance applies.
        rtol: the relative tolerance.
        atol: the absolute tolerance.
        equal_nan: whether NaN equals NaN.

    Returns:
        A bool, which is staged in staged code.

    Raises:
        StagingError: a tolerance is not finite, and ``np.errstate`` asks for anything but a warning.

    See https://numpy.org/doc/stable/reference/generated/numpy.allclose.html.
    """
    return _answer(_reduce_all(_close(a, b, rtol, atol, equal_nan)))


@op(np.array_equal)
def array_equal(a1: Array, a2: Array, equal_nan: bool = False) -> Any:
    """Return whether two arrays have the same shape and equal elements.

    Args:
        a1: array of any dtype and shape.
        a2: array of any dtype and shape.
        equal_nan: whether NaN equals NaN.

    Returns:
        A bool, which is staged in staged code.

    See https://numpy.org/doc/stable/reference/generated/numpy.array_equal.html.
    """
    if not a1.shape.is_compatible_with(a2.shape):
        return False
    if not (a1.shape.is_fully_defined() and a2.shape.is_fully_defined()):
        has_same_shape = reduce_all(tf.shape(a1) == tf.shape(a2))
        return _answer(
            tf.cond(
                has_same_shape, lambda: _reduce_all(_is_same(a1, a2, equal_nan)), lambda: tf.constant(False)
            )
        )
    return _answer(_reduce_all(_is_same(a1, a2, equal_nan)))


def _answer(all_of_them: tf.Tensor) -> Any:
    """Return a truth value as Python's bool, as NumPy does; while staging, a staged bool."""
    return bool(all_of_them.numpy()) if tf.executing_eagerly() else weak_scalar(all_of_them, bool)


def _is_same(a: tf.Tensor, b: tf.Tensor, equal_nan: bool) -> tf.Tensor:
    is_equal = _apply("equal", a, b)
    if equal_nan and isnan(a) is not None and isnan(b) is not None:
        is_equal |= isnan(a) & isnan(b)  # type: ignore[operator]
    return is_equal


@op(np.array_equiv)
def array_equiv(a1: Array, a2: Array) -> Any:
    """Return whether two arrays are equal after broadcasting.

    Args:
        a1: array of any dtype and shape.
        a2: array of any dtype and shape.

    Returns:
        A bool, which is staged in staged code.

    See https://numpy.org/doc/stable/reference/generated/numpy.array_equiv.html.
    """
    try:
        tf.broadcast_static_shape(a1.shape, a2.shape)
    except ValueError:
        return False
    return _answer(_reduce_all(_apply("equal", a1, a2)))
