"""Layout probes: np.ndarrays with the shape and strides that NumPy's array would have.

The elements of a probe are never read. (PyTorch's meta tensors serve the same purpose.)"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided, sliding_window_view

from np2tf.tnp._array.ndarray import chain_of, is_array, ndarray, storage_of
from np2tf.tnp._slicing.view_transforms import (
    BasicIndexing,
    Bitcast,
    BroadcastTo,
    ComplexPart,
    Diagonal,
    ReadOnlyFlag,
    Reshape,
    Transpose,
    ViewTransform,
    Windows,
)
from np2tf.tnp._tensor.storage import GappedLayout
from np2tf.tnp._tensor.symint import SymInt

#: Stands for a length that is known only at run time.
_SOME_LENGTH = 7


def layout_probe(array: ndarray, memory: np.ndarray | None = None) -> np.ndarray | None:
    """Return an np.ndarray with the shape and strides of NumPy's array, whose elements must not be read.

    Args:
        array: the array on TensorFlow.
        memory: the probe of the array that owns the memory, so that several probes share it.

    Returns:
        None if the layout is not known.
    """
    chain = chain_of(array)
    probe = memory if memory is not None else memory_of(array)
    for transform in chain:
        view = _apply_to_probe(transform, probe)
        if view is None:
            return None
        probe = view
    return probe


def memory_of(array: ndarray) -> np.ndarray:
    """Return the layout probe of the memory that an array sees; the same object for the same layout."""
    storage = storage_of(array)
    base = storage.value
    shape = [_SOME_LENGTH if n is None else n for n in base.shape.as_list()]
    return _dummy(tuple(shape), np.dtype(base.dtype.as_numpy_dtype), storage.order)


@functools.lru_cache(1024)
def _dummy(shape: tuple[int, ...], dtype: np.dtype[Any], order: Order | GappedLayout) -> np.ndarray:
    if 0 in shape:
        return np.empty(shape, dtype)
    return as_strided(np.empty(1, dtype), shape, strides_of(shape, dtype.itemsize, order))


def strides_of(shape: Sequence[int], itemsize: int, order: Order | GappedLayout) -> tuple[int, ...]:
    """The strides of memory that is laid out so."""
    if isinstance(order, GappedLayout):
        return tuple(itemsize * stride for stride in order.strides)
    strides = [0] * len(shape)
    for axis in reversed(range(len(shape)) if order is None else order):
        strides[axis] = itemsize
        itemsize *= shape[axis]
    return tuple(strides)


def _apply_to_probe(transform: ViewTransform, base: np.ndarray) -> np.ndarray | None:
    if isinstance(transform, BasicIndexing):
        return base[(*map(_substitute_index, transform.key), ...)]
    if isinstance(transform, Transpose):
        return base.transpose(transform.permutation)
    if isinstance(transform, Reshape):
        return _reshape_probe(base, transform.shape)
    if isinstance(transform, ComplexPart):
        return base.imag if transform.imaginary else base.real
    if isinstance(transform, Diagonal):
        return np.diagonal(base, transform.offset, -2, -1)
    if isinstance(transform, Bitcast):
        return base.view(transform.dtype)
    if isinstance(transform, ReadOnlyFlag):
        return base
    if isinstance(transform, Windows):
        fits = transform.width <= base.shape[transform.axis]
        return sliding_window_view(base, transform.width, transform.axis) if fits else None
    return np.broadcast_to(base, transform.shape) if isinstance(transform, BroadcastTo) else None


def _substitute_index(item: Any) -> Any:
    """Return a known item of a key in the place of a staged item; strides do not depend on the chosen
    element.
    """
    if type(item) is slice:
        return slice(None, -1) if SymInt in (type(item.start), type(item.stop)) else item
    return 0 if type(item) is SymInt else item


def _reshape_probe(base: np.ndarray, shape: Any) -> np.ndarray | None:
    """Return the layout probe in another shape; None if NumPy would copy, or if that is not known."""
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
    """Return whether NumPy's ``array.reshape(shape)`` would be a view."""
    if is_whole(array):
        return True
    probe = layout_probe(array)
    if probe is None:
        return False
    return bool(probe.flags.c_contiguous) or _reshape_probe(probe, shape) is not None


def is_contiguous(array: ndarray) -> bool:
    """Return whether NumPy's array would be contiguous in C order, as far as this is known."""
    if is_whole(array):
        return True
    probe = layout_probe(array)
    return probe is not None and bool(probe.flags.c_contiguous)


def is_laid_out(array: ndarray, letter: str | None) -> bool:
    """Return whether NumPy's array has the memory layout that a copy in this order would have."""
    if letter in (None, "K") or (letter != "F" and is_whole(array)):
        return True
    probe = layout_probe(array)
    if probe is None:
        return False
    in_c, in_f = probe.flags.c_contiguous, probe.flags.f_contiguous
    return bool(in_c if letter == "C" else in_f if letter == "F" else in_c or in_f)


def is_whole(array: ndarray) -> bool:
    """Return whether an array is all of its memory, unchanged and in C order."""
    return not chain_of(array) and storage_of(array).order is None


def owns_memory(array: ndarray) -> bool:
    """Return whether NumPy's array would have memory of its own, and not be a view."""
    storage, chain = array.storage_and_chain()
    owner = storage.owner() if storage.owner is not None else None
    if owner is not None and owner.storage_and_chain()[0] is storage:
        return owner is array
    while (
        storage.owner is None
        and len(chain) > len(storage.owner_chain)
        and isinstance(chain[-1], ReadOnlyFlag)
    ):
        chain = chain[:-1]
    return chain == storage.owner_chain


def layout_of(value: Any) -> np.ndarray | None:
    """Return an np.ndarray with the shape and strides of an array of either kind; None if not known."""
    if is_array(value):
        return layout_probe(value)
    return value if isinstance(value, np.ndarray) else None


#: The axes of an array from the slowest to the fastest in memory; None: C order.
Order = tuple[int, ...] | None


def resolve_order(layout: np.ndarray | None, letter: str | None) -> str | None:
    """Return the order that "A" means for an array ("C" or "F"); any other letter is returned as it is."""
    return letter if letter != "A" else "F" if layout is not None and layout.flags.fnc else "C"
