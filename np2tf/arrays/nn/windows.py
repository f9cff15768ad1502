"""Windows that move along axes: convolutions and pooling."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np

from np2tf import tnp
from np2tf.arrays.array.ndarray import is_array, tensor_array
from np2tf.arrays.nn.activations import dtype_of, lowest
from np2tf.core.late import LazyModule, tf

__all__ = [
    "avg_pool",
    "conv",
    "conv_general_dilated",
    "conv_transpose",
    "count_places",
    "dilate",
    "dilated_extent",
    "explicit_pads",
    "max_pool",
    "pad_axes",
    "window_part",
]

_nn_ops = LazyModule("tensorflow.python.ops.nn_ops")


# -- windows -------------------------------------------------------------------------------------------------
# Windows that move along axes: padding, dilation, and the slices that a window's places read.

Pads = Sequence[tuple[int, int]]


def dilated_extent(window: int, dilation: int) -> int:
    """Return the number of elements from a window's first place to its last."""
    return (window - 1) * dilation + 1


def explicit_pads(
    padding: str | Pads, lengths: Sequence[int], extents: Sequence[int], strides: Sequence[int]
) -> list[tuple[int, int]]:
    """Return the padding before and behind each axis.

    Args:
        padding: "VALID", "SAME", "SAME_LOWER", or a pair for each axis.
        lengths: the lengths of the axes.
        extents, strides: the extents and strides of the window.

    Raises:
        ValueError: if there is no such padding, or there are not as many pairs as axes.
    """
    if isinstance(padding, str):
        kind = padding.upper()
        if kind == "VALID":
            return [(0, 0)] * len(lengths)
        if kind not in ("SAME", "SAME_LOWER"):
            raise ValueError(f"padding is VALID, SAME, SAME_LOWER or pairs, not {padding!r}")
        pads = []
        for n, k, s in zip(lengths, extents, strides, strict=True):
            total = max((-(-n // s) - 1) * s + k - n, 0)
            low = total // 2 if kind == "SAME" else total - total // 2
            pads.append((low, total - low))
        return pads
    pads = [(int(low), int(high)) for low, high in padding]
    if len(pads) != len(lengths):
        raise ValueError(f"there are {len(pads)} pairs of padding for {len(lengths)} axes")
    return pads


def pad_axes(x: Any, axes: Sequence[int], pads: Pads, fill: Any) -> Any:
    """Return x with `fill` around the given axes; a negative number takes elements away."""
    for axis, (low, high) in zip(axes, pads, strict=True):
        if low < 0 or high < 0:
            x = x[(slice(None),) * axis + (slice(max(-low, 0), x.shape[axis] - max(-high, 0)),)]
    wide = [(0, 0)] * x.ndim
    for axis, (low, high) in zip(axes, pads, strict=True):
        wide[axis] = max(low, 0), max(high, 0)
    return tnp.pad(x, wide, constant_values=fill) if any(map(any, wide)) else x


def dilate(x: Any, axis: int, step: int) -> Any:
    """Return x with `step - 1` zeros between two elements along an axis."""
    n = x.shape[axis]
    if step == 1 or n == 0:
        return x
    result = tnp.expand_dims(x, axis + 1)
    zeros = tnp.zeros_like(result)
    result = tnp.concatenate([result, *[zeros] * (step - 1)], axis=axis + 1)
    result = result.reshape((*x.shape[:axis], n * step, *x.shape[axis + 1 :]))
    return result[(slice(None),) * axis + (slice(0, (n - 1) * step + 1),)]


def count_places(length: int, window_extent: int, stride: int) -> int:
    """Return the number of places of a window along an axis."""
    return max((length - window_extent) // stride + 1, 0)


def window_part(x: Any, axis: int, start: int, places: int, stride: int) -> Any:
    """Return the elements that one element of the window reads at all places."""
    stop = start + (places - 1) * stride + 1 if places else start
    return x[(slice(None),) * axis + (slice(start, stop, stride),)]


# -- convolution ---------------------------------------------------------------------------------------------
# Convolutions: sums of products over a window, along any number of axes.

Layout = tuple[str, str, str]


def conv(lhs: Any, rhs: Any, window_strides: Sequence[int], padding: str | Pads) -> Any:
    """Return the convolution of a batch with a kernel, channels before the other axes.

    Args:
        lhs: array with the axes batch, channels, and any number of others.
        rhs: array with the axes output channels, input channels, and the axes of the window.
        window_strides: the step of the window along each axis.
        padding: "VALID", "SAME", "SAME_LOWER", or a pair of numbers for each axis.

    Returns:
        An array with the axes batch, output channels, and a place of the window along each other axis.

    Raises:
        ValueError: if shapes, strides and padding do not fit together.

    See https://docs.jax.dev/en/latest/_autosummary/jax.lax.conv.html.
    """
    return conv_general_dilated(lhs, rhs, window_strides, padding)


def conv_general_dilated(
    lhs: Any,
    rhs: Any,
    window_strides: Sequence[int],
    padding: str | Pads,
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: Layout | None = None,
    feature_group_count: int = 1,
) -> Any:
    """Return a convolution with any strides, padding, dilations, layout and groups of channels.

    Args:
        lhs: array with the batch.
        rhs: array with the kernel.
        window_strides: the step of the window along each axis.
        padding: "VALID", "SAME", "SAME_LOWER", or a pair of numbers for each axis, which may be negative.
        lhs_dilation: the distance of the elements of lhs along each axis, with zeros between them.
        rhs_dilation: the distance of the elements of the window along each axis.
        dimension_numbers: the axes of lhs, rhs and the result, as in ("NHWC", "HWIO", "NHWC"); None for
            channels before the other axes.
        feature_group_count: the number of groups of channels, each of which has its own kernel.

    Returns:
        An array of the dtype to which lhs and rhs are promoted.

    Raises:
        ValueError: if shapes, strides, padding and layout do not fit together.

    See https://docs.jax.dev/en/latest/_autosummary/jax.lax.conv_general_dilated.html.
    """
    lhs, rhs = tnp.asarray(lhs), tnp.asarray(rhs)
    rank = lhs.ndim - 2
    if lhs.ndim != rhs.ndim or len(window_strides) != rank:
        raise ValueError(f"{lhs.ndim} and {rhs.ndim} axes do not fit {len(window_strides)} strides")
    layout = dimension_numbers or _default_layout(rank)
    spatial = "".join(axis for axis in layout[1] if axis not in "IO")
    if rank and any(len(names) != rank + 2 for names in layout):
        raise ValueError(f"dimension_numbers={layout} names other axes than {rank} and two more")
    x = tnp.transpose(lhs, [layout[0].index(axis) for axis in f"N{spatial}C"])
    w = tnp.transpose(rhs, [layout[1].index(axis) for axis in f"{spatial}IO"])
    if x.shape[-1] != w.shape[-2] * feature_group_count or w.shape[-1] % feature_group_count:
        raise ValueError(
            f"{x.shape[-1]} channels do not fit a kernel of {w.shape[-2]} input and {w.shape[-1]} output "
            f"channels in {feature_group_count} groups"
        )
    unit_steps = (1,) * rank
    if isinstance(padding, str) and tuple(lhs_dilation or unit_steps) != unit_steps:
        raise ValueError(f"with lhs_dilation padding is pairs of numbers, not {padding!r}")
    result = _convolve(
        *(x, w, tuple(window_strides), padding),
        *(tuple(lhs_dilation or unit_steps), tuple(rhs_dilation or unit_steps), feature_group_count),
    )
    return tnp.transpose(result, [f"N{spatial}C".index(axis) for axis in layout[2]])


def conv_transpose(
    lhs: Any,
    rhs: Any,
    strides: Sequence[int],
    padding: str | Pads,
    rhs_dilation: Sequence[int] | None = None,
    dimension_numbers: Layout | None = None,
    transpose_kernel: bool = False,
) -> Any:
    """Return the transposed convolution, which makes axes longer by their strides.

    Args:
        lhs: array with the batch.
        rhs: array with the kernel.
        strides: the distance of the elements of lhs along each axis.
        padding: "VALID", "SAME", or a pair of numbers for each axis of the dilated lhs.
        rhs_dilation: the distance of the elements of the window along each axis.
        dimension_numbers: the axes of lhs, rhs and the result; None for ("NHWC", "HWIO", "NHWC") and its
            like for other numbers of axes.
        transpose_kernel: whether to flip the window and exchange its channels, so that the result is the
            gradient of a convolution with rhs.

    Returns:
        An array of the dtype to which lhs and rhs are promoted.

    Raises:
        ValueError: if shapes, strides, padding and layout do not fit together.

    See https://docs.jax.dev/en/latest/_autosummary/jax.lax.conv_transpose.html.
    """
    rhs = tnp.asarray(rhs)
    rank = rhs.ndim - 2
    inner = _SPATIAL[-rank:] if rank else ""
    layout = dimension_numbers or (f"N{inner}C", f"{inner}IO", f"N{inner}C")
    spatial = [layout[1].index(axis) for axis in layout[1] if axis not in "IO"]
    dilations = tuple(rhs_dilation or (1,) * rank)
    extents = [dilated_extent(rhs.shape[axis], d) for axis, d in zip(spatial, dilations, strict=True)]
    if isinstance(padding, str):
        padding = [_transposed_pads(k, s, padding) for k, s in zip(extents, strides, strict=True)]
    if transpose_kernel:
        rhs = tnp.swapaxes(tnp.flip(rhs, spatial), layout[1].index("I"), layout[1].index("O"))
    return conv_general_dilated(lhs, rhs, (1,) * rank, padding, strides, dilations, layout)


_SPATIAL = "DHW"


def _default_layout(rank: int) -> Layout:
    inner = "ABEFGHJK"[:rank]
    return f"NC{inner}", f"OI{inner}", f"NC{inner}"


def _transposed_pads(window: int, stride: int, padding: str) -> tuple[int, int]:
    """Return the padding with which a transposed convolution undoes the lengths of a convolution."""
    kind = padding.upper()
    if kind == "SAME":
        total = window + stride - 2
        low = window - 1 if stride > window - 1 else -(-total // 2)
    elif kind == "VALID":
        total = window + stride - 2 + max(window - stride, 0)
        low = window - 1
    else:
        raise ValueError(f"padding is VALID, SAME or pairs, not {padding!r}")
    return low, total - low


def _convolve(
    x: Any,
    w: Any,
    strides: tuple[int, ...],
    padding: str | Pads,
    lhs_dilation: tuple[int, ...],
    rhs_dilation: tuple[int, ...],
    groups: int,
) -> Any:
    """Return the convolution of an array (batch, …, channels) with a kernel (…, input, output channels)."""
    axes = range(1, x.ndim - 1)
    for axis, step in zip(axes, lhs_dilation, strict=True):
        x = dilate(x, axis, step)
    extents = [dilated_extent(k, d) for k, d in zip(w.shape, rhs_dilation)]
    pads = explicit_pads(padding, [x.shape[axis] for axis in axes], extents, strides)
    x = pad_axes(x, axes, pads, 0)
    places = [count_places(x.shape[a], k, s) for a, k, s in zip(axes, extents, strides, strict=True)]
    if groups == 1 and (is_array(x) or is_array(w)) and _has_operation(x, w, places, strides, rhs_dilation):
        dtype = tnp.result_type(x, w)
        tensors = [tnp.asarray(operand).astype(dtype) for operand in (x, w)]
        on_tensors = [operand.tensor if is_array(operand) else tf.constant(operand) for operand in tensors]
        return tensor_array(
            _nn_ops.convolution_v2(*on_tensors, list(strides), "VALID", dilations=list(rhs_dilation))
        )
    if groups > 1:
        x = x.reshape((*x.shape[:-1], groups, x.shape[-1] // groups))
        w = w.reshape((*w.shape[:-1], groups, w.shape[-1] // groups))
    total: Any = None
    for place in product(*map(range, w.shape[: len(places)])):
        window = x
        for axis, k, d, n, s in zip(axes, place, rhs_dilation, places, strides):
            window = window_part(window, axis, k * d, n, s)
        term = window @ w[place] if groups == 1 else tnp.einsum("...gi,igo->...go", window, w[place])
        total = term if total is None else total + term
    if groups > 1:
        total = total.reshape((*total.shape[:-2], total.shape[-2] * total.shape[-1]))
    return total


def _has_operation(
    x: Any, w: Any, places: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
) -> bool:
    """Return whether TensorFlow has an operation for a convolution."""
    floats = all(dtype_of(operand) in (np.float32, np.float64) for operand in (x, w))
    spread = max(strides, default=1) > 1 and max(dilations, default=1) > 1
    return floats and not spread and 1 <= len(places) <= 2 and all(type(n) is int and n > 0 for n in places)


# -- pooling -------------------------------------------------------------------------------------------------
# Pooling: the mean or the greatest element of a window at each of its places.


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
    pads = explicit_pads(padding, [x.shape[axis] for axis in axes], window, steps)
    x = pad_axes(x, axes, pads, fill)
    for axis, k, s in zip(axes, window, steps, strict=True):
        places = count_places(x.shape[axis], k, s)
        total = window_part(x, axis, 0, places, s)
        for start in range(1, k):
            total = combine(total, window_part(x, axis, start, places, s))
        x = total
    return x
