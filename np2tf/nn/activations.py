"""Activation functions, and the error function that one of them needs."""

from __future__ import annotations

import importlib.util
import math
from typing import Any

import numpy as np

from np2tf import tnp
from np2tf.lazy import tf
from np2tf.nn.operands import inexact
from np2tf.tnp._array.ndarray import is_array, wrap_tensor

_erf_of_numbers = np.vectorize(math.erf, otypes=[np.float64])


def erf(x: Any) -> Any:
    """Return the error function of each element.

    Args:
        x: array of any shape; integers are taken as float64.

    Returns:
        An array of the shape and floating-point dtype of x.

    See https://docs.jax.dev/en/latest/_autosummary/jax.lax.erf.html.
    """
    x = inexact(x)
    if is_array(x):
        # TensorFlow's own function overflows far from zero.
        far = tnp.abs(x) > 10
        near = wrap_tensor(tf.math.erf(tnp.where(far, tnp.zeros_like(x), x).tensor))
        return tnp.where(far, tnp.sign(x), near)
    if importlib.util.find_spec("scipy") is not None:
        from np2tf.scipy import special

        return special.erf(x)
    return _erf_of_numbers(x).astype(x.dtype)


def relu(x: Any) -> Any:
    """Return the greater of each element and zero.

    Args:
        x: array of any shape and real dtype.

    Returns:
        An array of the shape and dtype of x.

    See https://docs.jax.dev/en/latest/_autosummary/jax.nn.relu.html.
    """
    return tnp.maximum(tnp.asarray(x), 0)


def sigmoid(x: Any) -> Any:
    """Return ``1 / (1 + exp(-x))`` of each element, without overflow.

    Args:
        x: array of any shape; integers are taken as float64.

    Returns:
        An array of the shape and floating-point dtype of x.

    See https://docs.jax.dev/en/latest/_autosummary/jax.nn.sigmoid.html.
    """
    x = inexact(x)
    # The choice is that of the last line, so that the derivative at zero is that of one formula.
    small = tnp.exp(tnp.where(x >= 0, -x, x))
    return tnp.where(x >= 0, 1 / (1 + small), small / (1 + small))


def softplus(x: Any) -> Any:
    """Return ``log(1 + exp(x))`` of each element, without overflow.

    Args:
        x: array of any shape; integers are taken as float64.

    Returns:
        An array of the shape and floating-point dtype of x.

    See https://docs.jax.dev/en/latest/_autosummary/jax.nn.softplus.html.
    """
    return tnp.logaddexp(inexact(x), 0)


def gelu(x: Any, approximate: bool = True) -> Any:
    """Return the Gaussian error linear unit of each element.

    Args:
        x: array of any shape; integers are taken as float64.
        approximate: whether to use the formula with tanh in the place of the error function.

    Returns:
        An array of the shape and floating-point dtype of x.

    See https://docs.jax.dev/en/latest/_autosummary/jax.nn.gelu.html.
    """
    x = inexact(x)
    if approximate:
        return x * (0.5 * (1 + tnp.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))))
    return 0.5 * x * (1 + erf(x / math.sqrt(2)))


__all__ = ["erf", "gelu", "relu", "sigmoid", "softplus"]
