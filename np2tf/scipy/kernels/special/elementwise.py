"""Functions of scipy.special that are made of exponentials and logarithms."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import tensorflow as tf

from np2tf.scipy.kernels.declare import universal
from np2tf.scipy.kernels.special.series import choose, compute_in_double
from np2tf.tnp._tensor.dtype_dispatch import broadcast_together, constant
from np2tf.tnp._ufuncs.derivatives import differentiate_by
from np2tf.tnp._ufuncs.tensor_ufunc import UFUNCS

#: The logarithm of the least positive number, half of which is 0.
_LOG_OF_LEAST = math.log(5e-324) - math.log(2)


@differentiate_by(lambda p: constant(1, p) / (p * (constant(1, p) - p)))
def _logit(p: tf.Tensor) -> tf.Tensor:
    """Return the logarithm of ``p / (1 - p)``."""
    one = constant(1, p)
    middle = (p >= constant(0.3, p)) & (p <= constant(0.65, p))
    distance = constant(2, p) * (tf.where(middle, p, constant(0.5, p)) - constant(0.5, p))
    near = tf.math.log1p(distance) - tf.math.log1p(-distance)
    return tf.where(middle, near, tf.math.log(p / (one - p)))


def _log_expit(x: tf.Tensor) -> tf.Tensor:
    return -tf.math.softplus(-x)


def _times(logarithm: Callable[[tf.Tensor], tf.Tensor], shift: float) -> Callable[..., tf.Tensor]:
    """Return the function ``x * logarithm(y)``, which is 0 where x is 0 and y is not NaN.

    The derivative of the logarithm is ``1 / (y + shift)``.
    """

    def quotient(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        is_zero = tf.equal(x, constant(0, x))
        return tf.where(is_zero, x, x / tf.where(is_zero, constant(1, y), y + constant(shift, y)))

    @differentiate_by(lambda x, y: logarithm(y), quotient)
    def call(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        x, y = broadcast_together(x, y)
        is_zero = tf.equal(x, constant(0, x)) & ~tf.math.is_nan(y)
        return tf.where(is_zero, constant(0, x), x * logarithm(tf.where(is_zero, constant(1, y), y)))

    return call


xlogy, xlog1py = _times(tf.math.log, 0.0), _times(tf.math.log1p, 1.0)


def _log_ratio(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
    return tf.math.log(x) - tf.math.log(y)


@differentiate_by(lambda x: -tf.math.log(x) - constant(1, x))
def _entropy(x: tf.Tensor) -> tf.Tensor:
    """Return ``-x * log(x)``: 0 for 0, minus infinity for negative numbers."""
    positive = x > constant(0, x)
    value = -x * tf.math.log(tf.where(positive, x, constant(1, x)))
    return choose(value, (tf.math.is_nan(x), x), (tf.equal(x, constant(0, x)), 0.0), (~positive, -math.inf))


@differentiate_by(lambda x, y: _log_ratio(x, y) + constant(1, x), lambda x, y: -x / y)
def _relative_entropy(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
    """Return ``x * log(x / y)``."""
    x, y = broadcast_together(x, y)
    zero, one = constant(0, x), constant(1, x)
    are_positive = (x > zero) & (y > zero)
    above, below = tf.where(are_positive, x, one), tf.where(are_positive, y, one)
    ratio = above / below
    near = (ratio > constant(0.5, x)) & (ratio < constant(2, x))
    # The quotient of nearly equal numbers would round their difference away.
    close = tf.math.log1p(
        (tf.where(near, above, one) - tf.where(near, below, one)) / tf.where(near, below, one)
    )
    inside = (ratio > constant(np.finfo(np.float64).tiny, x)) & tf.math.is_finite(ratio)
    logarithm = choose(
        tf.math.log(above) - tf.math.log(below),
        (near, close),
        (inside, tf.math.log(tf.where(inside, ratio, one))),
    )
    is_zero = tf.equal(x, zero) & (y >= zero)
    is_undefined = tf.math.is_nan(x) | tf.math.is_nan(y)
    return choose(above * logarithm, (is_undefined, math.nan), (is_zero, 0.0), (~are_positive, math.inf))


@differentiate_by(lambda x, y: _log_ratio(x, y), lambda x, y: constant(1, x) - x / y)
def _divergence(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
    """Return ``x * log(x / y) - x + y``."""
    x, y = broadcast_together(x, y)
    zero = constant(0, x)
    are_positive = (x > zero) & (y > zero)
    above, below = tf.where(are_positive, x, constant(1, x)), tf.where(are_positive, y, constant(1, x))
    ratio = above / below
    vanishes = ratio < constant(np.finfo(np.float64).tiny, x)
    apart = tf.math.log(above) - tf.math.log(below)
    apart = tf.where(apart < constant(_LOG_OF_LEAST, x), constant(-math.inf, x), apart)
    logarithm = tf.where(vanishes, apart, tf.math.log(ratio))
    is_zero = tf.equal(x, zero) & (y >= zero)
    is_undefined = tf.math.is_nan(x) | tf.math.is_nan(y)
    return choose(
        tf.where(are_positive, x * logarithm - x + y, constant(math.inf, x)),
        (is_undefined, math.nan),
        (is_zero, y),
    )


def _huber(delta: tf.Tensor, r: tf.Tensor) -> tf.Tensor:
    """Return the Huber loss of residuals r."""
    delta, r = broadcast_together(delta, r)
    half, size = constant(0.5, r), tf.abs(r)
    value = tf.where(size <= delta, half * r * r, delta * (size - half * delta))
    return tf.where(delta < constant(0, r), constant(math.inf, r), value)


universal("expit", tf.math.sigmoid)
universal("logit", compute_in_double(_logit))
universal("log_expit", compute_in_double(_log_expit))
universal("xlogy", compute_in_double(xlogy))
universal("xlog1py", compute_in_double(xlog1py))
universal("entr", compute_in_double(_entropy))
universal("rel_entr", compute_in_double(_relative_entropy))
universal("kl_div", compute_in_double(_divergence))
universal("huber", compute_in_double(_huber))
for _name in ("expm1", "log1p", "exp2", "cbrt"):
    universal(_name, compute_in_double(UFUNCS[getattr(np, _name)].implementation))
universal("exp10", compute_in_double(lambda x: tf.pow(constant(10, x), x)))
