"""``np.lib.stride_tricks``: sliding windows on tensors; other strides by NumPy."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from numpy.lib import stride_tricks
from numpy.lib.array_utils import normalize_axis_tuple

from np2tf.staging import ShapeNeededError
from np2tf.tnp._array.ndarray import ndarray
from np2tf.tnp._chapters.manipulation.views.view import view
from np2tf.tnp._dispatch.argument_types import Axis, Shape, View
from np2tf.tnp._dispatch.op import OPS, call_numpy
from np2tf.tnp._dispatch.residency import has_tensor
from np2tf.tnp._operands.axis_arguments import rank_of
from np2tf.tnp._slicing.view_transforms import ReadOnlyFlag, Windows
from np2tf.tnp._tensor.index_bounds import refuse_where

__all__ = ["as_strided", "sliding_window_view"]


@view(stride_tricks.sliding_window_view)
def sliding_window_view(
    x: View, window_shape: Shape, axis: Axis = None, *, subok: bool = False, writeable: bool = False
) -> ndarray:
    """Return a view of the windows that slide over an array.

    Args:
        x: array of any dtype and shape.
        window_shape: the length of the window along each axis.
        axis: the axis or axes; None is all of them.
        subok: whether a subclass of np.ndarray is kept.
        writeable: whether the view can be written to. Of an element that is written in several windows, the
            last one counts.

    Returns:
        An array with the axes of the windows added at the end.

    Raises:
        ValueError: a window is longer than its axis or negative, or the number of lengths does not fit.

    See https://numpy.org/doc/stable/reference/generated/numpy.lib.stride_tricks.sliding_window_view.html.
    """
    shape = x.tensor.shape
    rank = rank_of(x.tensor)
    axes = tuple(range(rank)) if axis is None else normalize_axis_tuple(axis, rank, allow_duplicate=True)
    if len(axes) != len(window_shape):
        raise ValueError(
            f"Must provide matching length window_shape and axis; got {len(window_shape)} window_shape "
            f"elements and {len(axes)} axes elements."
        )
    if any(isinstance(width, int) and width < 0 for width in window_shape):
        raise ValueError("`window_shape` cannot contain negative values")
    if any(not isinstance(width, int) for width in window_shape):
        raise ShapeNeededError("sliding_window_view with a window whose length is known only at run time")
    windows = x
    for k in sorted(set(axes)):
        overlap = sum(width - 1 for j, width in zip(axes, window_shape, strict=True) if j == k)
        length = tf.shape(x.tensor)[k] if shape[k] is None else shape[k]
        error = ValueError("window shape cannot be larger than input array shape")
        if isinstance(length, int) and length <= overlap:
            raise error
        if not isinstance(length, int):
            refuse_where(tf.less_equal(length, overlap), error)
    for k, width in zip(axes, window_shape, strict=True):
        windows = windows.view_through(Windows(k, width))
    return windows if writeable and not x.is_read_only else windows.view_through(ReadOnlyFlag())


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
