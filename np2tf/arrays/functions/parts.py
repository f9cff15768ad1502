"""Parts of an array, as views: diagonals, reversed axes, sections, sliding windows."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf
from numpy.lib import stride_tricks
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from np2tf.arrays.array.ndarray import ndarray, tensor_scalar
from np2tf.arrays.array.view_transforms import BasicIndexing, Diagonal, ReadOnlyFlag, Windows
from np2tf.arrays.dispatch.op import OPS, Axis, Int, Shape, View, call_numpy
from np2tf.arrays.dispatch.placement import has_tensor
from np2tf.arrays.functions.reshape import moveaxis, permute_view, swapaxes, view
from np2tf.arrays.operands.axes import rank_of
from np2tf.arrays.tensors.storage import staging_for_xla
from np2tf.arrays.tensors.symbolic_integers import SymInt
from np2tf.arrays.tensors.violations import refuse_where
from np2tf.core.errors import ShapeNeededError

__all__ = [
    "array_split",
    "as_strided",
    "diagonal",
    "dsplit",
    "flip",
    "fliplr",
    "flipud",
    "hsplit",
    "rot90",
    "sliding_window_view",
    "split",
    "unstack",
    "vsplit",
]


# -- parts ---------------------------------------------------------------------------------------------------
# Parts of an array, as views: the diagonal, reversed axes, sections.


@view(np.diagonal, method=True)
def diagonal(a: View, offset: Int = 0, axis1: Int = 0, axis2: Int = 1) -> ndarray:
    """Return diagonals as a read-only view."""
    if a.ndim < 2:
        raise ValueError("diag requires an array of at least two dimensions")
    first, second = normalize_axis_index(axis1, a.ndim), normalize_axis_index(axis2, a.ndim)
    if first == second:
        raise ValueError("axis1 and axis2 cannot be the same")
    order = [k for k in range(a.ndim) if k not in (first, second)] + [first, second]
    last = permute_view(a, order)
    return last.view_through(Diagonal(offset)).view_through(ReadOnlyFlag())


def _cut(a: ndarray, axis: int, piece: slice | int) -> ndarray:
    """Return a part of an axis, as a view."""
    axis %= a.ndim
    return a.view_through(BasicIndexing(tuple(piece if k == axis else slice(None) for k in range(a.ndim))))


@view(np.flip)
def flip(m: View, axis: Axis = None) -> ndarray:
    """Return a view with reversed axes."""
    axes = range(m.ndim) if axis is None else normalize_axis_tuple(axis, m.ndim)
    if m.ndim == 0:
        return tensor_scalar(m.tensor)
    back, full = slice(None, None, -1), slice(None)
    return m.view_through(BasicIndexing(tuple(back if k in axes else full for k in range(m.ndim))))


@view(np.fliplr)
def fliplr(m: View) -> ndarray:
    """Return a view with the second axis reversed."""
    if m.ndim < 2:
        raise ValueError("Input must be >= 2-d.")
    return flip(m, 1)


@view(np.flipud)
def flipud(m: View) -> ndarray:
    """Return a view with the first axis reversed."""
    if m.ndim < 1:
        raise ValueError("Input must be >= 1-d.")
    return flip(m, 0)


@view(np.rot90)
def rot90(m: View, k: Int = 1, axes: Any = (0, 1)) -> ndarray:
    """Return a view that is rotated by multiples of 90 degrees."""
    axes = tuple(axes)
    if len(axes) != 2:
        raise ValueError("len(axes) must be 2.")
    if axes[0] == axes[1] or abs(axes[0] - axes[1]) == m.ndim:
        raise ValueError("Axes must be different.")
    if not all(-m.ndim <= axis < m.ndim for axis in axes):
        raise ValueError(f"Axes={axes} out of range for array of ndim={m.ndim}.")
    turns = k % 4
    if turns == 0:
        return _cut(m, 0, slice(None))
    if turns == 2:
        return flip(m, axes)
    if turns == 1:
        return swapaxes(flip(m, axes[1]), *axes)
    return flip(swapaxes(m, *axes), axes[1])


def _pieces(a: ndarray, cuts: list[Any], axis: int) -> list[ndarray]:
    """Return the views between given cuts of an axis."""
    ends = [*cuts, None]
    return [_cut(a, axis, slice(begin, end)) for begin, end in zip([0, *cuts], ends, strict=True)]


def _sections(a: ndarray, sections: int, axis: int) -> list[Any]:
    """Return the cuts that divide an axis into sections of nearly equal lengths."""
    total = a.shape[axis]
    if not isinstance(total, int):
        if staging_for_xla():
            raise ShapeNeededError("splitting an axis whose length is known only at run time")
        small, extra = total.tensor // sections, total.tensor % sections
        cuts = [k * small + tf.minimum(tf.cast(k, tf.int64), extra) for k in range(1, sections)]
        return [SymInt.fresh(position, 0) for position in cuts]
    small, extra = divmod(total, sections)
    sizes = [small + 1] * extra + [small] * (sections - extra)
    return [int(n) for n in np.cumsum(sizes)[:-1]]


@view(np.array_split)
def array_split(ary: View, indices_or_sections: Any, axis: Int = 0) -> list[ndarray]:
    """Return views of sections, which may have different lengths."""
    if not -ary.ndim <= axis < ary.ndim:
        raise IndexError("tuple index out of range")
    if hasattr(indices_or_sections, "__len__"):
        return _pieces(ary, [int(k) for k in indices_or_sections], axis)
    count = int(indices_or_sections)
    if count <= 0:
        raise ValueError("number sections must be larger than 0.")
    return _pieces(ary, _sections(ary, count, axis), axis)


@view(np.split)
def split(ary: View, indices_or_sections: Any, axis: Int = 0) -> list[ndarray]:
    """Return views of sections of equal lengths, or between given indices."""
    if not hasattr(indices_or_sections, "__len__"):
        remainder = ary.shape[axis] % int(indices_or_sections)
        unequal = ValueError("array split does not result in an equal division")
        if isinstance(remainder, int):
            if remainder:
                raise unequal
        else:
            refuse_where(remainder.tensor != 0, unequal)
    return array_split(ary, indices_or_sections, axis)


@view(np.hsplit)
def hsplit(ary: View, indices_or_sections: Any) -> list[ndarray]:
    """Return views of sections along the second axis; along the first axis of a vector."""
    if ary.ndim == 0:
        raise ValueError("hsplit only works on arrays of 1 or more dimensions")
    return split(ary, indices_or_sections, 1 if ary.ndim > 1 else 0)


@view(np.vsplit)
def vsplit(ary: View, indices_or_sections: Any) -> list[ndarray]:
    """Return views of sections along the first axis."""
    if ary.ndim < 2:
        raise ValueError("vsplit only works on arrays of 2 or more dimensions")
    return split(ary, indices_or_sections, 0)


@view(np.dsplit)
def dsplit(ary: View, indices_or_sections: Any) -> list[ndarray]:
    """Return views of sections along the third axis."""
    if ary.ndim < 3:
        raise ValueError("dsplit only works on arrays of 3 or more dimensions")
    return split(ary, indices_or_sections, 2)


@view(np.unstack)
def unstack(x: View, /, *, axis: Int = 0) -> tuple[ndarray, ...]:
    """Return views of the items along an axis."""
    if x.ndim == 0:
        raise ValueError("Input array must be at least 1-d.")
    return tuple(moveaxis(x, axis, 0))


# -- stride tricks -------------------------------------------------------------------------------------------
# ``np.lib.stride_tricks``: sliding windows on tensors; other strides by NumPy.


@view(stride_tricks.sliding_window_view)
def sliding_window_view(
    x: View, window_shape: Shape, axis: Axis = None, *, subok: bool = False, writeable: bool = False
) -> ndarray:
    """Return a view of the windows that slide over an array."""
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
    """
    writeable = writeable and not has_tensor((x,))
    return call_numpy(stride_tricks.as_strided, (x, shape, strides, subok, writeable), keywords)


OPS[stride_tricks.as_strided] = as_strided
