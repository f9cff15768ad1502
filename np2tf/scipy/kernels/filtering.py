"""Linear filters along an axis: the difference equation, step by step as SciPy does it."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf
from numpy.lib.array_utils import normalize_axis_index

from np2tf.scipy.kernels.declare import discard_unless, native, refusal
from np2tf.tnp._dispatch.argument_types import Array, Int, OptionalInt
from np2tf.tnp._operands.axis_arguments import rank_of
from np2tf.tnp._operands.conversion import as_tensor, cast
from np2tf.tnp._operands.promotion import inexact_type
from np2tf.tnp._tensor.reductions_of_axes import reduce_all, reduce_mean, reduce_sum
from np2tf.tnp.fft.transforms import move_axis_last, move_last_axis


def _coefficients(name: str, b: tf.Tensor, a: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Return numerator and denominator with equal lengths, divided by the first coefficient of the
    denominator.

    Raises:
        StagingError: the coefficients are not vectors of known lengths, or the denominator begins with 0.
    """
    if rank_of(b) > 1 or rank_of(a) > 1:
        raise refusal(f"{name} with coefficients that are no vectors")
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
    """Filter a signal along an axis with a recursive or finite filter.

    Args:
        b: numerator (k,) of the filter.
        a: denominator (l,) of the filter.
        x: signal, an array of real or complex numbers with at least 1 axis.
        axis: the axis to filter along.
        zi: initial state, of the shape of `x` with length max(k, l) - 1 along the axis; None starts at rest.

    Returns:
        The output in the shape of `x`. With `zi`, a pair of the output and the last state.

    Raises:
        StagingError: only SciPy handles the case: integers, float16, unknown lengths, a denominator that
            begins with 0, or `zi` of another shape.

    See https://docs.scipy.org/doc/scipy/reference/generated/scipy.signal.lfilter.html.
    """
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
    """Filter a signal along an axis with a cascade of second-order sections.

    Args:
        sos: sections (n, 6).
        x: signal, an array of real or complex numbers with at least 1 axis.
        axis: the axis to filter along.

    Returns:
        The output in the shape of `x`.

    Raises:
        ValueError: `sos` does not have the shape (n, 6).
        StagingError: a section has a0 other than 1, or only SciPy handles the dtype or shape.

    See https://docs.scipy.org/doc/scipy/reference/generated/scipy.signal.sosfilt.html.
    """
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
    """Filter a signal forwards and backwards along an axis, so that phases do not change.

    Args:
        b: numerator (k,) of the filter.
        a: denominator (l,) of the filter.
        x: signal, an array of real or complex numbers with at least 1 axis.
        axis: the axis to filter along.
        padtype: "odd", "even" or "constant" extension of the signal; None adds no samples.
        padlen: the number of samples to add at each end; None is 3 * max(k, l).

    Returns:
        The output in the shape of `x`.

    Raises:
        ValueError: `padtype` is unknown, or the signal is not longer than `padlen`.
        StagingError: only SciPy handles the dtypes, shapes or coefficients.

    See https://docs.scipy.org/doc/scipy/reference/generated/scipy.signal.filtfilt.html.
    """
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
    """Subtract the mean, or the straight line that fits best, from a signal.

    Args:
        data: signal, an array of numbers in double precision with at least 1 axis.
        axis: the axis of the signal.
        type: "linear" or "constant".

    Returns:
        An array of floats or complex numbers in the shape of `data`.

    Raises:
        ValueError: `type` is unknown.
        StagingError: the signal is of single precision, empty or of unknown shape.

    See https://docs.scipy.org/doc/scipy/reference/generated/scipy.signal.detrend.html.
    """
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
