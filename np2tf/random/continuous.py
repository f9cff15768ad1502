"""Numbers of continuous distributions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from np2tf import tnp
from np2tf.random.keys import bits
from np2tf.random.quantiles import normal_quantile


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


__all__ = ["exponential", "gumbel", "normal", "uniform"]
