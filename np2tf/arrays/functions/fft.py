"""numpy.fft: transforms along one axis and several, frequencies, shifts."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from numpy.lib.array_utils import normalize_axis_index

from np2tf.arrays.array.ndarray import tensor_array
from np2tf.arrays.dispatch.op import Array, Axis, Int, Operand, OptionalInt, op
from np2tf.arrays.functions.products import multiply
from np2tf.arrays.functions.ufuncs.tensor_ufunc import UFUNCS
from np2tf.arrays.operands.axes import lengths_of, permute_axes, rank_of
from np2tf.arrays.operands.conversion import cast, to_numpy
from np2tf.arrays.operands.numpy_warnings import warn_where
from np2tf.arrays.tensors.axis_reductions import reduce_prod
from np2tf.arrays.tensors.dtype_dispatch import conjugate
from np2tf.arrays.tensors.violations import record_violation
from np2tf.core.errors import NoGraphFormError, ShapeNeededError

__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]


# -- helper --------------------------------------------------------------------------------------------------
# The frequencies of a transform, and shifts of the zero frequency to the middle.


def _frequencies(numbers: np.ndarray, n: int, d: Any) -> tf.Tensor:
    """Return `numbers` divided by ``n * d``, rounded as NumPy rounds."""
    if isinstance(d, (int, float, complex)):
        return tf.constant(numbers * (1.0 / (n * d)))
    return multiply(numbers, UFUNCS[np.divide].compute((1.0, multiply(n, d))))


@op(np.fft.fftfreq)
def fftfreq(n: Int, d: Operand = 1.0, device: Any = None) -> tf.Tensor:
    """Return the frequencies of `fft` for `n` samples."""
    if n < 0:
        raise ValueError("negative dimensions are not allowed")
    half = (n - 1) // 2 + 1
    return _frequencies(np.concatenate([np.arange(half), np.arange(-(n // 2), 0)]), n, d)


@op(np.fft.rfftfreq)
def rfftfreq(n: Int, d: Operand = 1.0, device: Any = None) -> tf.Tensor:
    """Return the frequencies of `rfft` for `n` samples."""
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
    """Shift the zero frequency to the middle."""
    return _shift(x, axes, 1)


@op(np.fft.ifftshift)
def ifftshift(x: Array, axes: Axis = None) -> tf.Tensor:
    """Undo `fftshift`."""
    return _shift(x, axes, -1)


# -- transforms ----------------------------------------------------------------------------------------------
# Fourier transforms along one axis.

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

    `half` says that the input was float16, for which NumPy rounds the factor to float16.

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
    """Return the factor for a transform of float16, whose length must be known while staging."""
    if not isinstance(length, int):
        raise ShapeNeededError.of(what="the length of a Fourier transform")
    count = np.float16(length)
    factor = {"backward": np.float16(1), "ortho": 1 / np.sqrt(count), "forward": 1 / count}[norm]
    return tf.constant(float(factor) * (length if inverse else 1), dtype)


def opposite(norm: Any) -> Any:
    """Return the normalisation of the transform in the opposite direction."""
    return {None: "forward", "backward": "forward", "forward": "backward"}.get(norm, norm)


def length_of(x: tf.Tensor, n: Any, axis: int) -> Any:
    """Return the length of the transform."""
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


def _along_axis(numpy: Callable[..., Any], transform: Callable[..., tf.Tensor]) -> Callable[..., Any]:
    """Return the function for NumPy's, a transform along one axis."""

    def call(a: Array, n: OptionalInt = None, axis: Int = -1, norm: Any = None, out: Any = None) -> tf.Tensor:
        return transform(a, n, axis, norm)

    call.__name__ = numpy.__name__
    return op(numpy)(call)


fft = _along_axis(np.fft.fft, functools.partial(complex_transform, inverse=False))
ifft = _along_axis(np.fft.ifft, functools.partial(complex_transform, inverse=True))
rfft = _along_axis(np.fft.rfft, real_transform)
irfft = _along_axis(np.fft.irfft, real_inverse)
# The spectrum of the signal is real, and its other half the mirror image of the first.
hfft = _along_axis(np.fft.hfft, lambda a, n, axis, norm: real_inverse(conjugate(a), n, axis, opposite(norm)))
ihfft = _along_axis(
    np.fft.ihfft, lambda a, n, axis, norm: tf.math.conj(real_transform(a, n, axis, opposite(norm)))
)


# -- transforms nd -------------------------------------------------------------------------------------------
# Fourier transforms along several axes.

_LAST = (-2, -1)
_NO_AXES = "`axes` should not be `None` if `s` is not `None` (Deprecated in NumPy 2.0)."
_NO_LENGTH = "Passing an array containing `None` values to `s` is deprecated in NumPy 2.0"
#: Inverse or not -> number of axes -> TensorFlow's transform of so many last axes in one operation.
_TOGETHER: dict[bool, dict[int, Callable[[tf.Tensor], tf.Tensor]]] = {
    False: {2: tf.signal.fft2d, 3: tf.signal.fft3d},
    True: {2: tf.signal.ifft2d, 3: tf.signal.ifft3d},
}


def _lengths(x: tf.Tensor, s: Any, axes: Any) -> tuple[list[int | None], list[int]]:
    """Return the length (None keeps the array's length) and the axis of each transform."""
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


def _along_axes(
    numpy: Callable[..., Any], transform: Callable[..., tf.Tensor], default: tuple[int, ...] | None
) -> Callable[..., Any]:
    """Return the function for NumPy's, a transform along several axes."""

    def call(a: Array, s: Any = None, axes: Axis = default, norm: Any = None, out: Any = None) -> tf.Tensor:
        return transform(a, s, axes, norm)

    call.__name__ = numpy.__name__
    return op(numpy)(call)


fftn = _along_axes(np.fft.fftn, functools.partial(_complex, inverse=False), None)
ifftn = _along_axes(np.fft.ifftn, functools.partial(_complex, inverse=True), None)
rfftn = _along_axes(np.fft.rfftn, _real, None)
irfftn = _along_axes(np.fft.irfftn, _real_inverse, None)
fft2 = _along_axes(np.fft.fft2, functools.partial(_complex, inverse=False), _LAST)
ifft2 = _along_axes(np.fft.ifft2, functools.partial(_complex, inverse=True), _LAST)
rfft2 = _along_axes(np.fft.rfft2, _real, _LAST)
irfft2 = _along_axes(np.fft.irfft2, _real_inverse, _LAST)
