"""How NumPy would lay out the memory of a tensor array: strides, and whether a reshape is a view or a copy.

The answer comes from NumPy itself: the array's path of lenses is applied to a shadow, an array of the right
shape and strides over one element that is never read.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from np2tf.tnp.lenses import Basic, Bitcast, Diagonal, Lens, Part, ReadOnly, Reshape, Sealed, Transpose
from np2tf.tnp.ndarray import ndarray
from np2tf.tnp.symint import SymInt

#: Stands for a length that is known only at run time.
_SOME_LENGTH = 7


def shadow(array: ndarray, memory: np.ndarray | None = None) -> np.ndarray | None:
    """An array of the shape and strides of NumPy's, not to be read; None where that is not known.

    Args:
        array: whose layout is asked for.
        memory: the shadow of the array that owns its memory, so that several shadows share it.
    """
    cell, path = array.storage()
    if memory is None:
        base = cell.value
        shape = [_SOME_LENGTH if n is None else n for n in base.shape.as_list()]
        memory = _dummy(tuple(shape), np.dtype(base.dtype.as_numpy_dtype))
    made = memory
    for lens in path:
        following = _through(lens, made)
        if following is None:
            return None
        made = following
    return made


def _dummy(shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray:
    strides = []
    step = dtype.itemsize
    for length in reversed(shape):
        strides.append(step)
        step *= max(length, 1)
    return as_strided(np.empty(1, dtype), shape, tuple(reversed(strides)))


def _through(lens: Lens, base: np.ndarray) -> np.ndarray | None:
    if isinstance(lens, Basic):
        return base[(*map(_settled, lens.key), ...)]
    if isinstance(lens, Transpose):
        return base.transpose(lens.permutation)
    if isinstance(lens, Reshape):
        return _reshaped(base, lens.shape)
    if isinstance(lens, Part):
        return base.imag if lens.imaginary else base.real
    if isinstance(lens, Diagonal):
        return np.diagonal(base, lens.offset, -2, -1)
    if isinstance(lens, Bitcast):
        return base.view(lens.dtype)
    if isinstance(lens, Sealed):
        return base
    return np.broadcast_to(base, lens.shape) if isinstance(lens, ReadOnly) else None


def _settled(item: Any) -> Any:
    """A key of the same kind that is known: which element is taken does not matter to the strides."""
    if isinstance(item, SymInt):
        return 0
    if isinstance(item, slice) and any(isinstance(end, SymInt) for end in (item.start, item.stop)):
        return slice(None, -1)
    return item


def _reshaped(base: np.ndarray, shape: Any) -> np.ndarray | None:
    """The shadow in another shape, or None where NumPy would have to copy or it cannot be told."""
    if not isinstance(shape, (tuple, list)) or not all(isinstance(n, int) for n in shape):
        return None
    lengths = [_SOME_LENGTH if n is None else n for n in shape]
    probe = base[...]
    try:
        if hasattr(probe, "_set_shape"):  # NumPy 2.5 warns of the assignment below.
            probe._set_shape(tuple(lengths))
        else:
            probe.shape = tuple(lengths)
    except (AttributeError, ValueError):
        return None
    return probe


def reshapes_in_place(array: ndarray, shape: Any) -> bool:
    """Whether NumPy's ``array.reshape(shape)`` would be a view."""
    if not array.storage()[1]:
        return True
    made = shadow(array)
    if made is None:
        return False
    return bool(made.flags.c_contiguous) or _reshaped(made, shape) is not None


def is_contiguous(array: ndarray) -> bool:
    """Whether NumPy's array would be contiguous in C order, as far as that is known."""
    if not array.storage()[1]:
        return True
    made = shadow(array)
    return made is not None and bool(made.flags.c_contiguous)
