"""Activation functions, one-hot vectors, softmax."""

from __future__ import annotations

import importlib.util
import math
from typing import Any

import numpy as np

from np2tf import tnp
from np2tf.arrays.array.ndarray import is_array, wrap_tensor
from np2tf.core.late import tf

__all__ = [
    "dtype_of",
    "erf",
    "gelu",
    "highest",
    "inexact",
    "log_softmax",
    "logsumexp",
    "lowest",
    "one_hot",
    "relu",
    "sigmoid",
    "softmax",
    "softplus",
]


# -- operands ------------------------------------------------------------------------------------------------
# Arguments of the functions of this folder, as arrays.


def inexact(x: Any) -> Any:
    """Return an array of floats or complex numbers; integers and booleans become float64."""
    array = tnp.asarray(x)
    return array if np.issubdtype(np.dtype(array.dtype), np.inexact) else array.astype(np.float64)


def dtype_of(x: Any) -> np.dtype[Any]:
    """Return the dtype of an array of either kind, as NumPy's."""
    return np.dtype(x.dtype)


def lowest(dtype: np.dtype[Any]) -> Any:
    """Return the least value of a dtype: minus infinity for floats."""
    if np.issubdtype(dtype, np.inexact):
        return dtype.type(-np.inf)
    return False if dtype == np.bool_ else np.iinfo(dtype).min


def highest(dtype: np.dtype[Any]) -> Any:
    """Return the greatest value of a dtype: infinity for floats."""
    if np.issubdtype(dtype, np.inexact):
        return dtype.type(np.inf)
    return True if dtype == np.bool_ else np.iinfo(dtype).max


# -- activations ---------------------------------------------------------------------------------------------
# Activation functions, and the error function that one of them needs.

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


# -- classes -------------------------------------------------------------------------------------------------
# Functions over classes: one-hot vectors, and exponentials normalised along an axis.


def one_hot(x: Any, num_classes: int, *, dtype: Any = np.float64, axis: int = -1) -> Any:
    """Return vectors that are one at the place of a class and zero elsewhere.

    Args:
        x: integer array of any shape, with the classes; a class outside ``range(num_classes)`` gives zeros.
        num_classes: the length of the vectors.
        dtype: the dtype of the result.
        axis: the axis of the result that has the vectors.

    Returns:
        An array with one axis more than x.

    See https://docs.jax.dev/en/latest/_autosummary/jax.nn.one_hot.html.
    """
    x = tnp.asarray(x)
    vectors = (tnp.expand_dims(x, -1) == tnp.arange(num_classes, dtype=dtype_of(x))).astype(dtype)
    return vectors if axis in (-1, x.ndim) else tnp.moveaxis(vectors, -1, axis)


def logsumexp(
    a: Any,
    axis: Any = None,
    b: Any = None,
    keepdims: bool = False,
    return_sign: bool = False,
    where: Any = None,
) -> Any:
    """Return ``log(sum(b * exp(a)))`` without overflow.

    Args:
        a: array of any shape and real dtype; integers are taken as float64.
        axis: the axis or axes of the sum; None for all.
        b: factors that broadcast to a; a factor of zero leaves its element out.
        keepdims: whether summed axes stay, with length 1.
        return_sign: whether to return the sign of the sum too. Without it a negative sum gives NaN.
        where: booleans that broadcast to a; elements at False are left out.

    Returns:
        The logarithm of the sum's absolute value, or a tuple of it and the sign.

    See https://docs.jax.dev/en/latest/_autosummary/jax.scipy.special.logsumexp.html.
    """
    a = inexact(a)
    if where is not None:
        a = tnp.where(where, a, -np.inf)
    if b is not None:
        b = tnp.asarray(b)
        a, b = tnp.broadcast_arrays(tnp.where(b != 0, a, -np.inf), b.astype(dtype_of(a)))
    top = tnp.max(a, axis=axis, keepdims=True)
    top = tnp.where(tnp.isfinite(top), top, tnp.zeros_like(top))
    terms = tnp.exp(a - top)
    total = tnp.sum(terms if b is None else terms * b, axis=axis, keepdims=True)
    sign = tnp.sign(total)
    size = tnp.abs(total)
    with np.errstate(divide="ignore", invalid="ignore"):
        result = tnp.log(size if return_sign else total) + top
    if not keepdims:
        axes = tuple(range(a.ndim)) if axis is None else axis
        result, sign = tnp.squeeze(result, axis=axes), tnp.squeeze(sign, axis=axes)
    return (result, sign) if return_sign else result


def softmax(x: Any, axis: Any = -1, where: Any = None) -> Any:
    """Return exponentials that are divided by their sum along an axis.

    Args:
        x: array of any shape; integers are taken as float64.
        axis: the axis or axes of the sum.
        where: booleans that broadcast to x; elements at False are left out, and are zero in the result.

    Returns:
        An array of the shape and floating-point dtype of x.

    See https://docs.jax.dev/en/latest/_autosummary/jax.nn.softmax.html.
    """
    with np.errstate(invalid="ignore"):  # where everything is left out
        terms = tnp.exp(_below_zero(x, axis, where))
        probabilities = terms / tnp.sum(terms, axis=axis, keepdims=True)
    return probabilities if where is None else tnp.where(where, probabilities, tnp.zeros_like(probabilities))


def log_softmax(x: Any, axis: Any = -1, where: Any = None) -> Any:
    """Return the logarithm of `softmax`, without loss of digits.

    Args:
        x: array of any shape; integers are taken as float64.
        axis: the axis or axes of the sum.
        where: booleans that broadcast to x; elements at False are left out, and are -inf in the result.

    Returns:
        An array of the shape and floating-point dtype of x.

    See https://docs.jax.dev/en/latest/_autosummary/jax.nn.log_softmax.html.
    """
    with np.errstate(invalid="ignore"):  # where everything is left out
        exponents = _below_zero(x, axis, where)
        logarithms = exponents - tnp.log(tnp.sum(tnp.exp(exponents), axis=axis, keepdims=True))
    return logarithms if where is None else tnp.where(where, logarithms, tnp.full_like(logarithms, -np.inf))


def _below_zero(x: Any, axis: Any, where: Any) -> Any:
    """Return x less its maximum, whose exponentials do not overflow; elements left out are -inf."""
    x = inexact(x)
    if where is not None:
        x = tnp.where(where, x, -np.inf)
    return x - tnp.max(x, axis=axis, keepdims=True)
