"""Bessel functions of the orders 0 and 1."""

from __future__ import annotations

import math
from collections.abc import Callable

import tensorflow as tf

from np2tf.scipy.kernels.declare import universal
from np2tf.scipy.kernels.series import doubly
from np2tf.tnp.kernels import constant


def _unscaled(scaled: Callable[[tf.Tensor], tf.Tensor]) -> Callable[[tf.Tensor], tf.Tensor]:
    """A modified function of the first kind, of one that is scaled by ``exp(-|x|)``."""

    return lambda x: tf.exp(tf.abs(x)) * scaled(x)


def _of_positive(function: Callable[[tf.Tensor], tf.Tensor]) -> Callable[[tf.Tensor], tf.Tensor]:
    """A function of the second kind: NaN of negative numbers."""

    def call(x: tf.Tensor) -> tf.Tensor:
        return tf.where(x < constant(0, x), constant(math.nan, x), function(x))

    return call


universal("i0", doubly(_unscaled(tf.math.bessel_i0e)))
universal("i1", doubly(_unscaled(tf.math.bessel_i1e)))
universal("i0e", doubly(tf.math.bessel_i0e))
universal("i1e", doubly(tf.math.bessel_i1e))
universal("j0", doubly(tf.math.special.bessel_j0))
universal("j1", doubly(tf.math.special.bessel_j1))
universal("y0", doubly(_of_positive(tf.math.special.bessel_y0)))
universal("y1", doubly(_of_positive(tf.math.special.bessel_y1)))
universal("k0", doubly(_of_positive(tf.math.special.bessel_k0)))
universal("k1", doubly(_of_positive(tf.math.special.bessel_k1)))
universal("k0e", doubly(_of_positive(tf.math.special.bessel_k0e)))
universal("k1e", doubly(_of_positive(tf.math.special.bessel_k1e)))
