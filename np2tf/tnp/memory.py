"""shares_memory and may_share_memory: arrays that view one cell share what they both see of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.staging import StagingError
from np2tf.tnp.conversion import to_numpy
from np2tf.tnp.layout import shadow
from np2tf.tnp.lenses import read_path
from np2tf.tnp.ndarray import is_array, ndarray, tensor_array
from np2tf.tnp.normalize import OPS

__all__ = ["may_share_memory", "shares_memory"]


def _positions(array: ndarray) -> np.ndarray:
    """Which elements of its cell the array sees, by their places in memory.

    Raises:
        StagingError: that is not known while staging.
    """
    if not tf.executing_eagerly():
        raise StagingError("which parts of an array overlap is asked while staging", "NP2TF503")
    cell, path = array.storage()
    shape = cell.value.shape
    places = tf.reshape(tf.range(math.prod(shape), dtype=tf.int64), shape)
    return read_path(places, path).numpy()


def _compared(numpy: Callable[..., bool], a: Any, b: Any) -> bool:
    if isinstance(a, (tf.Tensor, tf.Variable)) or isinstance(b, (tf.Tensor, tf.Variable)):
        # Tensors of TensorFlow's own cannot be written to in part: nobody sees whether two share memory.
        return a is b
    if not (is_array(a) and is_array(b)):
        # Memory of NumPy's and memory of TensorFlow's are never the same.
        return numpy(*(np.empty(0) if is_array(x) else to_numpy(x) for x in (a, b)))
    first, second = a.storage(), b.storage()
    if first[0] is not second[0]:
        if second[0] in first[0].may_alias:
            raise StagingError("whether two staged arrays share memory is known only at run time", "NP2TF503")
        return False
    if a is b or not (first[1] or second[1]):
        return a.size > 0
    memory = shadow(tensor_array(first[0].value))
    seen = [shadow(array, memory) for array in (a, b)] if memory is not None else [None]
    if all(one is not None for one in seen):
        return numpy(*seen)
    return bool(np.isin(_positions(a), _positions(b)).any())


def shares_memory(a: Any, b: Any, /, max_work: Any = None) -> bool:
    """Whether an element of one array is an element of the other."""
    return _compared(np.shares_memory, a, b)


def may_share_memory(a: Any, b: Any, /, max_work: Any = None) -> bool:
    """Whether the stretches of memory of two arrays overlap."""
    return _compared(np.may_share_memory, a, b)


OPS[np.shares_memory] = shares_memory
OPS[np.may_share_memory] = may_share_memory
