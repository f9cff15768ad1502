"""scipy.ndimage: filters over neighbours, computed in double precision as SciPy does; smoothing."""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.ndimage
import tensorflow as tf
from numpy.lib.array_utils import normalize_axis_index

from np2tf.arrays.dispatch.op import Array, Int
from np2tf.arrays.operands.axes import rank_of
from np2tf.arrays.operands.conversion import as_tensor, cast
from np2tf.arrays.scipy.declare import discard_unless, native, refusal
from np2tf.arrays.tensors.axis_reductions import reduce_all
from np2tf.arrays.tensors.dtype_dispatch import gather_parts, maximum, minimum

# -- neighbourhoods ------------------------------------------------------------------------------------------
# scipy.ndimage: filters over the neighbours of each element, computed in double precision as SciPy does.

#: The most shifted arrays that are combined one by one.
MOST_TERMS = 1024
_EQUIVALENT_MODES = {"grid-mirror": "reflect", "grid-wrap": "wrap", "grid-constant": "constant"}


def _positions(length: int, before: int, after: int, mode: str) -> np.ndarray:
    """Return, for each element of a padded line, the index of the original element that it copies."""
    positions = np.arange(-before, length + after)
    if mode == "nearest":
        return np.clip(positions, 0, length - 1)
    if mode == "wrap":
        return positions % length
    if mode == "mirror":
        period = max(2 * length - 2, 1)
        remainders = positions % period
        return np.where(remainders < length, remainders, period - remainders)
    remainders = positions % (2 * length)
    return np.where(remainders < length, remainders, 2 * length - 1 - remainders)


def _extend(x: tf.Tensor, axis: int, before: int, after: int, mode: Any, cval: Any) -> tf.Tensor:
    """`x` with more elements at both ends of an axis."""
    mode = _EQUIVALENT_MODES.get(mode, mode)
    if mode == "constant":
        widths = [[before, after] if k == axis else [0, 0] for k in range(rank_of(x))]
        return tf.pad(x, widths, constant_values=as_tensor(cval, x.dtype.as_numpy_dtype))
    if mode not in ("reflect", "mirror", "nearest", "wrap"):
        raise ValueError("boundary mode not supported")
    return gather_parts(x, _positions(x.shape[axis], before, after, mode), axis)


def checked_input(name: str, x: tf.Tensor, exact: bool = True) -> tf.Tensor:
    """Return an array after a check that np2tf's results for its dtype are SciPy's.

    Raises:
        StagingError: SciPy rounds results of this dtype in its own way, or the shape is not known.
    """
    if x.dtype.is_complex or x.dtype in (tf.bool, tf.float16) or (x.dtype.is_integer and not exact):
        raise refusal(f"{name} of {x.dtype.name}")
    if x.dtype == tf.uint64 or not x.shape.is_fully_defined() or 0 in x.shape:
        raise refusal(f"{name} of such an array")
    return x


def widen(x: tf.Tensor) -> tf.Tensor:
    """Return an array as float64."""
    return tf.cast(x, tf.float64)


def cast_like(result: tf.Tensor, x: tf.Tensor) -> tf.Tensor:
    """Return a result in the dtype of `x`."""
    return cast(result, x.dtype.as_numpy_dtype)


def windows(x: tf.Tensor, axis: int, size: int, offset: int, mode: Any, cval: Any) -> list[tf.Tensor]:
    """Return, for each place of a window along an axis, the array of the elements at that place."""
    longer = _extend(x, axis, offset, size - 1 - offset, mode, cval)
    length = x.shape[axis]
    starts = ([k if n == axis else 0 for n in range(rank_of(x))] for k in range(size))
    sizes = [length if n == axis else m for n, m in enumerate(x.shape)]
    return [tf.slice(longer, start, sizes) for start in starts]


def correlate_line(
    x: tf.Tensor, weights: tf.Tensor, axis: int, mode: Any, cval: Any, offset: int
) -> tf.Tensor:
    """Correlate an array with weights along an axis.

    `offset` is the place of the weight that belongs to the element itself, and `cval` the number outside the
    array for the mode "constant".
    """
    size = weights.shape[0]
    terms = windows(widen(x), axis, size, offset, mode, cval)
    return cast_like(
        sum(
            (term * weight for term, weight in zip(terms[1:], tf.unstack(weights)[1:])), terms[0] * weights[0]
        ),
        x,
    )


def _weights(name: str, x: tf.Tensor, weights: Any) -> tf.Tensor:
    tensor = as_tensor(weights)
    checked_input(name, x, exact=tensor.dtype.is_integer)
    if x.dtype.is_unsigned or tensor.dtype.is_complex or tensor.shape.num_elements() in (None, 0):
        raise refusal(f"{name} with such weights")
    if tensor.shape.num_elements() > MOST_TERMS:
        raise refusal(f"{name} with so many weights")
    return widen(tensor)


def _weights_along_axis(name: str, x: tf.Tensor, weights: Any, axis: Any) -> tuple[tf.Tensor, int]:
    """The weights, and the axis as a number that is not negative."""
    kernel = _weights(name, x, weights)
    if rank_of(kernel) != 1:
        raise RuntimeError("no filter weights given")
    return kernel, normalize_axis_index(axis, rank_of(x))


@native("scipy.ndimage.correlate1d")
def correlate1d(
    input: Array, weights: Any, axis: Int = -1, mode: str = "reflect", cval: Any = 0.0
) -> tf.Tensor:
    """Correlate an array with weights along an axis."""
    kernel, where = _weights_along_axis("correlate1d", input, weights, axis)
    return correlate_line(input, kernel, where, mode, cval, kernel.shape[0] // 2)


@native("scipy.ndimage.convolve1d")
def convolve1d(
    input: Array, weights: Any, axis: Int = -1, mode: str = "reflect", cval: Any = 0.0
) -> tf.Tensor:
    """Convolve an array with weights along an axis."""
    kernel, where = _weights_along_axis("convolve1d", input, weights, axis)
    return correlate_line(input, tf.reverse(kernel, [0]), where, mode, cval, (kernel.shape[0] - 1) // 2)


def _correlate(x: tf.Tensor, weights: tf.Tensor, mode: Any, cval: Any, offsets: Sequence[int]) -> tf.Tensor:
    if rank_of(weights) != rank_of(x):
        raise RuntimeError("filter weights array has incorrect shape.")
    longer = widen(x)
    for axis, (size, offset) in enumerate(zip(weights.shape, offsets)):
        longer = _extend(
            longer, axis, offset, size - 1 - offset, setting_of_axis(mode, axis, rank_of(x)), cval
        )
    zero = tf.zeros((), tf.float64)
    result = tf.zeros(x.shape, tf.float64)
    for position in itertools.product(*map(range, weights.shape)):
        weight = weights[position]
        # SciPy ignores elements of weight 0, even infinite elements.
        used = tf.abs(weight) > np.finfo(np.float64).eps
        result += tf.where(used, tf.slice(longer, position, x.shape) * weight, zero)
    return cast_like(result, x)


@native("scipy.ndimage.correlate")
def correlate(input: Array, weights: Any, mode: Any = "reflect", cval: Any = 0.0) -> tf.Tensor:
    """Correlate an array with an array of weights."""
    kernel = _weights("correlate", input, weights)
    return _correlate(input, kernel, mode, cval, [n // 2 for n in kernel.shape])


@native("scipy.ndimage.convolve")
def convolve(input: Array, weights: Any, mode: Any = "reflect", cval: Any = 0.0) -> tf.Tensor:
    """Convolve an array with an array of weights."""
    kernel = _weights("convolve", input, weights)
    reversal = tf.reverse(kernel, list(range(rank_of(kernel))))
    return _correlate(input, reversal, mode, cval, [(n - 1) // 2 for n in kernel.shape])


def setting_of_axis(value: Any, axis: int, rank: int) -> Any:
    """Return the setting for one axis, from a sequence of one item per axis or from one common value."""
    if isinstance(value, (str, int, float)) or value is None or np.ndim(value) == 0:
        return value
    if len(value) != rank:
        raise RuntimeError("sequence argument must have length equal to input rank")
    return value[axis]


def known_number(name: str, value: Any) -> Any:
    """Return a parameter that must be known while staging.

    Raises:
        StagingError: the parameter is known only at run time.
    """
    if not isinstance(value, (int, float, np.number)):
        raise refusal(f"{name} with a parameter that is known only at run time")
    return value


# -- smoothing -----------------------------------------------------------------------------------------------


def require_finite(name: str, x: tf.Tensor) -> None:
    """Leave arrays with infinities or NaN to SciPy, which treats them in its own way.

    Running sums in SciPy carry an infinity or NaN along; its comparisons lose a NaN.
    """
    if x.dtype.is_floating:
        discard_unless(reduce_all(tf.math.is_finite(x)), f"{name} of numbers that are not finite")


def _extreme(name: str, combine: Callable[..., tf.Tensor]) -> None:
    def implementation(input: Array, size: Any = None, mode: Any = "reflect", cval: Any = 0.0) -> tf.Tensor:
        result, rank = checked_input(name, input), rank_of(input)
        require_finite(name, input)
        if size is None:
            raise refusal(f"{name} without a size")
        for axis in range(rank):
            count = int(known_number(name, setting_of_axis(size, axis, rank)))
            if not 1 <= count <= MOST_TERMS:
                raise refusal(f"{name} of such a size")
            terms = windows(result, axis, count, count // 2, setting_of_axis(mode, axis, rank), cval)
            result = functools.reduce(combine, terms)
        return result

    implementation.__name__ = name
    native(f"scipy.ndimage.{name}")(implementation)


_extreme("maximum_filter", maximum)
_extreme("minimum_filter", minimum)


# -- derivatives ---------------------------------------------------------------------------------------------


def _gradient(name: str, smooth: Sequence[float]) -> None:
    def implementation(input: Array, axis: Int = -1, mode: Any = "reflect", cval: Any = 0.0) -> tf.Tensor:
        checked_input(name, input)
        if input.dtype.is_unsigned:
            raise refusal(f"{name} of unsigned integers")
        rank = rank_of(input)
        where = normalize_axis_index(axis, rank)
        result = correlate_line(
            input, tf.constant([-1.0, 0, 1], tf.float64), where, setting_of_axis(mode, where, rank), cval, 1
        )
        for line_axis in range(rank):
            if line_axis != where:
                weights = tf.constant(smooth, tf.float64)
                result = correlate_line(
                    result, weights, line_axis, setting_of_axis(mode, line_axis, rank), cval, 1
                )
        return result

    implementation.__name__ = name
    native(f"scipy.ndimage.{name}")(implementation)


_gradient("sobel", (1, 2, 1))
_gradient("prewitt", (1, 1, 1))


@native("scipy.ndimage.laplace")
def laplace(input: Array, mode: Any = "reflect", cval: Any = 0.0) -> tf.Tensor:
    """Return the sum of second differences along all axes."""
    checked_input("laplace", input)
    if input.dtype.is_unsigned or not rank_of(input):
        raise refusal("laplace of unsigned integers, or of a number")
    rank, weights = rank_of(input), tf.constant([1.0, -2, 1], tf.float64)
    parts = (
        correlate_line(input, weights, axis, setting_of_axis(mode, axis, rank), cval, 1)
        for axis in range(rank)
    )
    return functools.reduce(tf.add, parts)


# -- smoothing -----------------------------------------------------------------------------------------------
# scipy.ndimage over tensors: Gaussian filters and averages of windows.


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
    """Smooth an array along an axis by a Gaussian, or by a derivative of a Gaussian."""
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
    """Smooth an array along all axes by Gaussians."""
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
    """Average the windows of an array along an axis."""
    require_finite("uniform_filter1d", checked_input("uniform_filter1d", input))
    return _uniform(input, size, normalize_axis_index(axis, rank_of(input)), mode, cval)


@native("scipy.ndimage.uniform_filter")
def uniform_filter(input: Array, size: Any = 3, mode: Any = "reflect", cval: Any = 0.0) -> tf.Tensor:
    """Average the windows of an array."""
    result, rank = checked_input("uniform_filter", input), rank_of(input)
    require_finite("uniform_filter", input)
    for axis in range(rank):
        count = setting_of_axis(size, axis, rank)
        if known_number("uniform_filter", count) > 1:
            result = _uniform(result, count, axis, setting_of_axis(mode, axis, rank), cval)
    return result
