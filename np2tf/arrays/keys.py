"""np2tf.random: Threefry keys and the numbers that they determine."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from np2tf import tnp
from np2tf.arrays.nn.activations import inexact
from np2tf.arrays.nn.gather_scatter import top_k
from np2tf.arrays.tensors.normal_quantile import FAR_TAIL, MIDDLE, TAIL, horner

__all__ = [
    "PRNGKey",
    "bernoulli",
    "bits",
    "categorical",
    "choice",
    "exponential",
    "fold_in",
    "gumbel",
    "normal",
    "normal_quantile",
    "permutation",
    "randint",
    "split",
    "uniform",
    "words",
]


# -- keys ----------------------------------------------------------------------------------------------------
# Keys and their bits: the counter-based generator Threefry-2x32 with 20 rounds.
#
# J. Salmon and others, Parallel random numbers: as easy as 1, 2, 3 (2011),
# https://doi.org/10.1145/2063384.2063405.

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = 0x1BD11BDA
_MASK = 0xFFFFFFFF
#: Each element has a counter of its own, of which the upper word is zero.
_MAX_ELEMENTS = 1 << 32


def PRNGKey(seed: Any) -> Any:
    """Return the key of a seed.

    Args:
        seed: an integer of at most 64 bits, or an integer array without axes.

    Returns:
        An array of the shape (2,) and dtype uint32.

    Raises:
        TypeError: if the seed is no integer.

    See https://docs.jax.dev/en/latest/_autosummary/jax.random.PRNGKey.html.
    """
    if isinstance(seed, (int, np.integer)):
        words = int(seed) & ((1 << 64) - 1)
        return tnp.array([words >> 32, words & _MASK], dtype=np.uint32)
    number = tnp.asarray(seed)
    if number.ndim or not np.issubdtype(np.dtype(number.dtype), np.integer):
        raise TypeError(f"a seed is an integer, not an array of shape {number.shape} and {number.dtype}")
    number = number.astype(np.int64)
    return tnp.stack([(number >> 32) & _MASK, number & _MASK]).astype(np.uint32)


def split(key: Any, num: int | Sequence[int] = 2) -> Any:
    """Return new keys, whose numbers are independent of each other and of the key's.

    Args:
        key: the key.
        num: the number of new keys, or the shape of an array of them.

    Returns:
        An array of the dtype uint32, with the keys along its last axis of length 2.

    See https://docs.jax.dev/en/latest/_autosummary/jax.random.split.html.
    """
    shape = (num,) if isinstance(num, int) else tuple(num)
    return tnp.stack(words(key, shape), axis=-1)


def fold_in(key: Any, data: Any) -> Any:
    """Return a new key for a key and a number, such as the number of a step.

    Args:
        key: the key.
        data: an integer, of which 32 bits count.

    Returns:
        An array of the shape (2,) and dtype uint32.

    See https://docs.jax.dev/en/latest/_autosummary/jax.random.fold_in.html.
    """
    if isinstance(data, (int, np.integer)):
        low = tnp.array([int(data) & _MASK], dtype=np.uint32)
    else:
        low = (tnp.asarray(data).astype(np.int64).reshape(1) & _MASK).astype(np.uint32)
    return tnp.concatenate(_threefry(key, tnp.zeros(1, np.uint32), low))


def bits(key: Any, shape: Sequence[int] = (), dtype: Any = np.uint64) -> Any:
    """Return random bits.

    Args:
        key: the key.
        shape: the shape of the result.
        dtype: uint8, uint16, uint32 or uint64.

    Returns:
        An array of this shape and dtype, all of whose values are equally likely.

    Raises:
        ValueError: if the dtype is another.

    See https://docs.jax.dev/en/latest/_autosummary/jax.random.bits.html.
    """
    result_dtype = np.dtype(dtype)
    if result_dtype.kind != "u":
        raise ValueError(f"bits are of an unsigned dtype, not {result_dtype}")
    high, low = words(key, shape)
    if result_dtype.itemsize == 8:
        return (high.astype(np.uint64) << np.uint64(32)) | low.astype(np.uint64)
    return (high ^ low).astype(result_dtype)


def words(key: Any, shape: Sequence[int]) -> tuple[Any, Any]:
    """Return two random words for each element of a shape, as arrays of uint32.

    Raises:
        ValueError: if there are more than 2**32 elements.
    """
    size = math.prod(shape)
    if size > _MAX_ELEMENTS:
        raise ValueError(f"a key has numbers for {_MAX_ELEMENTS} elements at most, not for {size}")
    low = tnp.arange(size, dtype=np.uint32)
    high, low = _threefry(key, tnp.zeros_like(low), low)
    return high.reshape(tuple(shape)), low.reshape(tuple(shape))


def _threefry(key: Any, x: Any, y: Any) -> tuple[Any, Any]:
    """Return the words that the cipher makes of counters x and y."""
    key = tnp.asarray(key)
    if tuple(key.shape) != (2,) or np.dtype(key.dtype) != np.uint32:
        raise TypeError(f"a key has the shape (2,) and dtype uint32, not {tuple(key.shape)} and {key.dtype}")
    # Parts of length 1, since NumPy warns where numbers without axes overflow.
    first, second = key[0:1], key[1:2]
    schedule = (first, second, first ^ second ^ np.uint32(_PARITY))
    x, y = x + schedule[0], y + schedule[1]
    for group in range(5):
        for distance in _ROTATIONS[group % 2]:
            x = x + y
            y = ((y << np.uint32(distance)) | (y >> np.uint32(32 - distance))) ^ x
        x = x + schedule[(group + 1) % 3]
        y = y + (schedule[(group + 2) % 3] + np.uint32(group + 1))
    return x, y


# -- quantiles -----------------------------------------------------------------------------------------------
# The quantile function of the normal distribution, over arrays on the host and on TensorFlow alike.

_Fraction = tuple[tuple[float, ...], tuple[float, ...]]


def normal_quantile(u: Any) -> Any:
    """Return the normal quantile of ``(1 + u) / 2``.

    Args:
        u: array of floats between -1 and 1, both excluded.

    Returns:
        An array of the shape and dtype of u.
    """
    middle = 0.5 * u
    near = tnp.abs(middle) <= 0.425
    # Outside of their ranges the fractions get an argument inside, so that gradients stay finite.
    inner = tnp.where(near, middle, tnp.zeros_like(middle))
    tail = tnp.where(near, 0.5 * tnp.ones_like(u), 0.5 * (1 - tnp.abs(u)))
    root = tnp.sqrt(-tnp.log(tail))
    is_far = root > 5.0
    outer = tnp.where(is_far, _fraction(FAR_TAIL, root - 5.0), _fraction(TAIL, root - 1.6))
    return tnp.where(near, _fraction(MIDDLE, 0.180625 - inner * inner) * inner, tnp.sign(u) * outer)


def _fraction(coefficients: _Fraction, x: Any) -> Any:
    above, below = coefficients
    return horner(above, x) / horner(below, x)


# -- continuous ----------------------------------------------------------------------------------------------
# Numbers of continuous distributions.


def uniform(
    key: Any, shape: Sequence[int] = (), dtype: Any = np.float64, minval: Any = 0.0, maxval: Any = 1.0
) -> Any:
    """Return numbers that are uniformly distributed from minval to below maxval.

    Args:
        key: the key, from `PRNGKey` or `split`.
        shape: the shape of the result.
        dtype: float16, float32 or float64.
        minval, maxval: numbers or arrays that broadcast to the shape.

    Returns:
        An array of this shape and dtype.

    Raises:
        ValueError: if the dtype is another.

    See https://docs.jax.dev/en/latest/_autosummary/jax.random.uniform.html.
    """
    kind = _float_dtype(dtype)
    mantissa = np.finfo(kind).nmant
    width = kind.itemsize * 8
    integers = bits(key, shape, f"uint{width}") >> np.dtype(f"uint{width}").type(width - mantissa)
    numbers = integers.astype(kind) * kind.type(2.0**-mantissa)
    low, high = (tnp.asarray(limit).astype(kind) for limit in (minval, maxval))
    return tnp.maximum(low, numbers * (high - low) + low)


def normal(key: Any, shape: Sequence[int] = (), dtype: Any = np.float64) -> Any:
    """Return numbers of the standard normal distribution.

    Args:
        key: the key, from `PRNGKey` or `split`.
        shape: the shape of the result.
        dtype: float16, float32 or float64.

    Returns:
        An array of this shape and dtype.

    Raises:
        ValueError: if the dtype is another.

    See https://docs.jax.dev/en/latest/_autosummary/jax.random.normal.html.
    """
    kind = _float_dtype(dtype)
    least = np.nextafter(kind.type(-1), kind.type(0))
    return normal_quantile(uniform(key, shape, kind, least, 1.0))


def exponential(key: Any, shape: Sequence[int] = (), dtype: Any = np.float64) -> Any:
    """Return numbers of the exponential distribution with mean 1.

    Args:
        key: the key, from `PRNGKey` or `split`.
        shape: the shape of the result.
        dtype: float16, float32 or float64.

    Returns:
        An array of this shape and dtype.

    Raises:
        ValueError: if the dtype is another.

    See https://docs.jax.dev/en/latest/_autosummary/jax.random.exponential.html.
    """
    return -tnp.log1p(-uniform(key, shape, dtype))


def gumbel(key: Any, shape: Sequence[int] = (), dtype: Any = np.float64) -> Any:
    """Return numbers of the standard Gumbel distribution.

    Args:
        key: the key, from `PRNGKey` or `split`.
        shape: the shape of the result.
        dtype: float16, float32 or float64.

    Returns:
        An array of this shape and dtype.

    Raises:
        ValueError: if the dtype is another.

    See https://docs.jax.dev/en/latest/_autosummary/jax.random.gumbel.html.
    """
    tiny = np.finfo(_float_dtype(dtype)).tiny
    return -tnp.log(-tnp.log(uniform(key, shape, dtype, tiny, 1.0)))


def _float_dtype(dtype: Any) -> np.dtype[Any]:
    kind = np.dtype(dtype)
    if kind.kind != "f" or kind.itemsize > 8:
        raise ValueError(f"random numbers are of a float dtype of at most 64 bits, not {kind}")
    return kind


# -- discrete ------------------------------------------------------------------------------------------------
# Numbers of discrete distributions.


def bernoulli(key: Any, p: Any = 0.5, shape: Sequence[int] | None = None) -> Any:
    """Return booleans that are true with probability p.

    Args:
        key: the key, from `PRNGKey` or `split`.
        p: number or array of floats.
        shape: the shape of the result, to which p broadcasts; None for that of p.

    Returns:
        A boolean array.

    See https://docs.jax.dev/en/latest/_autosummary/jax.random.bernoulli.html.
    """
    p = inexact(p)
    return uniform(key, p.shape if shape is None else shape, np.dtype(p.dtype)) < p


def randint(key: Any, shape: Sequence[int], minval: Any, maxval: Any, dtype: Any = np.int64) -> Any:
    """Return integers from minval to below maxval.

    Args:
        key: the key, from `PRNGKey` or `split`.
        shape: the shape of the result.
        minval, maxval: integers, or integer arrays that broadcast to the shape. Where maxval is not greater
            than minval, the result is minval.
        dtype: an integer dtype. Integers outside of its range are taken as its bounds.

    Returns:
        An array of this shape and dtype. A range that is no power of two is uneven by less than one in 2**32.

    Raises:
        TypeError: if the dtype or a bound is no integer.

    See https://docs.jax.dev/en/latest/_autosummary/jax.random.randint.html.
    """
    result_dtype = np.dtype(dtype)
    if result_dtype.kind not in "iu":
        raise TypeError(f"randint makes integers, not {result_dtype}")
    # Small integers are drawn as 32 bits, which makes ranges more even.
    kind = np.dtype(np.int32) if result_dtype.itemsize < 4 else result_dtype
    unsigned = np.dtype(f"uint{kind.itemsize * 8}")
    (low, _), (high, beyond) = (_bound_array(limit, result_dtype, kind) for limit in (minval, maxval))
    upper, lower = (bits(part, shape, unsigned) for part in split(key))
    span = tnp.where(high > low, (high - low).astype(unsigned), unsigned.type(1))
    if beyond:
        span = tnp.where(high > low, span + unsigned.type(1), span)
    # A whole range has a span of zero: all bits count as they are.
    whole = span == 0
    span = tnp.where(whole, unsigned.type(1), span)
    factor = unsigned.type(2 ** (unsigned.itemsize * 4)) % span
    factor = (factor * factor) % span
    offset = ((upper % span) * factor + lower % span) % span
    offset = tnp.where(whole, lower, offset)
    return (low + offset.astype(kind)).astype(result_dtype)


def _bound_array(value: Any, dtype: np.dtype[Any], kind: np.dtype[Any]) -> tuple[Any, bool]:
    """Return a bound as an array of length 1 or more, and whether it is greater than the dtype's greatest
    number.
    """
    limits = np.iinfo(dtype)
    largest = limits.max if dtype == kind else limits.max + 1
    if isinstance(value, (int, np.integer)):
        number = int(value)
        return tnp.array([min(max(number, limits.min), largest)], dtype=kind), number > largest
    array = tnp.asarray(value)
    array_dtype = np.dtype(array.dtype)
    if array_dtype.kind not in "iu":
        raise TypeError(f"the bounds of randint are integers, not {array_dtype}")
    limit = np.iinfo(array_dtype)
    if limit.min < limits.min or limit.max > largest:
        array = tnp.clip(array, max(limits.min, limit.min), min(largest, limit.max))
    return array.astype(kind), False


# -- choosing ------------------------------------------------------------------------------------------------
# Choices: of classes, of elements, and of an order.

#: Sorts by random words are repeated until equal words do no harm.
_EXPONENT = 3


def categorical(key: Any, logits: Any, axis: int = -1, shape: Sequence[int] | None = None) -> Any:
    """Return classes, drawn by the logarithms of their probabilities.

    Args:
        key: the key, from `PRNGKey` or `split`.
        logits: array of the logarithms; any constant may be added to them.
        axis: the axis of the classes.
        shape: the shape of the result, which ends with the other axes of logits; None for these.

    Returns:
        An integer array.

    Raises:
        ValueError: if the shape does not end so.

    See https://docs.jax.dev/en/latest/_autosummary/jax.random.categorical.html.
    """
    logits = inexact(logits)
    axis = axis % logits.ndim
    batch = (*logits.shape[:axis], *logits.shape[axis + 1 :])
    result_shape = batch if shape is None else tuple(shape)
    before = result_shape[: len(result_shape) - len(batch)]
    if result_shape[len(before) :] != batch:
        raise ValueError(f"the shape {result_shape} does not end with {batch}")
    noise = gumbel(key, (*before, *logits.shape), np.dtype(logits.dtype))
    return tnp.argmax(noise + logits, axis=axis + len(before))


def permutation(key: Any, x: Any, axis: int = 0, independent: bool = False) -> Any:
    """Return an array in random order along an axis.

    Args:
        key: the key, from `PRNGKey` or `split`.
        x: array with at least one axis, or an integer for ``np.arange(x)``.
        axis: the axis.
        independent: whether each line along the axis has an order of its own.

    Returns:
        An array of the shape and dtype of x.

    Raises:
        TypeError: if x is a number and no integer.

    See https://docs.jax.dev/en/latest/_autosummary/jax.random.permutation.html.
    """
    if np.ndim(x) == 0:
        if not isinstance(x, (int, np.integer)):
            raise TypeError(f"an array or an integer is permuted, not {x!r}")
        return _shuffle(key, tnp.arange(int(x)), 0)
    x = tnp.asarray(x)
    if independent or x.ndim == 1:
        return _shuffle(key, x, axis)
    return tnp.take(x, _shuffle(key, tnp.arange(x.shape[axis]), 0), axis=axis)


def choice(
    key: Any, a: Any, shape: Sequence[int] = (), replace: bool = True, p: Any = None, axis: int = 0
) -> Any:
    """Return elements of an array, or parts along an axis.

    Args:
        key: the key, from `PRNGKey` or `split`.
        a: array with at least one axis, or an integer for ``np.arange(a)``.
        shape: the shape of the choices.
        replace: whether an element may be chosen more than once.
        p: the probability of each element; None for equal probabilities.
        axis: the axis to choose along.

    Returns:
        An array of the dtype of a, in which the choices stand in the place of the axis.

    Raises:
        ValueError: if there is nothing to choose from, or not enough without replacement, or p has another
            shape.

    See https://docs.jax.dev/en/latest/_autosummary/jax.random.choice.html.
    """
    array = tnp.arange(int(a)) if np.ndim(a) == 0 else tnp.asarray(a)
    axis = axis % array.ndim
    n, count = array.shape[axis], math.prod(shape)
    if count and n == 0:
        raise ValueError("there is nothing to choose from")
    if not replace and count > n:
        raise ValueError(f"without replacement {count} of {n} elements cannot be chosen")
    if p is not None and tuple(np.shape(p)) != (n,):
        raise ValueError(f"p has the shape {np.shape(p)}, and there are {n} elements")
    if p is None and not replace:
        selection = permutation(key, array, axis)[(slice(None),) * axis + (slice(count),)]
        return selection.reshape((*array.shape[:axis], *shape, *array.shape[axis + 1 :]))
    return tnp.take(array, _places(key, n, tuple(shape), replace, p), axis=axis)


def _places(key: Any, n: int, shape: tuple[int, ...], replace: bool, p: Any) -> Any:
    """Return the places of chosen elements."""
    if p is None:
        return randint(key, shape, 0, n)
    p = inexact(p)
    kind = np.dtype(p.dtype)
    if replace:
        ends = tnp.cumsum(p)
        return tnp.searchsorted(ends, ends[-1] * (1 - uniform(key, shape, kind)))
    with np.errstate(divide="ignore"):  # the logarithm of the probability zero
        weights = gumbel(key, (n,), kind) + tnp.log(p)
    return top_k(weights, math.prod(shape))[1].reshape(shape)


def _shuffle(key: Any, x: Any, axis: int) -> Any:
    """Return an array sorted by random words, as often as is needed for equal words to do no harm."""
    rounds = math.ceil(_EXPONENT * math.log(max(1, math.prod(x.shape))) / math.log(np.iinfo(np.uint32).max))
    for _ in range(rounds):
        key, order_key = split(key)
        order = tnp.argsort(bits(order_key, x.shape, np.uint32), axis=axis, kind="stable")
        x = tnp.take_along_axis(x, order, axis=axis)
    return x
