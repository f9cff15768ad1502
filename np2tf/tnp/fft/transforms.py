"""Fourier transforms along one axis."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from numpy.lib.array_utils import normalize_axis_index

from np2tf.staging import ShapeNeededError
from np2tf.tnp._dispatch.argument_types import Array, Int, OptionalInt
from np2tf.tnp._dispatch.op import op
from np2tf.tnp._operands.axes import permute_axes
from np2tf.tnp._operands.axis_arguments import rank_of
from np2tf.tnp._operands.conversion import cast
from np2tf.tnp._tensor.index_bounds import record_violation

__all__ = ["fft", "hfft", "ifft", "ihfft", "irfft", "rfft"]

_NORMS = ("backward", "ortho", "forward")


@functools.cache
def _result_dtype(transform: Callable[..., Any], dtype: Any) -> np.dtype[Any]:
    """Return the dtype of NumPy's result, by calling NumPy once for each dtype.

    Raises:
        TypeError: the transform does not accept the dtype, as rfft does not accept complex numbers.
    """
    return transform(np.zeros(2, dtype)).dtype


def result_dtype(transform: Callable[..., Any], x: tf.Tensor) -> np.dtype[Any]:
    """Return the dtype of NumPy's result for `x`."""
    return _result_dtype(transform, x.dtype.as_numpy_dtype)


def scale(norm: Any, length: Any, dtype: tf.DType, inverse: bool, half: bool) -> tf.Tensor | None:
    """Return the factor for the result of TensorFlow's transform; None if it is 1.

    Args:
        norm: the normalisation that the caller names.
        length: the length of the transform.
        dtype: the dtype of the result.
        inverse: whether the transform is inverse.
        half: whether the input was float16, for which NumPy rounds the factor to float16.

    Raises:
        ValueError: NumPy has no such normalisation.
    """
    if norm is None:
        norm = "backward"
    if norm not in _NORMS:
        raise ValueError(f'Invalid norm value {norm}; should be "backward", "ortho" or "forward".')
    if half:
        return _half_scale(opposite(norm) if inverse else norm, length, dtype, inverse)
    if norm == "backward":
        return None
    factor = tf.cast(length, dtype.real_dtype)
    factor = tf.sqrt(factor) if norm == "ortho" else factor
    return tf.cast(factor if inverse else 1 / factor, dtype)


def _half_scale(norm: str, length: Any, dtype: tf.DType, inverse: bool) -> tf.Tensor:
    """Return the factor for a transform of float16.

    Raises:
        StagingError: the length is known only at run time.
    """
    if not isinstance(length, int):
        raise ShapeNeededError.of(what="the length of a Fourier transform")
    count = np.float16(length)
    factor = {"backward": np.float16(1), "ortho": 1 / np.sqrt(count), "forward": 1 / count}[norm]
    return tf.constant(float(factor) * (length if inverse else 1), dtype)


def opposite(norm: Any) -> Any:
    """Return the normalisation of the transform in the opposite direction."""
    return {None: "forward", "backward": "forward", "forward": "backward"}.get(norm, norm)


def length_of(x: tf.Tensor, n: Any, axis: int) -> Any:
    """Return the length of the transform.

    Raises:
        ValueError: the length is less than one.
    """
    length = x.shape[axis] if n is None else n
    if length is None:
        length = tf.shape(x)[axis]
        record_violation(tf.equal(length, 0))
        return length
    if length < 1:
        raise ValueError(f"Invalid number of FFT data points ({length}) specified.")
    return length


def fit_length(x: tf.Tensor, length: Any) -> tf.Tensor:
    """Return `x` with its last axis cropped, or padded with zeros, to `length`.

    Raises:
        StagingError: a length is known only at run time.
    """
    have = x.shape[-1]
    if have is None or not isinstance(length, int):
        raise ShapeNeededError.of(what="the length of a Fourier transform")
    if have >= length:
        return x if have == length else x[..., :length]
    return tf.pad(x, [*[[0, 0]] * (rank_of(x) - 1), [0, length - have]])


def _axis(x: tf.Tensor, axis: int) -> int:
    return normalize_axis_index(axis, rank_of(x))


def move_axis_last(x: tf.Tensor, axis: int) -> tf.Tensor:
    """Return `x` with `axis` moved to the end."""
    return permute_axes(x, [*(k for k in range(rank_of(x)) if k != axis), axis])


def move_last_axis(x: tf.Tensor, axis: int) -> tf.Tensor:
    """Return `x` with the last axis moved to `axis`."""
    order = list(range(rank_of(x) - 1))
    order.insert(axis, rank_of(x) - 1)
    return permute_axes(x, order)


def complex_transform(x: tf.Tensor, n: Any, axis: int, norm: Any, inverse: bool) -> tf.Tensor:
    """Return the fft or ifft along one axis."""
    axis = _axis(x, axis)
    length = length_of(x, n, axis)
    half = x.dtype == tf.float16
    x = cast(move_axis_last(x, axis), result_dtype(np.fft.ifft if inverse else np.fft.fft, x))
    factor = scale(norm, length, x.dtype, inverse, half)
    if n is not None and n != x.shape[-1]:
        x = fit_length(x, length)
    result = tf.signal.ifft(x) if inverse else tf.signal.fft(x)
    return move_last_axis(result if factor is None else result * factor, axis)


def real_transform(x: tf.Tensor, n: Any, axis: int, norm: Any) -> tf.Tensor:
    """Return the rfft along one axis."""
    axis = _axis(x, axis)
    dtype = tf.as_dtype(result_dtype(np.fft.rfft, x))
    length = length_of(x, n, axis)
    factor = scale(norm, length, dtype, inverse=False, half=x.dtype == tf.float16)
    x = cast(move_axis_last(x, axis), dtype.real_dtype.as_numpy_dtype)
    result = tf.signal.rfft(fit_length(x, length) if isinstance(length, int) else x)
    return move_last_axis(result if factor is None else result * factor, axis)


def real_inverse(x: tf.Tensor, n: Any, axis: int, norm: Any) -> tf.Tensor:
    """Return the irfft along one axis: `n` real numbers, by default twice the length less two.

    Raises:
        ValueError: the length is less than one.
        StagingError: the length is known only at run time, and `n` is not given.
    """
    axis = _axis(x, axis)
    dtype = tf.as_dtype(result_dtype(np.fft.irfft, x))
    have = x.shape[axis]
    if n is None and have is None:
        raise ShapeNeededError.of(what="the length of a Fourier transform")
    length = 2 * (have - 1) if n is None else n
    if length < 1:
        raise ValueError(f"Invalid number of FFT data points ({length}) specified.")
    half = x.dtype == tf.float16
    x = cast(move_axis_last(x, axis), tf.complex128 if dtype == tf.float64 else tf.complex64)
    factor = scale(norm, length, x.dtype.real_dtype, inverse=True, half=half)
    result = tf.signal.irfft(fit_length(x, length // 2 + 1), [length])
    return move_last_axis(cast(result if factor is None else result * factor, dtype), axis)


def conjugate(x: tf.Tensor) -> tf.Tensor:
    """Return the complex conjugate; real numbers are returned unchanged."""
    return tf.math.conj(x) if x.dtype.is_complex else x


@op(np.fft.fft)
def fft(a: Array, n: OptionalInt = None, axis: Int = -1, norm: Any = None, out: Any = None) -> tf.Tensor:
    """Return the discrete Fourier transform along an axis.

    Args:
        a: array of numbers with at least one axis.
        n: the length of the transform: `a` is cropped or padded with zeros; None keeps the length.
        axis: the axis.
        norm: "backward", "ortho" or "forward": which direction is scaled.
        out: array to write the result into; None makes a new array.

    Returns:
        An array of complex numbers.

    Raises:
        ValueError: the length is below 1, or `norm` is unknown.
        StagingError: `n` is given, and the length of the axis is known only at run time.

    See https://numpy.org/doc/stable/reference/generated/numpy.fft.fft.html.
    """
    return complex_transform(a, n, axis, norm, inverse=False)


@op(np.fft.ifft)
def ifft(a: Array, n: OptionalInt = None, axis: Int = -1, norm: Any = None, out: Any = None) -> tf.Tensor:
    """Return the inverse of `fft`.

    Args:
        a: array of numbers with at least one axis.
        n: the length of the transform: `a` is cropped or padded with zeros; None keeps the length.
        axis: the axis.
        norm: "backward", "ortho" or "forward": which direction is scaled.
        out: array to write the result into; None makes a new array.

    Returns:
        An array of complex numbers.

    Raises:
        ValueError: the length is below 1, or `norm` is unknown.
        StagingError: `n` is given, and the length of the axis is known only at run time.

    See https://numpy.org/doc/stable/reference/generated/numpy.fft.ifft.html.
    """
    return complex_transform(a, n, axis, norm, inverse=True)


@op(np.fft.rfft)
def rfft(a: Array, n: OptionalInt = None, axis: Int = -1, norm: Any = None, out: Any = None) -> tf.Tensor:
    """Return the first half of the transform of real numbers. The other half is its mirror image.

    Args:
        a: array of real numbers with at least one axis.
        n: the length of the transform: `a` is cropped or padded with zeros; None keeps the length.
        axis: the axis.
        norm: "backward", "ortho" or "forward": which direction is scaled.
        out: array to write the result into; None makes a new array.

    Returns:
        An array of complex numbers with length n // 2 + 1 along the axis.

    Raises:
        TypeError: `a` is complex.
        ValueError: the length is below 1, or `norm` is unknown.
        StagingError: `n` is given, and the length of the axis is known only at run time.

    See https://numpy.org/doc/stable/reference/generated/numpy.fft.rfft.html.
    """
    return real_transform(a, n, axis, norm)


@op(np.fft.irfft)
def irfft(a: Array, n: OptionalInt = None, axis: Int = -1, norm: Any = None, out: Any = None) -> tf.Tensor:
    """Return the inverse of `rfft`.

    Args:
        a: array of numbers with at least one axis.
        n: the length of the result; None is `2 * (m - 1)` for the length m of the axis.
        axis: the axis.
        norm: "backward", "ortho" or "forward": which direction is scaled.
        out: array to write the result into; None makes a new array.

    Returns:
        An array of floats.

    Raises:
        ValueError: the length is below 1, or `norm` is unknown.
        StagingError: the length of the axis is known only at run time.

    See https://numpy.org/doc/stable/reference/generated/numpy.fft.irfft.html.
    """
    return real_inverse(a, n, axis, norm)


@op(np.fft.hfft)
def hfft(a: Array, n: OptionalInt = None, axis: Int = -1, norm: Any = None, out: Any = None) -> tf.Tensor:
    """Return the transform of a signal whose spectrum is real.

    Args:
        a: array of numbers with at least one axis, the first half of the signal.
        n: the length of the result; None is `2 * (m - 1)` for the length m of the axis.
        axis: the axis.
        norm: "backward", "ortho" or "forward": which direction is scaled.
        out: array to write the result into; None makes a new array.

    Returns:
        An array of floats.

    Raises:
        ValueError: the length is below 1, or `norm` is unknown.
        StagingError: the length of the axis is known only at run time.

    See https://numpy.org/doc/stable/reference/generated/numpy.fft.hfft.html.
    """
    return real_inverse(conjugate(a), n, axis, opposite(norm))


@op(np.fft.ihfft)
def ihfft(a: Array, n: OptionalInt = None, axis: Int = -1, norm: Any = None, out: Any = None) -> tf.Tensor:
    """Return the inverse of `hfft`.

    Args:
        a: array of real numbers with at least one axis.
        n: the length of the transform: `a` is cropped or padded with zeros; None keeps the length.
        axis: the axis.
        norm: "backward", "ortho" or "forward": which direction is scaled.
        out: array to write the result into; None makes a new array.

    Returns:
        An array of complex numbers with length n // 2 + 1 along the axis.

    Raises:
        TypeError: `a` is complex.
        ValueError: the length is below 1, or `norm` is unknown.
        StagingError: `n` is given, and the length of the axis is known only at run time.

    See https://numpy.org/doc/stable/reference/generated/numpy.fft.ihfft.html.
    """
    return tf.math.conj(real_transform(a, n, axis, opposite(norm)))
