"""Comparisons of whole arrays, and questions about the kind of numbers and objects."""

from __future__ import annotations

import numbers
import operator
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.arrays.array.ndarray import is_array, scalar, weak_scalar
from np2tf.arrays.dispatch.op import OPS, Array, Operand, op
from np2tf.arrays.front.flags import promote_in_any_mode
from np2tf.arrays.front.numpy_state import NUMPY
from np2tf.arrays.functions.reduction_kernels import isnan, raw_all
from np2tf.arrays.functions.ufuncs import table as ufuncs
from np2tf.arrays.functions.ufuncs.tensor_ufunc import Ufunc
from np2tf.arrays.operands.axes import rank_of
from np2tf.arrays.operands.conversion import cast, to_numpy
from np2tf.arrays.operands.numpy_warnings import warn_where
from np2tf.arrays.operands.promotion import inexact_type, kind_of, result_type
from np2tf.arrays.tensors.axis_reductions import reduce_all
from np2tf.arrays.tensors.dtype_dispatch import COMPLEX
from np2tf.core.errors import NoGraphFormError, ShapeNeededError

__all__ = [
    "allclose",
    "array_equal",
    "array_equiv",
    "isclose",
    "iscomplex",
    "iscomplexobj",
    "isneginf",
    "isposinf",
    "isreal",
    "isrealobj",
    "isscalar",
    "iterable",
]


# -- comparison ----------------------------------------------------------------------------------------------
# Comparisons of whole arrays, with tolerance and without.


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
    """Warn of tolerances that are not finite, as NumPy does."""
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
    """Return which elements of two arrays are equal within a tolerance."""
    return _close(a, b, rtol, atol, equal_nan)


def _reduce_all(x: tf.Tensor) -> tf.Tensor:
    return raw_all(x, tuple(range(rank_of(x))), False)


@op(np.allclose)
def allclose(
    a: Operand, b: Operand, rtol: Operand = 1e-05, atol: Operand = 1e-08, equal_nan: bool = False
) -> tf.Tensor:
    """Return whether all elements of two arrays are equal within a tolerance."""
    return _answer(_reduce_all(_close(a, b, rtol, atol, equal_nan)))


@op(np.array_equal)
def array_equal(a1: Array, a2: Array, equal_nan: bool = False) -> Any:
    """Return whether two arrays have the same shape and equal elements."""
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
    """Return whether two arrays are equal after broadcasting."""
    try:
        tf.broadcast_static_shape(a1.shape, a2.shape)
    except ValueError:
        return False
    return _answer(_reduce_all(_apply("equal", a1, a2)))


# -- kinds ---------------------------------------------------------------------------------------------------
# Questions about the kind of numbers and objects: real, complex, infinite, scalar, iterable.


@op(np.iscomplex)
def iscomplex(x: Array) -> tf.Tensor:
    """Return which elements have an imaginary part other than 0."""
    if x.dtype not in COMPLEX:
        return tf.fill(tf.shape(x), False)
    imaginary = tf.math.imag(x)
    return tf.not_equal(imaginary, tf.zeros((), imaginary.dtype))


@op(np.isreal)
def isreal(x: Array) -> tf.Tensor:
    """Return which elements have the imaginary part 0."""
    return ~iscomplex.__wrapped__(x)  # type: ignore[attr-defined]


def _infinite(x: tf.Tensor, sign: int, name: str) -> tf.Tensor:
    if x.dtype in COMPLEX:
        raise TypeError(
            f"This operation is not supported for {x.dtype.name} values because it would be ambiguous."
        )
    if not x.dtype.is_floating:
        return tf.fill(tf.shape(x), False)
    return tf.equal(x, tf.constant(sign * np.inf, x.dtype))


@op(np.isposinf)
def isposinf(x: Array, out: Any = None) -> tf.Tensor:
    """Return which elements are positive infinity."""
    return _infinite(x, 1, "isposinf")


@op(np.isneginf)
def isneginf(x: Array, out: Any = None) -> tf.Tensor:
    """Return which elements are negative infinity."""
    return _infinite(x, -1, "isneginf")


def iscomplexobj(x: Any) -> bool:
    """Return whether an object has a complex dtype."""
    if not is_array(x) and not isinstance(x, (tf.Tensor, tf.Variable)):
        return np.iscomplexobj(x)
    kind = kind_of(x)
    return kind is complex or (isinstance(kind, np.dtype) and kind.kind == "c")


def isrealobj(x: Any) -> bool:
    """Return whether an object does not have a complex dtype."""
    return not iscomplexobj(x)


def isscalar(element: Any) -> bool:
    """Return whether an object is a scalar: a number, a string, or a scalar of NumPy or np2tf."""
    return type(element) is scalar or np.isscalar(element) or isinstance(element, numbers.Number)


def iterable(y: Any) -> bool:
    """Return whether `y` can be iterated over."""
    if isinstance(y, (tf.Tensor, tf.Variable)):
        if y.shape.rank is None:
            raise ShapeNeededError.of(what="the rank of a tensor")
        return y.shape.rank > 0
    return y.ndim > 0 if is_array(y) else np.iterable(y)


OPS[np.iterable] = iterable
