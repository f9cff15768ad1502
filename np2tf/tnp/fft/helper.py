"""The frequencies of a transform, and shifts of the zero frequency to the middle."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf
from numpy.lib.array_utils import normalize_axis_index

from np2tf.tnp._chapters.products.dot import multiply
from np2tf.tnp._dispatch.argument_types import Array, Axis, Int, Operand
from np2tf.tnp._dispatch.op import op
from np2tf.tnp._operands.axes import lengths_of
from np2tf.tnp._operands.axis_arguments import rank_of
from np2tf.tnp._ufuncs.tensor_ufunc import UFUNCS

__all__ = ["fftfreq", "fftshift", "ifftshift", "rfftfreq"]


def _frequencies(numbers: np.ndarray, n: int, d: Any) -> tf.Tensor:
    """Return `numbers` divided by ``n * d``, rounded as NumPy rounds."""
    if isinstance(d, (int, float, complex)):
        return tf.constant(numbers * (1.0 / (n * d)))
    return multiply(numbers, UFUNCS[np.divide].compute((1.0, multiply(n, d))))


@op(np.fft.fftfreq)
def fftfreq(n: Int, d: Operand = 1.0, device: Any = None) -> tf.Tensor:
    """Return the frequencies of `fft` for `n` samples.

    Args:
        n: the number of samples.
        d: the distance of the samples.
        device: None or "cpu".

    Returns:
        An array (n,) of float64.

    Raises:
        ValueError: `n` is negative.

    See https://numpy.org/doc/stable/reference/generated/numpy.fft.fftfreq.html.
    """
    if n < 0:
        raise ValueError("negative dimensions are not allowed")
    half = (n - 1) // 2 + 1
    return _frequencies(np.concatenate([np.arange(half), np.arange(-(n // 2), 0)]), n, d)


@op(np.fft.rfftfreq)
def rfftfreq(n: Int, d: Operand = 1.0, device: Any = None) -> tf.Tensor:
    """Return the frequencies of `rfft` for `n` samples.

    Args:
        n: the number of samples.
        d: the distance of the samples.
        device: None or "cpu".

    Returns:
        An array (n // 2 + 1,) of float64.

    See https://numpy.org/doc/stable/reference/generated/numpy.fft.rfftfreq.html.
    """
    return _frequencies(np.arange(n // 2 + 1), n, d)


def _shift(x: tf.Tensor, axes: Any, sign: int) -> tf.Tensor:
    """Shift axes by half of their lengths, forwards (`sign` 1) or backwards (`sign` -1)."""
    rank = rank_of(x)
    shift_axes = range(rank) if axes is None else (axes,) if isinstance(axes, int) else axes
    where = [normalize_axis_index(axis, rank) for axis in shift_axes]
    if not where:
        return x
    shifts = [sign * (size // 2) for size in lengths_of(x, where)]
    return tf.roll(x, shifts, where)


@op(np.fft.fftshift)
def fftshift(x: Array, axes: Axis = None) -> tf.Tensor:
    """Shift the zero frequency to the middle.

    Args:
        x: array of any dtype and shape.
        axes: the axis or axes to shift; None is all of them.

    Returns:
        An array in the shape and dtype of `x`.

    See https://numpy.org/doc/stable/reference/generated/numpy.fft.fftshift.html.
    """
    return _shift(x, axes, 1)


@op(np.fft.ifftshift)
def ifftshift(x: Array, axes: Axis = None) -> tf.Tensor:
    """Undo `fftshift`.

    Args:
        x: array of any dtype and shape.
        axes: the axis or axes to shift; None is all of them.

    Returns:
        An array in the shape and dtype of `x`.

    See https://numpy.org/doc/stable/reference/generated/numpy.fft.ifftshift.html.
    """
    return _shift(x, axes, -1)
