"""The error function, the normal distribution function, and their inverses."""

from __future__ import annotations

import math

import tensorflow as tf

from np2tf.scipy.kernels.declare import universal
from np2tf.scipy.kernels.special.series import choose, compute_in_double, polynomial
from np2tf.tnp._tensor.dtype_dispatch import constant, maximum, minimum

# The coefficients of algorithm AS 241 (M. J. Wichura, Applied Statistics 37, 1988): the quantile of the
# standard normal distribution as quotients of polynomials of degree 7, for its middle and for two tails.
_MIDDLE = (
    (
        *(3.3871328727963666080, 1.3314166789178437745e2, 1.9715909503065514427e3, 1.3731693765509461125e4),
        *(4.5921953931549871457e4, 6.7265770927008700853e4, 3.3430575583588128105e4, 2.5090809287301226727e3),
    ),
    (
        *(1.0, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3),
        *(2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4, 5.2264952788528545610e3),
    ),
)
_TAIL = (
    (
        *(1.42343711074968357734, 4.63033784615654529590, 5.76949722146069140550, 3.64784832476320460504),
        *(
            1.27045825245236838258,
            2.41780725177450611770e-1,
            2.27238449892691845833e-2,
            7.74545014278341407640e-4,
        ),
    ),
    (
        *(1.0, 2.05319162663775882187, 1.67638483018380384940, 6.89767334985100004550e-1),
        *(
            1.48103976427480074590e-1,
            1.51986665636164571966e-2,
            5.47593808499534494600e-4,
            1.05075007164441684324e-9,
        ),
    ),
)
_FAR_TAIL = (
    (
        *(6.65790464350110377720, 5.46378491116411436990, 1.78482653991729133580, 2.96560571828504891230e-1),
        *(
            2.65321895265761230930e-2,
            1.24266094738807843860e-3,
            2.71155556874348757815e-5,
            2.01033439929228813265e-7,
        ),
    ),
    (
        *(1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2),
        *(
            7.86869131145613259100e-4,
            1.84631831751005468180e-5,
            1.42151175831644588870e-7,
            2.04426310338993978564e-15,
        ),
    ),
)
_SQRT_2 = math.sqrt(2.0)
#: Below, the logarithm of the normal distribution function comes from its asymptotic series.
_SERIES_BELOW = -12.0
_SERIES = [1.0]
for _k in range(1, 18):
    _SERIES.append(-_SERIES[-1] * (2 * _k - 1))


def error_function(x: tf.Tensor) -> tf.Tensor:
    """Compute the error function; beyond ±10 the result is ±1, as TensorFlow's kernel overflows there."""
    far = tf.abs(x) > constant(10, x)
    return tf.where(far, tf.sign(x), tf.math.erf(tf.where(far, constant(0, x), x)))


def _quantile(middle: tf.Tensor, tail: tf.Tensor) -> tf.Tensor:
    """Return the standard normal quantile of p.

    Args:
        middle: ``p - 0.5``.
        tail: ``min(p, 1 - p)``.
    """
    near = tf.abs(middle) <= constant(0.425, middle)
    square = constant(0.180625, middle) - tf.where(near, middle * middle, constant(0, middle))
    central = middle * polynomial(square, _MIDDLE[0]) / polynomial(square, _MIDDLE[1])
    is_inside = (tail > constant(0, tail)) & (tail <= constant(0.5, tail))
    root = tf.sqrt(-tf.math.log(tf.where(is_inside, tail, constant(0.25, tail))))
    first, second = root - constant(1.6, root), root - constant(5.0, root)
    size = tf.where(
        root <= constant(5.0, root),
        polynomial(first, _TAIL[0]) / polynomial(first, _TAIL[1]),
        polynomial(second, _FAR_TAIL[0]) / polynomial(second, _FAR_TAIL[1]),
    )
    size = choose(size, (tf.equal(tail, constant(0, tail)), math.inf), (~is_inside, math.nan))
    return tf.where(near, central, tf.where(middle < constant(0, middle), -size, size))


def normal_quantile(p: tf.Tensor) -> tf.Tensor:
    """Return the number x such that a standard normal variable is below x with probability p."""
    return _quantile(p - constant(0.5, p), minimum(p, constant(1, p) - p))


def error_inverse(y: tf.Tensor) -> tf.Tensor:
    """Return the number x with ``erf(x) == y``."""
    half = constant(0.5, y)
    x = _quantile(half * y, half * (constant(1, y) - tf.abs(y))) / constant(_SQRT_2, y)
    return tf.where(tf.equal(y, constant(0, y)), y, x)


def complement_inverse(y: tf.Tensor) -> tf.Tensor:
    """Return the number x with ``erfc(x) == y``."""
    half, one = constant(0.5, y), constant(1, y)
    tail = half * minimum(y, constant(2, y) - y)
    return _quantile(half * (one - y), tail) / constant(_SQRT_2, y)


def normal_distribution(x: tf.Tensor) -> tf.Tensor:
    """Return the probability that a standard normal variable is below x."""
    half, scaled = constant(0.5, x), x / constant(_SQRT_2, x)
    near = tf.abs(x) < constant(1, x)
    tail = half * tf.math.erfc(tf.abs(scaled))
    return tf.where(
        near,
        half + half * tf.math.erf(scaled),
        tf.where(x > constant(0, x), constant(1, x) - tail, tail),
    )


def log_normal_distribution(x: tf.Tensor) -> tf.Tensor:
    """Return the logarithm of `normal_distribution`."""
    below = constant(_SERIES_BELOW, x)
    far = minimum(x, below)
    inverse = constant(1, x) / (far * far)
    asymptotic = (
        constant(-0.5, x) * far * far
        - tf.math.log(-far)
        - constant(0.5 * math.log(2 * math.pi), x)
        + tf.math.log(polynomial(inverse, _SERIES))
    )
    near = tf.math.log(normal_distribution(maximum(x, below)))
    above = tf.math.log1p(-normal_distribution(-maximum(x, constant(0, x))))
    return tf.where(x < below, asymptotic, tf.where(x > constant(1, x), above, near))


def scaled_complement(x: tf.Tensor) -> tf.Tensor:
    """Return ``exp(x**2) * erfc(x)``."""
    limit = constant(8, x)
    near, far = minimum(x, limit), maximum(x, limit)
    inverse = constant(0.5, x) / (far * far)
    asymptotic = polynomial(inverse, _SERIES) / (far * constant(math.sqrt(math.pi), x))
    return tf.where(x > limit, asymptotic, tf.exp(near * near) * tf.math.erfc(near))


universal("erfcx", compute_in_double(scaled_complement))
universal("erf", error_function)
universal("erfc", compute_in_double(tf.math.erfc))
universal("erfinv", compute_in_double(error_inverse))
universal("erfcinv", compute_in_double(complement_inverse))
universal("ndtr", compute_in_double(normal_distribution))
universal("log_ndtr", compute_in_double(log_normal_distribution))
universal("ndtri", compute_in_double(normal_quantile))
