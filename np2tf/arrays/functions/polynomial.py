"""Polynomials as coefficients: the functions of the main namespace, and power series."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from numpy.polynomial import polynomial

from np2tf.arrays.array.ndarray import tensor_array
from np2tf.arrays.dispatch.op import Array, Int, op
from np2tf.arrays.front.flags import promote_in_any_mode
from np2tf.arrays.operands.axes import rank_of
from np2tf.arrays.operands.conversion import as_tensor, cast, promote, to_numpy
from np2tf.core.errors import NoGraphFormError, ShapeNeededError, ValueNeededError

__all__ = [
    "poly",
    "polyadd",
    "polyder",
    "polydiv",
    "polyint",
    "polymul",
    "polysub",
    "polyval",
]


# -- classic -------------------------------------------------------------------------------------------------
# Polynomials as vectors of coefficients, the highest power first: polyval, polyder, polyint, polyadd, poly.
#
# NumPy handles calls with its own poly1d objects. It also handles roots, because the number of roots, and
# whether they are complex, depends on values.


def coefficients(p: Any, number: bool = False) -> tf.Tensor:
    """Return the coefficients of a polynomial as a tensor; a number is accepted if `number` is true.

    Raises:
        StagingError: the polynomial is a poly1d, which NumPy handles.
        TypeError: the polynomial is a number.
    """
    if isinstance(p, np.poly1d):
        raise NoGraphFormError("poly1d objects are NumPy's")
    tensor = as_tensor(p)
    if rank_of(tensor) == 0:
        if not number:
            raise TypeError("iteration over a 0-d array")
        tensor = tf.reshape(tensor, [1])
    if tensor.shape[0] is None:
        raise ShapeNeededError.of(what="the degree of a polynomial")
    return tensor


@op(np.polyval)
def polyval(p: Any, x: Any) -> Any:
    """Return the values of a polynomial, by Horner's scheme."""
    polynomial = coefficients(p)
    if isinstance(x, np.poly1d):
        raise NoGraphFormError("poly1d objects are NumPy's")
    at = as_tensor(x)
    if polynomial.shape[0] == 0:
        return tensor_array(tf.zeros_like(at))
    polynomial, at = promote(polynomial, at)
    value = tf.zeros_like(at)
    for coefficient in tf.unstack(polynomial):
        value = value * at + coefficient
    return value


def _order(m: int, subject: str) -> int:
    if m < 0:
        raise ValueError(f"Order of {subject} must be positive")
    return m


@op(np.polyder)
@promote_in_any_mode
def polyder(p: Any, m: Int = 1) -> tf.Tensor:
    """Return the derivative of a polynomial."""
    polynomial = coefficients(p)
    for _ in range(_order(m, "derivative")):
        powers = np.arange(max(polynomial.shape[0] - 1, 0), 0, -1)
        first, factors = promote(polynomial[:-1], tf.constant(powers))
        polynomial = first * factors
    return polynomial


@op(np.polyint)
@promote_in_any_mode
def polyint(p: Any, m: Int = 1, k: Any = None) -> tf.Tensor:
    """Return the antiderivative of a polynomial."""
    _order(m, "integral")
    polynomial = coefficients(p)
    constants = np.zeros(m) if k is None else np.atleast_1d(to_numpy(k))
    if len(constants) == 1 and m > 1:
        constants = constants[0] * np.ones(m)
    if len(constants) < m:
        raise ValueError("k must be a scalar or a rank-1 array of length 1 or >m.")
    for constant in constants[:m]:
        divisors = np.arange(polynomial.shape[0], 0, -1.0)
        quotient = tf.divide(*promote(polynomial, tf.constant(divisors)))
        polynomial = tf.concat(promote(quotient, tf.constant([constant])), 0)
    return polynomial


def _align(a1: Any, a2: Any) -> list[tf.Tensor]:
    operands = promote(coefficients(a1, number=True), coefficients(a2, number=True))
    length = max(x.shape[0] for x in operands)
    return [tf.pad(x, [[length - x.shape[0], 0]]) for x in operands]


def _termwise(function: Callable[..., tf.Tensor], a1: Any, a2: Any) -> tf.Tensor:
    first, second = _align(a1, a2)
    if first.dtype == tf.bool:
        raise NoGraphFormError("polynomials of booleans")
    return function(first, second)


@op(np.polyadd)
def polyadd(a1: Any, a2: Any) -> tf.Tensor:
    """Return the sum of two polynomials."""
    return _termwise(tf.add, a1, a2)


@op(np.polysub)
def polysub(a1: Any, a2: Any) -> tf.Tensor:
    """Return the difference of two polynomials."""
    return _termwise(tf.subtract, a1, a2)


def _drop_leading_zeros(p: Any) -> tf.Tensor:
    polynomial = coefficients(p, number=True)
    values = tf.get_static_value(polynomial)
    if values is None:
        raise ValueNeededError("whether a polynomial has leading zeros is known only at run time")
    return polynomial[len(values) - len(np.trim_zeros(values, "f")) :]


@op(np.polymul)
def polymul(a1: Any, a2: Any) -> tf.Tensor:
    """Return the product of two polynomials, each without its leading zeros."""
    operands = promote(_drop_leading_zeros(a1), _drop_leading_zeros(a2))
    if any(x.shape[0] == 0 for x in operands):
        raise NoGraphFormError("a polynomial without coefficients")
    long, short = sorted(operands, key=lambda x: -x.shape[0])
    last = short.shape[0] - 1
    products = [tf.pad(long * short[k], [[k, last - k]]) for k in range(last + 1)]
    return functools.reduce(tf.add, products)


def _real(p: Any) -> tf.Tensor:
    """Return the coefficients as NumPy's ``p + 0.0`` does: integers become float64."""
    polynomial = coefficients(p, number=True)
    return (
        polynomial
        if polynomial.dtype.is_floating or polynomial.dtype.is_complex
        else cast(polynomial, np.float64)
    )


@op(np.polydiv)
def polydiv(u: Any, v: Any) -> tuple[tf.Tensor, tf.Tensor]:
    """Return quotient and remainder of two polynomials.

    The remainder has no leading coefficients near zero.
    """
    numerator, divisor = _real(u), _real(v)
    scale = tf.ones((), divisor.dtype) / divisor[0]
    numerator, divisor, scale = promote(numerator, divisor, scale)
    steps = numerator.shape[0] - divisor.shape[0] + 1
    terms, remainder = [], numerator
    for k in range(steps):
        terms.append(scale * remainder[k])
        product = tf.pad(terms[-1] * divisor, [[k, steps - 1 - k]])
        remainder = remainder - product
    quotient = tf.stack(terms) if terms else tf.zeros([1], remainder.dtype)
    near = tf.abs(remainder) <= tf.constant(1e-8, tf.abs(remainder).dtype)  # as allclose has it
    head = tf.cast(tf.math.cumprod(tf.cast(near[:-1], tf.int32)), tf.bool)
    return quotient, tf.boolean_mask(remainder, tf.concat([~head, [True]], 0))


@op(np.poly)
def poly(seq_of_zeros: Any) -> tf.Tensor:
    """Return the coefficients of the polynomial with given roots."""
    roots = coefficients(seq_of_zeros)
    if rank_of(roots) != 1 or roots.dtype.is_complex or roots.shape[0] == 0:
        # Of a matrix: by its eigenvalues. Complex roots in conjugate pairs give real coefficients.
        raise NoGraphFormError("poly of a matrix or of complex roots")
    roots = roots if roots.dtype.is_floating and roots.dtype != tf.float16 else cast(roots, np.float64)
    result = tf.ones([1], roots.dtype)
    for root in tf.unstack(roots):
        result = tf.concat([result, tf.zeros([1], roots.dtype)], 0) - tf.concat(
            [tf.zeros([1], roots.dtype), root * result], 0
        )
    return result


# -- values --------------------------------------------------------------------------------------------------
# numpy.polynomial.polynomial: the values of power series, the lowest power first.

#: No names of the main namespace: its polyval has the highest power first.


def _coefficients(c: tf.Tensor) -> tf.Tensor:
    c = c if rank_of(c) else c[None]
    if c.shape[0] is None:
        raise ShapeNeededError.of(what="the degree of a polynomial")
    if c.shape[0] == 0:
        raise IndexError("index -1 is out of bounds for axis 0 with size 0")
    return cast(c, np.float64) if c.dtype.is_integer or c.dtype == tf.bool else c


def _values(x: tf.Tensor, c: tf.Tensor, spread: bool) -> tf.Tensor:
    """Evaluate polynomials by Horner's scheme. If `spread`, evaluate every polynomial at every point."""
    c = _coefficients(c)
    if spread:
        c = tf.reshape(c, tf.concat([tf.shape(c), [1] * rank_of(x)], 0)) if rank_of(x) else c
    c, x = promote(c, x)
    powers = tf.unstack(c)
    value = powers[-1] + x * tf.zeros((), x.dtype)
    for coefficient in powers[-2::-1]:
        value = coefficient + value * x
    return value


@op(polynomial.polyval)
def power_series_values(x: Array, c: Array, tensor: bool = True) -> tf.Tensor:
    """Evaluate polynomials at points."""
    return _values(x, c, spread=tensor)


def _spread_over_points(c: tf.Tensor, *points: tf.Tensor) -> tf.Tensor:
    if not all(coordinates.shape.is_compatible_with(points[0].shape) for coordinates in points):
        raise ValueError("the points are incompatible")
    for k, coordinates in enumerate(points):
        c = _values(coordinates, c, spread=k == 0)
    return c


if hasattr(polynomial, "polyvalnd"):

    @op(polynomial.polyvalnd)
    def polyvalnd(pts: Any, c: Array) -> Any:
        """Evaluate polynomials of several variables at points."""
        return _spread_over_points(c, *map(as_tensor, pts))


def _spread_over_grid(c: tf.Tensor, *points: tf.Tensor) -> tf.Tensor:
    for coordinates in points:
        c = _values(coordinates, c, spread=True)
    return c


@op(polynomial.polyval2d)
def polyval2d(x: Array, y: Array, c: Array) -> Any:
    """Evaluate polynomials of two variables at points."""
    return _spread_over_points(c, x, y)


@op(polynomial.polyval3d)
def polyval3d(x: Array, y: Array, z: Array, c: Array) -> Any:
    """Evaluate polynomials of three variables at points."""
    return _spread_over_points(c, x, y, z)


@op(polynomial.polygrid2d)
def polygrid2d(x: Array, y: Array, c: Array) -> Any:
    """Evaluate polynomials of two variables on a grid."""
    return _spread_over_grid(c, x, y)


@op(polynomial.polygrid3d)
def polygrid3d(x: Array, y: Array, z: Array, c: Array) -> Any:
    """Evaluate polynomials of three variables on a grid."""
    return _spread_over_grid(c, x, y, z)
