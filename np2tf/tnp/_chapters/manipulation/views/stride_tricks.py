"""``np.lib.stride_tricks``: sliding windows on tensors; other strides by NumPy."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from numpy.lib import stride_tricks
from numpy.lib.array_utils import normalize_axis_tuple

from np2tf.staging import NoGraphFormError
from np2tf.tnp._array.ndarray import ndarray, tensor_array
from np2tf.tnp._chapters.manipulation.views.view import view
from np2tf.tnp._dispatch.argument_types import Array, Axis, Shape
from np2tf.tnp._dispatch.op import OPS, call_numpy
from np2tf.tnp._dispatch.residency import has_tensor
from np2tf.tnp._slicing.view_transforms import ReadOnlyFlag

__all__ = ["as_strided", "sliding_window_view"]


@view(stride_tricks.sliding_window_view)
def sliding_window_view(
    x: Array, window_shape: Shape, axis: Axis = None, *, subok: bool = False, writeable: bool = False
) -> ndarray:
    """Return the windows that slide over an array, read-only.

    Args:
        x: array of any dtype and shape.
        window_shape: the length of the window along each axis.
        axis: the axis or axes; None is all of them.
        subok: whether a subclass of np.ndarray is kept.
        writeable: must be False on tensors.

    Returns:
        An array with the axes of the windows added at the end.

    Raises:
        ValueError: a window is longer than its axis or negative, or the number of lengths does not fit.
        StagingError: `writeable` is true.

    See https://numpy.org/doc/stable/reference/generated/numpy.lib.stride_tricks.sliding_window_view.html.
    """
    if writeable:
        raise NoGraphFormError("sliding_window_view with writeable=True")
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
    x: Any,
    shape: Any = None,
    strides: Any = None,
    subok: bool = False,
    writeable: bool = True,
    **keywords: Any,
) -> Any:
    """Return an array with other strides over the memory of `x`.

    The memory must be on the host: NumPy receives a copy of a tensor, and the result is read-only.

    Args:
        x: array.
        shape: the lengths of the axes.
        strides: the strides in bytes.
        subok: whether a subclass of np.ndarray is kept.
        writeable: whether the result can be written to.
        **keywords: further keyword arguments of NumPy's function.

    See https://numpy.org/doc/stable/reference/generated/numpy.lib.stride_tricks.as_strided.html.
    """
    writeable = writeable and not has_tensor((x,))
    return call_numpy(stride_tricks.as_strided, (x, shape, strides, subok, writeable), keywords)


OPS[stride_tricks.as_strided] = as_strided
