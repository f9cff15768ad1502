"""Views with the axes in another order."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from np2tf.tnp._array.ndarray import ndarray
from np2tf.tnp._chapters.manipulation.views.view import view
from np2tf.tnp._dispatch.argument_types import Axis, Int, View
from np2tf.tnp._dispatch.op import attach
from np2tf.tnp._slicing.view_transforms import Transpose

__all__ = ["matrix_transpose", "moveaxis", "permute_dims", "rollaxis", "swapaxes", "transpose"]


def permute_view(a: ndarray, order: Any) -> ndarray:
    """`a` with its axes in another order, as a view."""
    return a.view_through(Transpose(tuple(order)))


@view(np.transpose, numbers=True)
def transpose(a: View, axes: Any = None) -> ndarray:
    """Return a view with the axes in another order.

    Args:
        a: array of any dtype and shape.
        axes: the axes in their new order; None reverses them.

    Returns:
        A view in the dtype of `a`.

    Raises:
        ValueError: `axes` is not a permutation of the axes.

    See https://numpy.org/doc/stable/reference/generated/numpy.transpose.html.
    """
    rank = a.ndim
    if axes is None:
        return permute_view(a, reversed(range(rank)))
    if len(axes) != rank:
        raise ValueError("axes don't match array")
    order = tuple(normalize_axis_index(operator.index(axis), rank) for axis in axes)
    if len(set(order)) != rank:
        raise ValueError("repeated axis in transpose")
    return permute_view(a, order)


permute_dims = transpose


def _transpose_method(a: Any, *axes: Any) -> ndarray:
    if len(axes) == 1 and not isinstance(axes[0], int):
        return transpose(a, axes[0])
    return transpose(a, axes or None)


attach("transpose", _transpose_method)


@view(np.swapaxes)
def swapaxes(a: View, axis1: Int, axis2: Int) -> ndarray:
    """Return a view with two axes exchanged.

    Args:
        a: array of any dtype and shape.
        axis1: the first axis.
        axis2: the second axis.

    Returns:
        A view in the dtype of `a`.

    Raises:
        AxisError: there is no such axis.

    See https://numpy.org/doc/stable/reference/generated/numpy.swapaxes.html.
    """
    order = list(range(a.ndim))
    first, second = normalize_axis_index(axis1, a.ndim), normalize_axis_index(axis2, a.ndim)
    order[first], order[second] = order[second], order[first]
    return permute_view(a, order)


def _swapaxes_method(a: Any, axis1: Any, axis2: Any, /) -> ndarray:
    return swapaxes(a, axis1, axis2)


attach("swapaxes", _swapaxes_method)


@view(np.moveaxis, numbers=True)
def moveaxis(a: View, source: Axis, destination: Axis) -> ndarray:
    """Return a view with axes moved to other places.

    Args:
        a: array of any dtype and shape.
        source: the axis or axes to move.
        destination: the new place or places.

    Returns:
        A view in the dtype of `a`.

    Raises:
        ValueError: there are not as many places as axes.
        AxisError: there is no such axis.

    See https://numpy.org/doc/stable/reference/generated/numpy.moveaxis.html.
    """
    sources = normalize_axis_tuple(source, a.ndim, "source")
    destinations = normalize_axis_tuple(destination, a.ndim, "destination")
    if len(sources) != len(destinations):
        raise ValueError("`source` and `destination` arguments must have the same number of elements")
    order = [k for k in range(a.ndim) if k not in sources]
    for to, k in sorted(zip(destinations, sources, strict=True)):
        order.insert(to, k)
    return permute_view(a, order)


@view(np.rollaxis)
def rollaxis(a: View, axis: Int, start: Int = 0) -> ndarray:
    """Return a view with an axis moved backwards to another place.

    Args:
        a: array of any dtype and shape.
        axis: the axis to move.
        start: the axis before which it is placed.

    Returns:
        A view in the dtype of `a`.

    Raises:
        AxisError: there is no such axis or place.

    See https://numpy.org/doc/stable/reference/generated/numpy.rollaxis.html.
    """
    rank = a.ndim
    axis = normalize_axis_index(axis, rank)
    start = start + rank if start < 0 else start
    if not 0 <= start <= rank:
        raise np.exceptions.AxisError(
            f"'start' arg requires {-rank} <= start < {rank + 1}, but {start} was passed in"
        )
    start -= axis < start
    order = [k for k in range(rank) if k != axis]
    order.insert(start, axis)
    return permute_view(a, order)


@view(np.matrix_transpose)
def matrix_transpose(x: View, /) -> ndarray:
    """Return a view with the last two axes exchanged.

    Args:
        x: array (..., m, n) of any dtype.

    Returns:
        A view (..., n, m).

    Raises:
        ValueError: `x` has fewer than two axes.

    See https://numpy.org/doc/stable/reference/generated/numpy.matrix_transpose.html.
    """
    if x.ndim < 2:
        raise ValueError(f"Input array must be at least 2-dimensional, but it is {x.ndim}")
    return swapaxes(x, -1, -2)
