"""``np.lib.stride_tricks``: sliding windows as tensors, other strides by NumPy."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from numpy.lib import stride_tricks
from numpy.lib.array_utils import normalize_axis_tuple

from np2tf.staging import NoGraphFormError
from np2tf.tnp._array.ndarray import ndarray, tensor_array
from np2tf.tnp._chapters.manipulation.views.reshape import view
from np2tf.tnp._dispatch.argument_types import Array, Axis, Shape
from np2tf.tnp._dispatch.op import OPS, call_numpy
from np2tf.tnp._dispatch.residency import has_tensor
from np2tf.tnp._slicing.view_transforms import ReadOnlyFlag

__all__ = ["as_strided", "sliding_window_view"]


@view(stride_tricks.sliding_window_view)
def sliding_window_view(
    x: Array, window_shape: Shape, axis: Axis = None, *, subok: bool = False, writeable: bool = False
) -> ndarray:
    """Return the windows that slide over an array.

    See https://numpy.org/doc/stable/reference/generated/numpy.lib.stride_tricks.sliding_window_view.html.
    """
    if writeable:
        raise NoGraphFormError("a sliding window to write through")
    rank = x.shape.rank
    axes = tuple(range(rank)) if axis is None else normalize_axis_tuple(axis, rank, allow_duplicate=True)
    if len(axes) != len(window_shape):
        raise ValueError(
            f"Must provide matching length window_shape and axis; got {len(window_shape)} window_shape "
            f"elements and {len(axes)} axes elements."
        )
    for k, width in zip(axes, window_shape, strict=True):
        if width < 0:
            raise ValueError("`window_shape` cannot contain negative values")
        count = (tf.shape(x)[k] if x.shape[k] is None else x.shape[k]) - width + 1
        if isinstance(count, int) and count < 1:
            raise ValueError("window shape cannot be larger than input array shape")
        windows = tf.gather(x, tf.range(count)[:, None] + tf.range(width), axis=k)
        order = [j for j in range(windows.shape.rank) if j != k + 1] + [k + 1]
        x = tf.transpose(windows, order)
    return tensor_array(x).view_through(ReadOnlyFlag())


def as_strided(
    x: Any, shape: Any = None, strides: Any = None, subok: bool = False, writeable: bool = True, **rest: Any
) -> Any:
    """Other strides over the memory of `x`, which must be on the host (a tensor is copied and read-only)."""
    writeable = writeable and not has_tensor((x,))
    return call_numpy(stride_tricks.as_strided, (x, shape, strides, subok, writeable), rest)


OPS[stride_tricks.as_strided] = as_strided
