"""Frequencies of a transform, and shifting the zero frequency to the middle."""

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
    """`numbers` over ``n * d``, rounded as NumPy rounds."""
    if isinstance(d, (int, float, complex)):
        return tf.constant(numbers * (1.0 / (n * d)))
    return multiply(numbers, UFUNCS[np.divide].compute((1.0, multiply(n, d))))


@op(np.fft.fftfreq)
def fftfreq(n: Int, d: Operand = 1.0, device: Any = None) -> tf.Tensor:
    """The frequencies of `fft` of `n` samples at distance `d`.

    See https://numpy.org/doc/stable/reference/generated/numpy.fft.fftfreq.html.
    """
    if n < 0:
        raise ValueError("negative dimensions are not allowed")
    half = (n - 1) // 2 + 1
    return _frequencies(np.concatenate([np.arange(half), np.arange(-(n // 2), 0)]), n, d)


@op(np.fft.rfftfreq)
def rfftfreq(n: Int, d: Operand = 1.0, device: Any = None) -> tf.Tensor:
    """The frequencies of `rfft` of `n` samples at distance `d`.

    See https://numpy.org/doc/stable/reference/generated/numpy.fft.rfftfreq.html.
    """
    return _frequencies(np.arange(n // 2 + 1), n, d)


def _shift(x: tf.Tensor, axes: Any, sign: int) -> tf.Tensor:
    rank = rank_of(x)
    chosen = range(rank) if axes is None else (axes,) if isinstance(axes, int) else axes
    where = [normalize_axis_index(axis, rank) for axis in chosen]
    if not where:
        return x
    shifts = [sign * (size // 2) for size in lengths_of(x, where)]
    return tf.roll(x, shifts, where)


@op(np.fft.fftshift)
def fftshift(x: Array, axes: Axis = None) -> tf.Tensor:
    """`x` with the zero frequency in the middle.

    See https://numpy.org/doc/stable/reference/generated/numpy.fft.fftshift.html.
    """
    return _shift(x, axes, 1)


@op(np.fft.ifftshift)
def ifftshift(x: Array, axes: Axis = None) -> tf.Tensor:
    """The inverse of `fftshift`.

    See https://numpy.org/doc/stable/reference/generated/numpy.fft.ifftshift.html.
    """
    return _shift(x, axes, -1)
