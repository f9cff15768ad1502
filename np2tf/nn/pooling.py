"""Pooling: the mean or the greatest element of a window at each of its places."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from np2tf import tnp
from np2tf.nn import windows
from np2tf.nn.operands import dtype_of, lowest
from np2tf.nn.windows import Pads


def max_pool(
    inputs: Any,
    window_shape: Sequence[int],
    strides: Sequence[int] | None = None,
    padding: str | Pads = "VALID",
) -> Any:
    """Return the greatest element of a window at each of its places.

    Args:
        inputs: array with the axes batch, the axes of the window, and channels.
        window_shape: the length of the window along each axis.
        strides: the step of the window along each axis; None for 1.
        padding: "VALID", "SAME", "SAME_LOWER", or a pair of numbers for each axis. Padding is never the
            greatest element.

    Returns:
        An array of the dtype of inputs, with a place of the window along each axis.

    Raises:
        ValueError: if window, strides and padding do not fit together.

    See https://flax.readthedocs.io/en/latest/api_reference/flax.linen/layers.html#flax.linen.max_pool.
    """
    x = tnp.asarray(inputs)
    return _pool(x, tnp.maximum, window_shape, strides, padding, lowest(dtype_of(x)))


def avg_pool(
    inputs: Any,
    window_shape: Sequence[int],
    strides: Sequence[int] | None = None,
    padding: str | Pads = "VALID",
    count_include_pad: bool = True,
) -> Any:
    """Return the mean of a window at each of its places.

    Args:
        inputs: array with the axes batch, the axes of the window, and channels.
        window_shape: the length of the window along each axis.
        strides: the step of the window along each axis; None for 1.
        padding: "VALID", "SAME", "SAME_LOWER", or a pair of numbers for each axis, filled with zeros.
        count_include_pad: whether the mean is over the padding too.

    Returns:
        A floating-point array, with a place of the window along each axis.

    Raises:
        ValueError: if window, strides and padding do not fit together.

    See https://flax.readthedocs.io/en/latest/api_reference/flax.linen/layers.html#flax.linen.avg_pool.
    """
    x = tnp.asarray(inputs)
    total = _pool(x, tnp.add, window_shape, strides, padding, 0)
    if count_include_pad:
        return total / math.prod(window_shape)
    unit_row = tnp.ones((1, *x.shape[-1 - len(window_shape) : -1], 1), total.dtype)
    return total / _pool(unit_row, tnp.add, window_shape, strides, padding, 0)


def _pool(
    x: Any,
    combine: Callable[[Any, Any], Any],
    window: Sequence[int],
    strides: Sequence[int] | None,
    padding: str | Pads,
    fill: Any,
) -> Any:
    """Return the window's elements combined at each place, axis by axis."""
    steps = strides or (1,) * len(window)
    if len(steps) != len(window) or x.ndim < len(window) + 1:
        raise ValueError(f"a window of shape {tuple(window)} with strides {tuple(steps)}, {x.ndim} axes")
    axes = range(x.ndim - 1 - len(window), x.ndim - 1)
    pads = windows.explicit_pads(padding, [x.shape[axis] for axis in axes], window, steps)
    x = windows.pad(x, axes, pads, fill)
    for axis, k, s in zip(axes, window, steps, strict=True):
        places = windows.count(x.shape[axis], k, s)
        total = windows.part(x, axis, 0, places, s)
        for start in range(1, k):
            total = combine(total, windows.part(x, axis, start, places, s))
        x = total
    return x


__all__ = ["avg_pool", "max_pool"]
