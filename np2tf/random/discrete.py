"""Numbers of discrete distributions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from np2tf import tnp
from np2tf.nn.operands import inexact
from np2tf.random.continuous import uniform
from np2tf.random.keys import bits, split


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


__all__ = ["bernoulli", "randint"]
