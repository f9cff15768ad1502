"""Questions whether two arrays have memory in common."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.staging import MemoryLayoutError
from np2tf.tnp._array.layout_probes import layout_probe, memory_of
from np2tf.tnp._array.ndarray import chain_of, is_array, ndarray, storage_of
from np2tf.tnp._dispatch.op import OPS
from np2tf.tnp._operands.conversion import to_numpy
from np2tf.tnp._slicing.view_transforms import read_chain

__all__ = [
    "may_share_memory",
    "shares_memory",
]


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
    return _compare_memory(np.shares_memory, a, b)


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
    return _compare_memory(np.may_share_memory, a, b)


OPS |= {np.shares_memory: shares_memory, np.may_share_memory: may_share_memory}
