"""Incomplete gamma and beta functions."""

from __future__ import annotations

import math

import tensorflow as tf

from np2tf.scipy.kernels.declare import discard_unless, universal
from np2tf.scipy.kernels.special.elementwise import xlog1py, xlogy
from np2tf.scipy.kernels.special.gammas import log_beta, log_gamma
from np2tf.scipy.kernels.special.series import choose, compute_in_double
from np2tf.tnp._tensor import batches
from np2tf.tnp._tensor.dtype_dispatch import broadcast_together, constant
from np2tf.tnp._tensor.reductions_of_axes import reduce_all
from np2tf.tnp._ufuncs.derivatives import differentiate_by

#: The largest parameter, the largest number and the smallest parameter for which TensorFlow is used.
_MAX_PARAMETER, _MAX_ARGUMENT, _MIN_PARAMETER = 2e3, 1e15, 1e-8


def _gamma(a: tf.Tensor, x: tf.Tensor, upper: bool) -> tf.Tensor:
    """Return a regularised incomplete gamma function, with SciPy's values at the borders of the domain."""
    a, x = broadcast_together(a, x)
    zero, one = constant(0, a), constant(1, a)
    inside = (a > zero) & (x > zero) & tf.math.is_finite(a) & tf.math.is_finite(x)
    # For larger numbers TensorFlow's iterations are too few, or do not end.
    discard_unless(
        reduce_all(
            ~inside
            | (
                (a < constant(_MAX_PARAMETER, a))
                & (a > constant(_MIN_PARAMETER, a))
                & (x < constant(_MAX_ARGUMENT, a))
            )
        ),
        "gammainc far out",
    )
    inside &= (
        (a < constant(_MAX_PARAMETER, a))
        & (a > constant(_MIN_PARAMETER, a))
        & (x < constant(_MAX_ARGUMENT, a))
    )
    compute = batches.igammac if upper else batches.igamma
    value = compute(tf.where(inside, a, one), tf.where(inside, x, one))
    value_at_zero, value_at_infinity = (one, zero) if upper else (zero, one)
    infinite = constant(math.inf, a)
    is_undefined = (a < zero) | (x < zero) | tf.math.is_nan(a) | tf.math.is_nan(x)
    is_undefined |= tf.equal(a, zero) & tf.equal(x, zero) | (tf.equal(a, infinite) & tf.equal(x, infinite))
    return choose(
        value,
        (is_undefined, math.nan),
        (tf.equal(a, zero) | tf.equal(x, infinite), value_at_infinity),
        (tf.equal(x, zero) | tf.equal(a, infinite), value_at_zero),
    )


def _by_parameter(a: tf.Tensor, x: tf.Tensor) -> tf.Tensor:
    """Return the derivative of `lower_gamma` by its first operand."""
    zero, one = constant(0, a), constant(1, a)
    inside = (a > zero) & (x > zero) & tf.math.is_finite(a) & tf.math.is_finite(x)
    return tf.where(inside, batches.igamma_gradient(tf.where(inside, a, one), tf.where(inside, x, one)), zero)


def _density(a: tf.Tensor, x: tf.Tensor) -> tf.Tensor:
    """Return the derivative of `lower_gamma` by its second operand."""
    return tf.exp(xlogy(a - constant(1, a), x) - x - log_gamma(a))


@differentiate_by(_by_parameter, _density)
def lower_gamma(a: tf.Tensor, x: tf.Tensor) -> tf.Tensor:
    """Return the regularised lower incomplete gamma function."""
    return _gamma(a, x, upper=False)


@differentiate_by(lambda a, x: -_by_parameter(a, x), lambda a, x: -_density(a, x))
def upper_gamma(a: tf.Tensor, x: tf.Tensor) -> tf.Tensor:
    """Return the regularised upper incomplete gamma function."""
    return _gamma(a, x, upper=True)


def _beta_density(a: tf.Tensor, b: tf.Tensor, x: tf.Tensor) -> tf.Tensor:
    one = constant(1, a)
    return tf.exp(xlogy(a - one, x) + xlog1py(b - one, -x) - log_beta(a, b))


@differentiate_by("Betainc", "Betainc", _beta_density)
def incomplete_beta(a: tf.Tensor, b: tf.Tensor, x: tf.Tensor) -> tf.Tensor:
    """Return the regularised incomplete beta function."""
    a, b, x = broadcast_together(a, b, x)
    zero, one = constant(0, a), constant(1, a)
    finite = tf.math.is_finite(a) & tf.math.is_finite(b)
    inside = (a > zero) & (b > zero) & (x > zero) & (x < one) & finite
    discard_unless(
        reduce_all(~inside | ((a < constant(_MAX_PARAMETER, a)) & (b < constant(_MAX_PARAMETER, a)))),
        "betainc far out",
    )
    inside &= (a < constant(_MAX_PARAMETER, a)) & (b < constant(_MAX_PARAMETER, a))
    value = batches.betainc(*(tf.where(inside, one_of, constant(0.5, a)) for one_of in (a, b, x)))
    infinite = constant(math.inf, a)
    a_is_infinite, b_is_infinite = tf.equal(a, infinite), tf.equal(b, infinite)
    no_a, no_b = tf.equal(a, zero), tf.equal(b, zero)
    is_undefined = tf.math.is_nan(a + b + x) | (a < zero) | (b < zero) | (x < zero) | (x > one)
    is_undefined |= (a_is_infinite & b_is_infinite) | (no_a & no_b)
    return choose(
        value,
        (is_undefined, math.nan),
        (no_a | b_is_infinite, tf.where(tf.equal(x, zero), zero, one)),
        (no_b | a_is_infinite, tf.where(tf.equal(x, one), one, zero)),
        (tf.equal(x, zero), zero),
        (tf.equal(x, one), one),
    )


universal("gammainc", compute_in_double(lower_gamma))
universal("gammaincc", compute_in_double(upper_gamma))
universal("betainc", compute_in_double(incomplete_beta))
universal("chdtr", compute_in_double(lambda v, x: lower_gamma(v / constant(2, v), x / constant(2, x))))
universal("chdtrc", compute_in_double(lambda v, x: upper_gamma(v / constant(2, v), x / constant(2, x))))
