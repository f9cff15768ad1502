"""scipy.ndimage over tensors: Gaussian filters and averages of windows."""

from __future__ import annotations

import functools
import operator
from typing import Any

import numpy as np
import scipy.ndimage
import tensorflow as tf
from numpy.lib.array_utils import normalize_axis_index

from np2tf.scipy.kernels.declare import native, refusal
from np2tf.scipy.kernels.neighbourhoods import (
    MOST_TERMS,
    cast_like,
    checked_input,
    correlate_line,
    known_number,
    require_finite,
    setting_of_axis,
    widen,
    windows,
)
from np2tf.tnp._dispatch.argument_types import Array, Int
from np2tf.tnp._operands.axis_arguments import rank_of


@functools.lru_cache(maxsize=256)
def _kernel(sigma: float, order: int, truncate: float, radius: int | None) -> np.ndarray:
    """Return SciPy's weights of a Gaussian filter, read off its response to an impulse."""
    reach = int(truncate * sigma + 0.5) if radius is None else radius
    impulse = np.zeros(2 * reach + 1)
    impulse[reach] = 1
    more = {} if radius is None else {"radius": radius}
    answer = scipy.ndimage.gaussian_filter1d(
        impulse, sigma, order=order, mode="constant", truncate=truncate, **more
    )
    return answer[::-1]


def _gaussian(
    x: tf.Tensor, sigma: Any, axis: int, order: Any, mode: Any, cval: Any, truncate: Any, radius: Any
) -> tf.Tensor:
    numbers = [known_number("gaussian_filter", argument) for argument in (sigma, order, truncate)]
    weights = _kernel(
        float(numbers[0]),
        int(numbers[1]),
        float(numbers[2]),
        None if radius is None else operator.index(radius),
    )
    if len(weights) > MOST_TERMS:
        raise refusal("gaussian_filter with so many weights")
    return correlate_line(x, tf.constant(weights), axis, mode, cval, len(weights) // 2)


@native("scipy.ndimage.gaussian_filter1d")
def gaussian_filter1d(
    input: Array,
    sigma: Any,
    axis: Int = -1,
    order: Any = 0,
    mode: str = "reflect",
    cval: Any = 0.0,
    truncate: Any = 4.0,
    *,
    radius: Any = None,
) -> tf.Tensor:
    """Smooth an array along an axis by a Gaussian, or by a derivative of a Gaussian.

    Args:
        input: array of floats.
        sigma: the standard deviation of the Gaussian.
        axis: the axis to smooth along.
        order: the order of the derivative; 0 is the Gaussian itself.
        mode: how the array is extended beyond its ends: "reflect", "constant", "nearest", "mirror" or "wrap".
        cval: the value beyond the ends with mode "constant".
        truncate: the Gaussian ends at so many standard deviations.
        radius: the number of weights on each side, in the place of `truncate`.

    Returns:
        An array of the shape and dtype of `input`.

    Raises:
        ValueError: the mode is unknown.
        StagingError: a parameter is known only at run time, or only SciPy handles the dtype or shape.

    See https://docs.scipy.org/doc/scipy/reference/generated/scipy.ndimage.gaussian_filter1d.html.
    """
    checked_input("gaussian_filter1d", input, exact=False)
    where = normalize_axis_index(axis, rank_of(input))
    return _gaussian(input, sigma, where, order, mode, cval, truncate, radius)


@native("scipy.ndimage.gaussian_filter")
def gaussian_filter(
    input: Array,
    sigma: Any,
    order: Any = 0,
    mode: Any = "reflect",
    cval: Any = 0.0,
    truncate: Any = 4.0,
    *,
    radius: Any = None,
) -> tf.Tensor:
    """Smooth an array along all axes by Gaussians.

    Args:
        input: array of floats.
        sigma: the standard deviation, for all axes or as a sequence of one per axis.
        order: the order of the derivative, likewise; 0 is the Gaussian itself.
        mode: how the array is extended beyond its ends, likewise.
        cval: the value beyond the ends with mode "constant".
        truncate: the Gaussian ends at so many standard deviations.
        radius: the number of weights on each side, in the place of `truncate`.

    Returns:
        An array of the shape and dtype of `input`.

    Raises:
        RuntimeError: a sequence does not have one item per axis.
        ValueError: the mode is unknown.
        StagingError: a parameter is known only at run time, or only SciPy handles the dtype or shape.

    See https://docs.scipy.org/doc/scipy/reference/generated/scipy.ndimage.gaussian_filter.html.
    """
    result = checked_input("gaussian_filter", input, exact=False)
    rank = rank_of(input)
    for axis in range(rank):
        width, derivative, edge, reach = (
            setting_of_axis(argument, axis, rank) for argument in (sigma, order, mode, radius)
        )
        if known_number("gaussian_filter", width) > 1e-15:
            result = _gaussian(result, width, axis, derivative, edge, cval, truncate, reach)
    return result


def _uniform(x: tf.Tensor, size: Any, axis: int, mode: Any, cval: Any) -> tf.Tensor:
    count = int(known_number("uniform_filter", size))
    if count < 1:
        raise RuntimeError("incorrect filter size")
    if count > MOST_TERMS:
        raise refusal("uniform_filter of such a size")
    terms = windows(widen(x), axis, count, count // 2, mode, cval)
    return cast_like(sum(terms[1:], terms[0]) / tf.constant(count, tf.float64), x)


@native("scipy.ndimage.uniform_filter1d")
def uniform_filter1d(
    input: Array, size: Any, axis: Int = -1, mode: str = "reflect", cval: Any = 0.0
) -> tf.Tensor:
    """Average the windows of an array along an axis.

    Args:
        input: array of real numbers.
        size: the length of the window.
        axis: the axis of the windows.
        mode: how the array is extended beyond its ends: "reflect", "constant", "nearest", "mirror" or "wrap".
        cval: the value beyond the ends with mode "constant".

    Returns:
        An array of the shape and dtype of `input`.

    Raises:
        RuntimeError: the size is below 1.
        ValueError: the mode is unknown.
        StagingError: the size is known only at run time, or only SciPy handles the numbers.

    See https://docs.scipy.org/doc/scipy/reference/generated/scipy.ndimage.uniform_filter1d.html.
    """
    require_finite("uniform_filter1d", checked_input("uniform_filter1d", input))
    return _uniform(input, size, normalize_axis_index(axis, rank_of(input)), mode, cval)


@native("scipy.ndimage.uniform_filter")
def uniform_filter(input: Array, size: Any = 3, mode: Any = "reflect", cval: Any = 0.0) -> tf.Tensor:
    """Average the windows of an array.

    Args:
        input: array of real numbers.
        size: the length of the window, for all axes or as a sequence of one per axis.
        mode: how the array is extended beyond its ends, likewise.
        cval: the value beyond the ends with mode "constant".

    Returns:
        An array of the shape and dtype of `input`.

    Raises:
        RuntimeError: a sequence does not have one item per axis.
        ValueError: the mode is unknown.
        StagingError: the size is known only at run time, or only SciPy handles the numbers.

    See https://docs.scipy.org/doc/scipy/reference/generated/scipy.ndimage.uniform_filter.html.
    """
    result, rank = checked_input("uniform_filter", input), rank_of(input)
    require_finite("uniform_filter", input)
    for axis in range(rank):
        count = setting_of_axis(size, axis, rank)
        if known_number("uniform_filter", count) > 1:
            result = _uniform(result, count, axis, setting_of_axis(mode, axis, rank), cval)
    return result
