"""Arrays of which NumPy is to see the memory: as records, text, another class."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from np2tf.counts import counts
from np2tf.staging import StagingError
from np2tf.tnp.cells import current_region
from np2tf.tnp.ndarray import ndarray


def brought_to_host(array: ndarray) -> np.ndarray:
    """The contents of `array` as NumPy's memory, which cannot be written to: nobody else would see it.

    Raises:
        StagingError: the value is not known while staging.
    """
    if current_region() is not None or not tf.executing_eagerly():
        raise StagingError("NumPy is to see the memory of a staged array", "NP2TF503")
    counts.host += 1
    held = np.array(array.numpy())
    held.flags.writeable = False
    return held
