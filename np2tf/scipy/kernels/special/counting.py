"""Factorials and binomial coefficients."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from np2tf.scipy.kernels.declare import discard_unless, native, refusal
from np2tf.scipy.kernels.special.gammas import binomial, gamma
from np2tf.scipy.kernels.special.series import choose
from np2tf.tnp._dispatch.argument_types import Array
from np2tf.tnp._operands.conversion import cast
from np2tf.tnp._tensor.dtype_dispatch import broadcast_together, constant
from np2tf.tnp._tensor.reductions_of_axes import reduce_all


@native("scipy.special.comb")
def comb(N: Array, k: Array, *, repetition: bool = False) -> tf.Tensor:
    """Return the number of ways to choose k of N things.

    Args:
        N: array of numbers of things.
        k: array of numbers of chosen things.
        repetition: whether a thing may be chosen several times.

    Returns:
        An array of float64 in the common shape; 0 where k > N or a number is negative.

    Raises:
        StagingError: with `repetition`, N is below 1 or k is below 0.

    See https://docs.scipy.org/doc/scipy/reference/generated/scipy.special.comb.html.
    """
    things, sample_size = broadcast_together(cast(N, np.float64), cast(k, np.float64))
    if repetition:
        zero = constant(0, things)
        # The results for n below 1 depend on SciPy's version.
        discard_unless(
            reduce_all((things > zero) & (sample_size >= zero)),
            "comb with repetition of less than one thing",
        )
        things = things + sample_size - constant(1, sample_size)
    possible = (
        (sample_size <= things) & (things >= constant(0, things)) & (sample_size >= constant(0, sample_size))
    )
    return tf.where(possible, binomial(things, sample_size), constant(0, things))


@native("scipy.special.factorial")
def factorial(n: Array) -> tf.Tensor:
    """Return ``gamma(n + 1)``, and 0 for negative numbers.

    Args:
        n: array of real numbers.

    Returns:
        An array of float64 in the shape of `n`.

    Raises:
        StagingError: `n` is complex, boolean or float16.

    See https://docs.scipy.org/doc/scipy/reference/generated/scipy.special.factorial.html.
    """
    if n.dtype.is_complex or n.dtype in (tf.bool, tf.float16):
        raise refusal(f"factorial of {n.dtype.name}")
    at = cast(n, np.float64)
    value = gamma(tf.where(at < constant(0, at), constant(0, at), at) + constant(1, at))
    result = choose(value, (tf.math.is_nan(at), at), (at < constant(0, at), 0.0))
    # SciPy computes the function in the precision of n, and then converts the result to float64.
    return cast(cast(result, np.float32), np.float64) if n.dtype == tf.float32 else result
