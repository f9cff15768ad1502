"""The shape, the number of axes and the number of elements of an array."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import tensorflow as tf
from numpy.lib.array_utils import normalize_axis_tuple

from np2tf.tnp._array.ndarray import is_array, tensor_array
from np2tf.tnp._dispatch.host_results import host_only
from np2tf.tnp._front.numpy_version import NUMPY
from np2tf.tnp._operands.conversion import to_numpy

__all__ = ["broadcast_shapes", "ndim", "shape", "size"]


def shape(a: Any) -> tuple[Any, ...]:
    """Return the lengths of the axes.

    Args:
        a: array, or anything that NumPy makes an array of.

    See https://numpy.org/doc/stable/reference/generated/numpy.shape.html.
    """
    return (
        a.shape
        if is_array(a)
        else tensor_array(a).shape
        if isinstance(a, tf.Tensor)
        else np.shape(to_numpy(a, may_leave=True))
    )


def ndim(a: Any) -> int:
    """Return the number of axes.

    Args:
        a: array, or anything that NumPy makes an array of.

    See https://numpy.org/doc/stable/reference/generated/numpy.ndim.html.
    """
    return len(shape(a))


def size(a: Any, axis: Any = None) -> Any:
    """Return the number of elements, or the length along axes.

    Args:
        a: array, or anything that NumPy makes an array of.
        axis: the axis, since NumPy 2.4 also several axes; None is all of them.

    See https://numpy.org/doc/stable/reference/generated/numpy.size.html.
    """
    lengths = shape(a)
    if axis is None:
        return a.size if is_array(a) else math.prod(lengths)
    if NUMPY < (2, 4):
        return lengths[axis]
    count: Any = 1
    for k in normalize_axis_tuple(axis, len(lengths)):
        count = count * lengths[k]
    return count


broadcast_shapes = host_only(np.broadcast_shapes)
