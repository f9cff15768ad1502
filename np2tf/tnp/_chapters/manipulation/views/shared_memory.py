"""The memory of an array as a buffer: `x.data`, `x.ctypes`, and arrays made over such a buffer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from np2tf.staging import MemoryLayoutError
from np2tf.tnp._array.ndarray import ndarray
from np2tf.tnp._array.strides import host_view
from np2tf.tnp._chapters.manipulation.views.transpose import permute_view
from np2tf.tnp._operands.promotion import has_tf_dtype
from np2tf.tnp._slicing.view_transforms import BasicIndexing, Bitcast, Reshape


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
    """Return the array that `make` makes over a buffer, as a view if it is an array on TensorFlow's memory.

    Args:
        buffer: an array, or the `data` of an array.
        make: makes an np.ndarray over a memoryview.

    Returns:
        None if the buffer belongs to no array on TensorFlow.

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
        raise MemoryLayoutError("memory seen otherwise than in whole elements, one after the other")
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
