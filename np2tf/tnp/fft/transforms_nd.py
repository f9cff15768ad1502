"""Fourier transforms along several axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from numpy.lib.array_utils import normalize_axis_index

from np2tf.staging import NoGraphFormError
from np2tf.tnp._array.ndarray import tensor_array
from np2tf.tnp._dispatch.argument_types import Array, Axis
from np2tf.tnp._dispatch.op import op
from np2tf.tnp._operands.axis_arguments import rank_of
from np2tf.tnp._operands.conversion import cast, to_numpy
from np2tf.tnp._tensor.reductions_of_axes import reduce_prod
from np2tf.tnp._warnings.value_warnings import warn_where
from np2tf.tnp.fft.transforms import complex_transform, real_inverse, real_transform, result_dtype, scale

__all__ = ["fft2", "fftn", "ifft2", "ifftn", "irfft2", "irfftn", "rfft2", "rfftn"]

_LAST = (-2, -1)
_NO_AXES = "`axes` should not be `None` if `s` is not `None` (Deprecated in NumPy 2.0)."
_NO_LENGTH = "Passing an array containing `None` values to `s` is deprecated in NumPy 2.0"
#: Inverse or not -> number of axes -> TensorFlow's transform of so many last axes in one operation.
_TOGETHER: dict[bool, dict[int, Callable[[tf.Tensor], tf.Tensor]]] = {
    False: {2: tf.signal.fft2d, 3: tf.signal.fft3d},
    True: {2: tf.signal.ifft2d, 3: tf.signal.ifft3d},
}


def _lengths(x: tf.Tensor, s: Any, axes: Any) -> tuple[list[int | None], list[int]]:
    """Return the length (None keeps the array's length) and the axis of each transform.

    Raises:
        ValueError: the numbers of lengths and axes differ.
    """
    rank = rank_of(x)
    if axes is None:
        warn_where(s is not None, _NO_AXES, DeprecationWarning)
        count = rank if s is None else len(s)
        axes = range(-count, 0)
    where = [int(axis) for axis in np.atleast_1d(axes)]
    if len({normalize_axis_index(axis, rank) for axis in where}) < len(where):
        raise NoGraphFormError("a transform along the same axis several times")
    sizes = [None] * len(where) if s is None else list(to_numpy(s))
    warn_where(s is not None and None in sizes, _NO_LENGTH, DeprecationWarning)
    lengths = [None if n in (None, -1) else int(n) for n in sizes]
    if len(lengths) != len(where):
        raise ValueError("Shape and axes have different lengths.")
    return lengths, where


def _complex(x: tf.Tensor, s: Any, axes: Any, norm: Any, inverse: bool) -> Any:
    """Transform complex numbers along several axes."""
    lengths, where = _lengths(x, s, axes)
    rank, count = rank_of(x), len(where)
    together = _TOGETHER[inverse].get(count)
    last = sorted(axis % rank for axis in where) == list(range(rank - count, rank)) if rank else False
    if (
        together is not None
        and last
        and not any(lengths)
        and 0 not in x.shape[-count:]
        and x.dtype != tf.float16
    ):
        dtype = result_dtype(np.fft.ifft if inverse else np.fft.fft, x)
        factor = scale(norm, reduce_prod(tf.shape(x)[-count:]), tf.as_dtype(dtype), inverse, half=False)
        result = together(cast(x, dtype))
        return result if factor is None else result * factor
    for n, axis in zip(reversed(lengths), reversed(where)):
        x = complex_transform(x, n, axis, norm, inverse)
    return x if where else tensor_array(x)


def _real(x: tf.Tensor, s: Any, axes: Any, norm: Any) -> tf.Tensor:
    """Transform real numbers along several axes."""
    lengths, where = _lengths(x, s, axes)
    x = real_transform(x, lengths[-1], where[-1], norm)
    for n, axis in zip(lengths[-2::-1], where[-2::-1]):
        x = complex_transform(x, n, axis, norm, inverse=False)
    return x


def _real_inverse(x: tf.Tensor, s: Any, axes: Any, norm: Any) -> tf.Tensor:
    """Transform to real numbers along several axes."""
    lengths, where = _lengths(x, s, axes)
    for n, axis in zip(lengths[:-1], where[:-1]):
        x = complex_transform(x, n, axis, norm, inverse=True)
    return real_inverse(x, lengths[-1], where[-1], norm)


@op(np.fft.fftn)
def fftn(a: Array, s: Any = None, axes: Axis = None, norm: Any = None, out: Any = None) -> tf.Tensor:
    """Return the discrete Fourier transform along several axes.

    Args:
        a: array of numbers.
        s: the length of the result along each axis; None keeps the lengths of `a`.
        axes: the axes; None is all of them, or the last `len(s)` axes.
        norm: "backward", "ortho" or "forward": which direction is scaled.
        out: array to write the result into; None makes a new array.

    Returns:
        An array of complex numbers.

    Raises:
        ValueError: there are not as many lengths as axes, a length is below 1, or `norm` is unknown.
        StagingError: an axis is named twice, or a length is known only at run time.

    See https://numpy.org/doc/stable/reference/generated/numpy.fft.fftn.html.
    """
    return _complex(a, s, axes, norm, inverse=False)


@op(np.fft.ifftn)
def ifftn(a: Array, s: Any = None, axes: Axis = None, norm: Any = None, out: Any = None) -> tf.Tensor:
    """Return the inverse of `fftn`.

    Args:
        a: array of numbers.
        s: the length of the result along each axis; None keeps the lengths of `a`.
        axes: the axes; None is all of them, or the last `len(s)` axes.
        norm: "backward", "ortho" or "forward": which direction is scaled.
        out: array to write the result into; None makes a new array.

    Returns:
        An array of complex numbers.

    Raises:
        ValueError: there are not as many lengths as axes, a length is below 1, or `norm` is unknown.
        StagingError: an axis is named twice, or a length is known only at run time.

    See https://numpy.org/doc/stable/reference/generated/numpy.fft.ifftn.html.
    """
    return _complex(a, s, axes, norm, inverse=True)


@op(np.fft.rfftn)
def rfftn(a: Array, s: Any = None, axes: Axis = None, norm: Any = None, out: Any = None) -> tf.Tensor:
    """Return the discrete Fourier transform of real numbers along several axes.

    The result has only the first half along the last of the axes: the other half is its mirror image.

    Args:
        a: array of real numbers.
        s: the length of the transform along each axis; None keeps the lengths of `a`.
        axes: the axes; None is all of them, or the last `len(s)` axes.
        norm: "backward", "ortho" or "forward": which direction is scaled.
        out: array to write the result into; None makes a new array.

    Returns:
        An array of complex numbers.

    Raises:
        TypeError: `a` is complex.
        ValueError: there are not as many lengths as axes, a length is below 1, or `norm` is unknown.
        StagingError: an axis is named twice, or a length is known only at run time.

    See https://numpy.org/doc/stable/reference/generated/numpy.fft.rfftn.html.
    """
    return _real(a, s, axes, norm)


@op(np.fft.irfftn)
def irfftn(a: Array, s: Any = None, axes: Axis = None, norm: Any = None, out: Any = None) -> tf.Tensor:
    """Return the inverse of `rfftn`.

    Args:
        a: array of numbers.
        s: the length of the result along each axis; None is `2 * (n - 1)` along the last of the axes.
        axes: the axes; None is all of them, or the last `len(s)` axes.
        norm: "backward", "ortho" or "forward": which direction is scaled.
        out: array to write the result into; None makes a new array.

    Returns:
        An array of floats.

    Raises:
        ValueError: there are not as many lengths as axes, a length is below 1, or `norm` is unknown.
        StagingError: an axis is named twice, or a length is known only at run time.

    See https://numpy.org/doc/stable/reference/generated/numpy.fft.irfftn.html.
    """
    return _real_inverse(a, s, axes, norm)


@op(np.fft.fft2)
def fft2(a: Array, s: Any = None, axes: Axis = _LAST, norm: Any = None, out: Any = None) -> tf.Tensor:
    """Return the discrete Fourier transform along two axes.

    Args:
        a: array of numbers with at least two axes.
        s: the length of the result along each axis; None keeps the lengths of `a`.
        axes: the two axes.
        norm: "backward", "ortho" or "forward": which direction is scaled.
        out: array to write the result into; None makes a new array.

    Returns:
        An array of complex numbers.

    Raises:
        ValueError: there are not as many lengths as axes, a length is below 1, or `norm` is unknown.
        StagingError: an axis is named twice, or a length is known only at run time.

    See https://numpy.org/doc/stable/reference/generated/numpy.fft.fft2.html.
    """
    return _complex(a, s, axes, norm, inverse=False)


@op(np.fft.ifft2)
def ifft2(a: Array, s: Any = None, axes: Axis = _LAST, norm: Any = None, out: Any = None) -> tf.Tensor:
    """Return the inverse of `fft2`.

    Args:
        a: array of numbers with at least two axes.
        s: the length of the result along each axis; None keeps the lengths of `a`.
        axes: the two axes.
        norm: "backward", "ortho" or "forward": which direction is scaled.
        out: array to write the result into; None makes a new array.

    Returns:
        An array of complex numbers.

    Raises:
        ValueError: there are not as many lengths as axes, a length is below 1, or `norm` is unknown.
        StagingError: an axis is named twice, or a length is known only at run time.

    See https://numpy.org/doc/stable/reference/generated/numpy.fft.ifft2.html.
    """
    return _complex(a, s, axes, norm, inverse=True)


@op(np.fft.rfft2)
def rfft2(a: Array, s: Any = None, axes: Axis = _LAST, norm: Any = None, out: Any = None) -> tf.Tensor:
    """Return the discrete Fourier transform of real numbers along two axes.

    The result has only the first half along the second axis: the other half is its mirror image.

    Args:
        a: array of real numbers with at least two axes.
        s: the length of the transform along each axis; None keeps the lengths of `a`.
        axes: the two axes.
        norm: "backward", "ortho" or "forward": which direction is scaled.
        out: array to write the result into; None makes a new array.

    Returns:
        An array of complex numbers.

    Raises:
        TypeError: `a` is complex.
        ValueError: there are not as many lengths as axes, a length is below 1, or `norm` is unknown.
        StagingError: an axis is named twice, or a length is known only at run time.

    See https://numpy.org/doc/stable/reference/generated/numpy.fft.rfft2.html.
    """
    return _real(a, s, axes, norm)


@op(np.fft.irfft2)
def irfft2(a: Array, s: Any = None, axes: Axis = _LAST, norm: Any = None, out: Any = None) -> tf.Tensor:
    """Return the inverse of `rfft2`.

    Args:
        a: array of numbers with at least two axes.
        s: the length of the result along each axis; None is `2 * (n - 1)` along the second axis.
        axes: the two axes.
        norm: "backward", "ortho" or "forward": which direction is scaled.
        out: array to write the result into; None makes a new array.

    Returns:
        An array of floats.

    Raises:
        ValueError: there are not as many lengths as axes, a length is below 1, or `norm` is unknown.
        StagingError: an axis is named twice, or a length is known only at run time.

    See https://numpy.org/doc/stable/reference/generated/numpy.fft.irfft2.html.
    """
    return _real_inverse(a, s, axes, norm)
