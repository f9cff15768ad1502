"""Convolutions and correlations of arrays, and analytic signals."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import tensorflow as tf
from numpy.lib.array_utils import normalize_axis_index
from scipy.fft import next_fast_len

from np2tf.scipy.kernels.declare import native, refusal
from np2tf.tnp._chapters.products.convolution import convolve as along_one_axis
from np2tf.tnp._dispatch.argument_types import Array, Int, OptionalInt
from np2tf.tnp._operands.axis_arguments import rank_of
from np2tf.tnp._operands.conversion import cast, promote
from np2tf.tnp._operands.promotion import inexact_type
from np2tf.tnp.fft.transforms import (
    complex_transform,
    move_axis_last,
    move_last_axis,
    real_inverse,
    real_transform,
)

#: The largest number of shifted products for which a convolution is a sum of them.
_MOST_TERMS = 64
_MODES = ("full", "same", "valid")


def _operands(name: str, first: tf.Tensor, second: tf.Tensor, mode: Any) -> tuple[tf.Tensor, tf.Tensor]:
    """Return both operands as tensors of their common dtype.

    Raises:
        ValueError: the operands have different numbers of axes, or SciPy has no such mode.
        StagingError: an operand is empty, has an unknown shape, or has a dtype that TensorFlow does not
            multiply.
    """
    if mode not in _MODES:
        raise ValueError("acceptable mode flags are 'valid', 'same', or 'full'")
    if rank_of(first) != rank_of(second):
        raise ValueError("in1 and in2 should have the same dimensionality")
    a, b = promote(first, second)
    if None in (*a.shape, *b.shape) or 0 in (*a.shape, *b.shape) or a.dtype in (tf.bool, tf.float16):
        raise refusal(f"{name} of empty arrays, of booleans or float16, or of arrays of unknown shape")
    return a, b


def _take_mode(full: tf.Tensor, a: tf.Tensor, b: tf.Tensor, mode: str) -> tf.Tensor:
    """Return the part of a full convolution that a mode asks for."""
    if mode == "full":
        return full
    if mode == "same":
        sizes = list(a.shape)
    else:
        larger = [n >= m for n, m in zip(a.shape, b.shape)]
        if not all(larger) and any(n > m for n, m in zip(a.shape, b.shape)):
            raise ValueError(
                "For 'valid' mode, one must be at least as large as the other in every dimension"
            )
        sizes = [abs(n - m) + 1 for n, m in zip(a.shape, b.shape)]
    starts = [(whole - size) // 2 for whole, size in zip(full.shape, sizes)]
    return tf.slice(full, starts, sizes)


def _sum_shifted(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    """Return the full convolution as a sum of shifted arrays, one for each element of the smaller array."""
    if a.shape.num_elements() < b.shape.num_elements():
        a, b = b, a
    if rank_of(a) == 1:
        return along_one_axis.__wrapped__(a, b)  # type: ignore[attr-defined]
    sizes = [n + m - 1 for n, m in zip(a.shape, b.shape)]
    signal = tf.pad(a, [[m - 1, m - 1] for m in b.shape])
    result = tf.zeros(sizes, a.dtype)
    for position in itertools.product(*map(range, b.shape)):
        start = [m - 1 - k for m, k in zip(b.shape, position)]
        result += tf.slice(signal, start, sizes) * b[position]
    return result


def _convolve_by_transforms(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    """Return the full convolution, computed by Fourier transforms."""
    sizes = [n + m - 1 for n, m in zip(a.shape, b.shape)]
    is_complex = a.dtype.is_complex
    fast = [next_fast_len(size, not is_complex) for size in sizes]
    last = len(sizes) - 1
    spectra = []
    for x in (a, b):
        transform = (
            complex_transform(x, fast[-1], last, None, inverse=False)
            if is_complex
            else real_transform(x, fast[-1], last, None)
        )
        for axis in range(last):
            transform = complex_transform(transform, fast[axis], axis, None, inverse=False)
        spectra.append(transform)
    product = spectra[0] * spectra[1]
    for axis in range(last):
        product = complex_transform(product, fast[axis], axis, None, inverse=True)
    whole = (
        complex_transform(product, fast[-1], last, None, inverse=True)
        if is_complex
        else real_inverse(product, fast[-1], last, None)
    )
    return tf.slice(whole, [0] * len(sizes), sizes)


def _convolution(name: str, a: tf.Tensor, b: tf.Tensor, mode: str, method: str) -> tf.Tensor:
    """Convolve two operands by the method that `convolve` chooses."""
    if method not in ("auto", "direct", "fft"):
        raise ValueError("Acceptable method flags are 'auto', 'direct', or 'fft'.")
    if rank_of(a) == 0:
        return a * b
    terms = min(a.shape.num_elements(), b.shape.num_elements())
    if method == "fft" and a.dtype.is_integer:
        raise refusal(f"{name} of integers by Fourier transforms")
    if method == "fft" or (method == "auto" and terms > _MOST_TERMS and not a.dtype.is_integer):
        return _take_mode(_convolve_by_transforms(a, b), a, b, mode)
    if terms > _MOST_TERMS and rank_of(a) > 1:
        raise refusal(f"direct {name} of large arrays")
    return _take_mode(_sum_shifted(a, b), a, b, mode)


@native("scipy.signal.convolve")
def convolve(in1: Array, in2: Array, mode: str = "full", method: str = "auto") -> tf.Tensor:
    """Return the convolution of two arrays.

    With method "auto", floats and complex numbers are convolved by Fourier transforms if both arrays have
    more than 64 elements.

    Args:
        in1: array of any numeric dtype and at least 0 axes.
        in2: array with as many axes as `in1`.
        mode: "full", "same" (the shape of `in1`) or "valid" (only complete overlaps).
        method: "auto", "direct" (a sum of products) or "fft".

    Returns:
        An array of the common dtype. With mode "full" each axis has length n + m - 1.

    Raises:
        ValueError: the operands have different numbers of axes, or the mode or method is unknown.
        StagingError: an operand is empty or has an unknown shape, or only SciPy has the method for this
            dtype.

    See https://docs.scipy.org/doc/scipy/reference/generated/scipy.signal.convolve.html.
    """
    a, b = _operands("convolve", in1, in2, mode)
    return _convolution("convolve", a, b, mode, method)


@native("scipy.signal.correlate")
def correlate(in1: Array, in2: Array, mode: str = "full", method: str = "auto") -> tf.Tensor:
    """Return the cross-correlation of two arrays.

    Args:
        in1: array of any numeric dtype.
        in2: array with as many axes as `in1`.
        mode: "full", "same" (the shape of `in1`) or "valid" (only complete overlaps).
        method: "auto", "direct" (a sum of products) or "fft".

    Returns:
        An array of the common dtype. With mode "full" each axis has length n + m - 1.

    Raises:
        ValueError: the operands have different numbers of axes, or the mode or method is unknown.
        StagingError: an operand is empty or has an unknown shape, or only SciPy has the method for this
            dtype.

    See https://docs.scipy.org/doc/scipy/reference/generated/scipy.signal.correlate.html.
    """
    a, b = _operands("correlate", in1, in2, mode)
    kernel = tf.reverse(b, list(range(rank_of(b)))) if rank_of(b) else b
    return _convolution("correlate", a, tf.math.conj(kernel) if b.dtype.is_complex else kernel, mode, method)


@native("scipy.signal.fftconvolve")
def fftconvolve(in1: Array, in2: Array, mode: str = "full") -> tf.Tensor:
    """Return the convolution of two arrays, computed by Fourier transforms.

    Args:
        in1: array of any numeric dtype; integers are converted to float64.
        in2: array with as many axes as `in1`.
        mode: "full", "same" (the shape of `in1`) or "valid" (only complete overlaps).

    Returns:
        An array of floats or complex numbers. With mode "full" each axis has length n + m - 1.

    Raises:
        ValueError: the operands have different numbers of axes, or the mode is unknown.
        StagingError: an operand is empty or has an unknown shape, or is of booleans or float16.

    See https://docs.scipy.org/doc/scipy/reference/generated/scipy.signal.fftconvolve.html.
    """
    a, b = _operands("fftconvolve", in1, in2, mode)
    if rank_of(a) == 0:
        return a * b
    if a.dtype.is_integer:
        a, b = cast(a, np.float64), cast(b, np.float64)
    return _take_mode(_convolve_by_transforms(a, b), a, b, mode)


@native("scipy.signal.convolve2d")
def convolve2d(in1: Array, in2: Array, mode: str = "full") -> tf.Tensor:
    """Return the convolution of two matrices, with zeros around them.

    Args:
        in1: array (m, n) of any numeric dtype.
        in2: array (k, l).
        mode: "full", "same" (the shape of `in1`) or "valid" (only complete overlaps).

    Returns:
        An array of the common dtype; with mode "full" of shape (m + k - 1, n + l - 1).

    Raises:
        ValueError: an operand is not a matrix, or the mode is unknown.
        StagingError: an operand is empty or has an unknown shape, or both are large.

    See https://docs.scipy.org/doc/scipy/reference/generated/scipy.signal.convolve2d.html.
    """
    a, b = _operands("convolve2d", in1, in2, mode)
    if rank_of(a) != 2:
        raise ValueError("convolve2d inputs must both be 2-D arrays")
    return _convolution("convolve2d", a, b, mode, "direct")


@native("scipy.signal.hilbert")
def hilbert(x: Array, N: OptionalInt = None, axis: Int = -1) -> tf.Tensor:
    """Return the analytic signal, whose imaginary part is the Hilbert transform.

    Args:
        x: array of real numbers.
        N: the number of Fourier components; None is the length of the axis.
        axis: the axis of time.

    Returns:
        An array of complex numbers in the shape of `x`, with length `N` along the axis.

    Raises:
        ValueError: `N` is not positive.
        StagingError: `x` is complex or float16, or the length is unknown.

    See https://docs.scipy.org/doc/scipy/reference/generated/scipy.signal.hilbert.html.
    """
    if x.dtype.is_complex or x.dtype == tf.float16:
        raise refusal(f"hilbert of {x.dtype.name}")
    where = normalize_axis_index(axis, rank_of(x))
    length = x.shape[where] if N is None else N
    if length is None:
        raise refusal("hilbert of a length that is not known")
    if length <= 0:
        raise ValueError("N must be positive.")
    wide = cast(move_axis_last(x, where), inexact_type(x))
    spectrum = complex_transform(wide, length, -1, None, inverse=False)
    weights = np.zeros(length)
    weights[0] = 1
    weights[1 : (length + 1) // 2] = 2
    if length % 2 == 0:
        weights[length // 2] = 1
    result = complex_transform(
        spectrum * tf.constant(weights, spectrum.dtype), length, -1, None, inverse=True
    )
    return move_last_axis(result, where)
