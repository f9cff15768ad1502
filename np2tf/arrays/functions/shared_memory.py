"""The memory of arrays: as a buffer, and whether two arrays share some."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.arrays.array.layout import host_view, layout_probe, memory_of
from np2tf.arrays.array.ndarray import chain_of, is_array, ndarray, storage_of
from np2tf.arrays.array.view_transforms import BasicIndexing, Bitcast, Reshape, read_chain
from np2tf.arrays.dispatch.op import OPS
from np2tf.arrays.functions.reshape import permute_view
from np2tf.arrays.operands.conversion import to_numpy
from np2tf.arrays.operands.promotion import has_tf_dtype
from np2tf.core.errors import MemoryLayoutError

__all__ = [
    "may_share_memory",
    "shares_memory",
]


# -- shared memory -------------------------------------------------------------------------------------------
# The memory of an array as a buffer: `x.data`, `x.ctypes`, and arrays made over such a buffer.


class _Memory(np.ndarray):
    """A copy on the host of the elements of an array on TensorFlow, with a reference to the array."""

    source: ndarray


def _data(self: ndarray) -> memoryview:
    """Return a read-only copy of the array's memory; ``ndarray(…, buffer)`` recognises the array by it."""
    # The array would not see a write to the copy.
    buffer: Any = _memory(self) if type(self) is ndarray else self.numpy()[()]
    return memoryview(buffer).toreadonly()


def _memory(self: ndarray) -> _Memory:
    memory = host_view(self).view(_Memory)
    memory.source = self
    return memory


def _ctypes(self: ndarray) -> Any:
    """Return pointers to a copy of the memory; they keep the array alive."""
    return _memory(self).ctypes


ndarray.ctypes = property(_ctypes, doc=np.ndarray.ctypes.__doc__)  # type: ignore[attr-defined]
ndarray.data = property(_data, doc=np.ndarray.data.__doc__)  # type: ignore[attr-defined]


def view_of_buffer(buffer: Any, make: Callable[[memoryview], np.ndarray]) -> Any:
    """Return the array that `make` makes over an array or its `data`, as a view if it is on TensorFlow's
    memory; None if the buffer belongs to no array on TensorFlow.

    Raises:
        StagingError: an array on TensorFlow has no such views.
    """
    data = _data(buffer) if type(buffer) is ndarray else buffer
    memory = data.obj if isinstance(data, memoryview) else None
    if not isinstance(memory, _Memory):
        return None
    array = make(data)
    in_c, in_f = array.flags.c_contiguous, array.flags.f_contiguous
    start = np.lib.array_utils.byte_bounds(array)[0] - np.lib.array_utils.byte_bounds(memory)[0]
    size = memory.itemsize
    if not has_tf_dtype(array.dtype):
        return array
    if start % size or array.nbytes % size or not (in_c or in_f):
        raise MemoryLayoutError("a view of memory that is not made of whole elements in order")
    source = memory.source
    if memory.flags.fnc:
        source = permute_view(source, reversed(range(memory.ndim)))
    part = slice(start // size, (start + array.nbytes) // size)
    view = source.view_through(Reshape((memory.size,))).view_through(BasicIndexing((part,)))
    if array.dtype != memory.dtype:
        view = view.view_through(Bitcast(array.dtype))
    if in_c:
        return view.view_through(Reshape(array.shape))
    return permute_view(view.view_through(Reshape(array.shape[::-1])), reversed(range(array.ndim)))


# -- memory overlap ------------------------------------------------------------------------------------------
# Questions whether two arrays have memory in common.


def _positions(array: ndarray) -> np.ndarray:
    """Return the positions in its storage of the elements that an array sees."""
    if not tf.executing_eagerly():
        raise MemoryLayoutError("the overlap of array parts is needed during compilation")
    storage, chain = array.storage_and_chain()
    shape = storage.value.shape
    places = tf.reshape(tf.range(math.prod(shape), dtype=tf.int64), shape)
    return read_chain(places, chain).numpy()


def _compare_memory(numpy: Callable[..., bool], a: Any, b: Any) -> bool:
    if not (is_array(a) and is_array(b)):
        if isinstance(a, (tf.Tensor, tf.Variable)) or isinstance(b, (tf.Tensor, tf.Variable)):
            # Raw tensors cannot be written to in part: whether two of them share memory makes no difference.
            return a is b
        # Arrays of NumPy and arrays on TensorFlow never share memory.
        return numpy(*(np.empty(0) if is_array(x) else to_numpy(x) for x in (a, b)))
    storage = storage_of(a)
    if storage is not storage_of(b):
        if storage_of(b) in storage.may_alias:
            raise MemoryLayoutError("whether two arrays share memory is known only at run time")
        return False
    if a is b or not (chain_of(a) or chain_of(b)):
        return a.size > 0  # type: ignore[no-any-return]
    memory = memory_of(a)
    first, second = layout_probe(a, memory), layout_probe(b, memory)
    if first is not None and second is not None:
        return numpy(first, second)
    return bool(np.isin(_positions(a), _positions(b)).any())


def shares_memory(a: Any, b: Any, /, max_work: Any = None) -> bool:
    """Return whether two arrays have an element in common."""
    return _compare_memory(np.shares_memory, a, b)


def may_share_memory(a: Any, b: Any, /, max_work: Any = None) -> bool:
    """Return whether the memory ranges of two arrays overlap."""
    return _compare_memory(np.may_share_memory, a, b)


OPS |= {np.shares_memory: shares_memory, np.may_share_memory: may_share_memory}
