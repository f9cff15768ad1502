"""Arrays that move to the host, because NumPy is to see their memory: as records, text, another class."""

from __future__ import annotations

import sys

import numpy as np
import tensorflow as tf

from np2tf.counts import counts
from np2tf.staging import StagingError
from np2tf.tnp.cells import current_region
from np2tf.tnp.ndarray import ndarray

#: References to a cell that only one array sees: the array's, a local one, that of the call that counts.
_ALONE = 3


def brought_to_host(array: ndarray) -> np.ndarray:
    """The memory of `array` as NumPy's, in which it lives from now on.

    Memory that other arrays see too cannot move: a copy that cannot be written to stands for it.

    Raises:
        StagingError: the value is not known while staging.
    """
    if current_region() is not None or not tf.executing_eagerly():
        raise StagingError("NumPy is to see the memory of a staged array", "NP2TF503")
    if array._host is not None:
        return array._host
    counts.host += 1
    held = np.array(array.numpy())
    cell, path = array.storage()
    if type(array) is not ndarray or path or sys.getrefcount(cell) > _ALONE:
        held.flags.writeable = False
        return held
    array._host = held
    array._cell = None
    array._cache = None
    return held
