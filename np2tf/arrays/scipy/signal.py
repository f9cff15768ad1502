"""scipy.signal: convolutions, analytic signals, linear filters."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import tensorflow as tf
from numpy.lib.array_utils import normalize_axis_index
from scipy.fft import next_fast_len

from np2tf.arrays.dispatch.op import Array, Int, OptionalInt
from np2tf.arrays.functions.fft import (
    complex_transform,
    move_axis_last,
    move_last_axis,
    real_inverse,
    real_transform,
)
from np2tf.arrays.functions.products import convolve as along_one_axis
from np2tf.arrays.operands.axes import rank_of
from np2tf.arrays.operands.conversion import as_tensor, cast, promote
from np2tf.arrays.operands.promotion import inexact_type
from np2tf.arrays.scipy.declare import discard_unless, native, refusal
from np2tf.arrays.tensors.axis_reductions import reduce_all, reduce_mean, reduce_sum

# -- convolution ---------------------------------------------------------------------------------------------
# Convolutions and correlations of arrays, and analytic signals.

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
    """
    a, b = _operands("convolve", in1, in2, mode)
    return _convolution("convolve", a, b, mode, method)


@native("scipy.signal.correlate")
def correlate(in1: Array, in2: Array, mode: str = "full", method: str = "auto") -> tf.Tensor:
    """Return the cross-correlation of two arrays."""
    a, b = _operands("correlate", in1, in2, mode)
    kernel = tf.reverse(b, list(range(rank_of(b)))) if rank_of(b) else b
    return _convolution("correlate", a, tf.math.conj(kernel) if b.dtype.is_complex else kernel, mode, method)


@native("scipy.signal.fftconvolve")
def fftconvolve(in1: Array, in2: Array, mode: str = "full") -> tf.Tensor:
    """Return the convolution of two arrays, computed by Fourier transforms."""
    a, b = _operands("fftconvolve", in1, in2, mode)
    if rank_of(a) == 0:
        return a * b
    if a.dtype.is_integer:
        a, b = cast(a, np.float64), cast(b, np.float64)
    return _take_mode(_convolve_by_transforms(a, b), a, b, mode)


@native("scipy.signal.convolve2d")
def convolve2d(in1: Array, in2: Array, mode: str = "full") -> tf.Tensor:
    """Return the convolution of two matrices, with zeros around them."""
    a, b = _operands("convolve2d", in1, in2, mode)
    if rank_of(a) != 2:
        raise ValueError("convolve2d inputs must both be 2-D arrays")
    return _convolution("convolve2d", a, b, mode, "direct")


@native("scipy.signal.hilbert")
def hilbert(x: Array, N: OptionalInt = None, axis: Int = -1) -> tf.Tensor:
    """Return the analytic signal, whose imaginary part is the Hilbert transform."""
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


# -- filtering -----------------------------------------------------------------------------------------------
# Linear filters along an axis: the difference equation, step by step as SciPy does it.


def _coefficients(name: str, b: tf.Tensor, a: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Return numerator and denominator with equal lengths, divided by the first coefficient of the
    denominator.

    Raises:
        StagingError: the coefficients are not vectors of known lengths, or the denominator begins with 0.
    """
    if rank_of(b) > 1 or rank_of(a) > 1:
        raise refusal(f"{name} with coefficients that are not vectors")
    b, a = tf.reshape(b, [-1]), tf.reshape(a, [-1])
    if not a.shape[0] or not b.shape[0]:
        raise refusal(f"{name} with no coefficients, or an unknown number of them")
    discard_unless(tf.not_equal(a[0], tf.zeros((), a.dtype)), f"{name} with a denominator that begins with 0")
    length = max(a.shape[0], b.shape[0])
    vectors = [tf.pad(coefficients, [[0, length - coefficients.shape[0]]]) for coefficients in (b, a)]
    return vectors[0] / a[0], vectors[1] / a[0]


def _filter(b: tf.Tensor, a: tf.Tensor, x: tf.Tensor, state: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """The output and the last state of a filter along the last axis (transposed direct form II)."""
    if b.shape[0] == 1:
        return b[0] * x, state
    samples = tf.transpose(x, [rank_of(x) - 1, *range(rank_of(x) - 1)])
    count = x.shape[-1]
    rest_b, rest_a = b[1:], a[1:]

    def step(i: tf.Tensor, state: tf.Tensor, outputs: tf.TensorArray) -> tuple[Any, ...]:
        sample = samples[i]
        output = b[0] * sample + state[..., 0]
        delays = tf.concat([state[..., 1:], tf.zeros_like(state[..., :1])], -1)
        state = delays + rest_b * sample[..., None] - rest_a * output[..., None]
        return i + 1, state, outputs.write(i, output)

    buffer = tf.TensorArray(x.dtype, count, element_shape=x.shape[:-1])
    _, state, buffer = tf.while_loop(lambda i, *_: i < count, step, (tf.constant(0), state, buffer))
    outputs = buffer.stack()
    return tf.transpose(outputs, [*range(1, rank_of(x)), 0]), state


def _signal(
    name: str, x: tf.Tensor, axis: int, *operands: tf.Tensor
) -> tuple[tf.Tensor, int, list[tf.Tensor]]:
    """Return the signal with its axis moved to the end, the number of the axis, and the other operands.

    All tensors get one floating-point or complex dtype.

    Raises:
        StagingError: the signal is empty or of unknown shape, or only SciPy handles the dtypes.
    """
    if rank_of(x) == 0 or not x.shape.is_fully_defined() or 0 in x.shape:
        raise refusal(f"{name} of no samples, or of an unknown number of them")
    if (
        all(operand.dtype.is_integer or operand.dtype == tf.bool for operand in (x, *operands))
        and name == "lfilter"
    ):
        raise refusal("lfilter of integers")
    dtype = inexact_type(x, *operands)
    if dtype == np.float16:
        raise refusal(f"{name} of float16")
    where = normalize_axis_index(axis, rank_of(x))
    return cast(move_axis_last(x, where), dtype), where, [cast(operand, dtype) for operand in operands]


@native("scipy.signal.lfilter")
def lfilter(b: Array, a: Array, x: Array, axis: Int = -1, zi: Any = None) -> Any:
    """Filter a signal along an axis with a recursive or finite filter."""
    before = None if zi is None else as_tensor(zi)
    samples, where, (first, second, *_) = _signal(
        "lfilter", x, axis, b, a, *([] if before is None else [before])
    )
    numerator, denominator = _coefficients("lfilter", first, second)
    shape = [*samples.shape[:-1], numerator.shape[0] - 1]
    if before is None:
        return move_last_axis(
            _filter(numerator, denominator, samples, tf.zeros(shape, samples.dtype))[0], where
        )
    state = (
        move_axis_last(cast(before, samples.dtype.as_numpy_dtype), where)
        if rank_of(before) == rank_of(x)
        else before
    )
    if state.shape != shape:
        raise refusal("lfilter with zi of another shape")
    outputs, state = _filter(numerator, denominator, samples, state)
    return move_last_axis(outputs, where), move_last_axis(state, where)


@native("scipy.signal.sosfilt")
def sosfilt(sos: Array, x: Array, axis: Int = -1) -> tf.Tensor:
    """Filter a signal along an axis with a cascade of second-order sections."""
    if rank_of(sos) != 2 or sos.shape[1] != 6 or not sos.shape[0]:
        raise ValueError("sos array must be shape (n_sections, 6)")
    samples, where, (sections,) = _signal("sosfilt", x, axis, sos)
    discard_unless(
        reduce_all(tf.equal(sections[:, 3], tf.ones((), sections.dtype))), "sosfilt with a0 other than 1"
    )
    for section in tf.unstack(sections):
        state = tf.zeros([*samples.shape[:-1], 2], samples.dtype)
        samples, _ = _filter(section[:3], section[3:], samples, state)
    return move_last_axis(samples, where)


def _steady(b: tf.Tensor, a: tf.Tensor) -> tf.Tensor:
    """Return the state in which the filter answers a step with a step."""
    difference = b[1:] - a[1:] * b[0]
    first = reduce_sum(difference) / reduce_sum(a)
    sums = tf.concat([tf.zeros_like(difference[:1]), tf.cumsum(difference)[:-1]], 0)
    return tf.cumsum(a)[:-1] * first - sums


def _extend(x: tf.Tensor, kind: Any, count: int) -> tf.Tensor:
    """The signal with `count` samples more at both ends."""
    if kind is None or count == 0:
        return x
    first, last = x[..., :1], x[..., -1:]
    before, after = tf.reverse(x[..., 1 : count + 1], [-1]), tf.reverse(x[..., -count - 1 : -1], [-1])
    if kind == "odd":
        before, after = 2 * first - before, 2 * last - after
    elif kind == "constant":
        before, after = tf.ones_like(before) * first, tf.ones_like(after) * last
    return tf.concat([before, x, after], -1)


@native("scipy.signal.filtfilt")
def filtfilt(
    b: Array, a: Array, x: Array, axis: Int = -1, padtype: Any = "odd", padlen: OptionalInt = None
) -> tf.Tensor:
    """Filter a signal forwards and backwards along an axis, so that phases do not change."""
    if padtype not in ("even", "odd", "constant", None):
        raise ValueError("Unknown value for padtype")
    samples, where, (first, second) = _signal("filtfilt", x, axis, b, a)
    numerator, denominator = _coefficients("filtfilt", first, second)
    count = 0 if padtype is None else 3 * numerator.shape[0] if padlen is None else padlen
    if samples.shape[-1] <= count:
        raise ValueError("The length of the input vector x must be greater than padlen")
    signal = _extend(samples, padtype, count)
    state = _steady(numerator, denominator)
    forwards, _ = _filter(numerator, denominator, signal, state * signal[..., :1])
    reversal = tf.reverse(forwards, [-1])
    backwards, _ = _filter(numerator, denominator, reversal, state * reversal[..., :1])
    result = tf.reverse(backwards, [-1])
    return move_last_axis(result[..., count : count + samples.shape[-1]] if count else result, where)


@native("scipy.signal.detrend")
def detrend(data: Array, axis: Int = -1, type: str = "linear") -> tf.Tensor:
    """Subtract the mean, or the straight line that fits best, from a signal."""
    if type not in ("linear", "l", "constant", "c"):
        raise ValueError("Trend type must be 'linear' or 'constant'.")
    samples, where, _ = _signal("detrend", data, axis)
    if data.dtype in (tf.float32, tf.complex64):
        raise refusal("detrend in single precision")
    samples -= reduce_mean(samples, -1, keepdims=True)
    if type in ("linear", "l") and samples.shape[-1] > 1:
        line = np.arange(samples.shape[-1]) - (samples.shape[-1] - 1) / 2
        times = tf.constant(line / np.sqrt(np.sum(line * line)), samples.dtype)
        samples -= reduce_sum(samples * times, -1, keepdims=True) * times
    return move_last_axis(samples, where)
