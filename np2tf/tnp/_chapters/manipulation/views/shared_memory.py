"""Questions of shared memory: shares_memory and may_share_memory, `x.data`, and arrays over this memory."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.staging import MemoryLayoutError
from np2tf.tnp._array.ndarray import chain_of, is_array, ndarray, storage_of
from np2tf.tnp._array.strides import host_view, layout_probe, memory_of
from np2tf.tnp._chapters.manipulation.views.reshape import permuted
from np2tf.tnp._dispatch.op import OPS
from np2tf.tnp._operands.conversion import to_numpy
from np2tf.tnp._operands.promotion import has_tf_dtype
from np2tf.tnp._slicing.view_transforms import Basic, Bitcast, Reshape, read_chain

__all__ = ["may_share_memory", "shares_memory"]


def _positions(array: ndarray) -> np.ndarray:
    """Return the positions in its storage of the elements that an array sees.

    Raises:
        StagingError: the positions are not known while staging.
    """
    if not tf.executing_eagerly():
        raise MemoryLayoutError("which parts of an array overlap is asked while staging")
    storage, chain = array.storage_and_chain()
    shape = storage.value.shape
    places = tf.reshape(tf.range(math.prod(shape), dtype=tf.int64), shape)
    return read_chain(places, chain).numpy()


def _compared(numpy: Callable[..., bool], a: Any, b: Any) -> bool:
    """Return whether the memory of two arrays overlaps, by one of NumPy's two functions.

    Raises:
        StagingError: the answer is known only at run time.
    """
    if not (is_array(a) and is_array(b)):
        if isinstance(a, (tf.Tensor, tf.Variable)) or isinstance(b, (tf.Tensor, tf.Variable)):
            # Raw tensors cannot be written to in part: whether two of them share memory makes no difference.
            return a is b
        # NumPy and TensorFlow never share memory.
        return numpy(*(np.empty(0) if is_array(x) else to_numpy(x) for x in (a, b)))
    storage = storage_of(a)
    if storage is not storage_of(b):
        if storage_of(b) in storage.may_alias:
            raise MemoryLayoutError("whether two staged arrays share memory is known only at run time")
        return False
    if a is b or not (chain_of(a) or chain_of(b)):
        return a.size > 0  # type: ignore[no-any-return]
    memory = memory_of(a)
    first, second = layout_probe(a, memory), layout_probe(b, memory)
    if first is not None and second is not None:
        return numpy(first, second)
    return bool(np.isin(_positions(a), _positions(b)).any())


def shares_memory(a: Any, b: Any, /, max_work: Any = None) -> bool:
    """Return whether two arrays have an element in common.

    Args:
        a: array of any dtype and shape.
        b: array of any dtype and shape.
        max_work: ignored.

    Raises:
        StagingError: the answer is known only at run time.

    See https://numpy.org/doc/stable/reference/generated/numpy.shares_memory.html.
    """
    return _compared(np.shares_memory, a, b)


def may_share_memory(a: Any, b: Any, /, max_work: Any = None) -> bool:
    """Return whether the memory ranges of two arrays overlap.

    Args:
        a: array of any dtype and shape.
        b: array of any dtype and shape.
        max_work: ignored.

    Raises:
        StagingError: the answer is known only at run time.

    See https://numpy.org/doc/stable/reference/generated/numpy.may_share_memory.html.
    """
    return _compared(np.may_share_memory, a, b)


class _Memory(np.ndarray):
    """A copy on the host of the elements of an array on TensorFlow, with a reference to the array."""

    source: ndarray


def _data(self: ndarray) -> memoryview:
    """Return a read-only copy of the array's memory; ``ndarray(…, buffer)`` recognises the array by it."""
    # The array would not see a write to the copy.
    buffer: Any = _memory(self) if type(self) is ndarray else self.numpy()[()]
    return memoryview(buffer).toreadonly()


def _memory(self: ndarray) -> _Memory:
    """Return a copy of the array's memory on the host that refers to the array."""
    made = host_view(self).view(_Memory)
    made.source = self
    return made


def _ctypes(self: ndarray) -> Any:
    """Return pointers to a copy of the memory; they keep the array alive."""
    return _memory(self).ctypes


ndarray.ctypes = property(_ctypes, doc=np.ndarray.ctypes.__doc__)  # type: ignore[attr-defined]
ndarray.data = property(_data, doc=np.ndarray.data.__doc__)  # type: ignore[attr-defined]


def made_over(buffer: Any, make: Callable[[memoryview], np.ndarray]) -> Any:
    """Return the array that `make` makes over a buffer, as a view if it is an array on TensorFlow's memory.

    Args:
        buffer: an array, or the `data` of an array.
        make: makes an np.ndarray over a memoryview.

    Returns:
        None if the buffer belongs to no array on TensorFlow.

    Raises:
        StagingError: an array on TensorFlow has no such views.
    """
    given = _data(buffer) if type(buffer) is ndarray else buffer
    memory = given.obj if isinstance(given, memoryview) else None
    if not isinstance(memory, _Memory):
        return None
    wanted = make(given)
    in_c, in_f = wanted.flags.c_contiguous, wanted.flags.f_contiguous
    start = np.lib.array_utils.byte_bounds(wanted)[0] - np.lib.array_utils.byte_bounds(memory)[0]
    size = memory.itemsize
    if not has_tf_dtype(wanted.dtype):
        return wanted
    if start % size or wanted.nbytes % size or not (in_c or in_f):
        raise MemoryLayoutError("an array over memory that does not see contiguous whole elements")
    source = memory.source
    if memory.flags.fnc:
        source = permuted(source, reversed(range(memory.ndim)))
    part = slice(start // size, (start + wanted.nbytes) // size)
    view = source.view_through(Reshape((memory.size,))).view_through(Basic((part,)))
    if wanted.dtype != memory.dtype:
        view = view.view_through(Bitcast(wanted.dtype))
    if in_c:
        return view.view_through(Reshape(wanted.shape))
    return permuted(view.view_through(Reshape(wanted.shape[::-1])), reversed(range(wanted.ndim)))


OPS[np.shares_memory] = shares_memory
OPS[np.may_share_memory] = may_share_memory
