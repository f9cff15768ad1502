"""`np2tf.host_memory`: an array on the host whose memory another array can use."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from np2tf.lazy import LazyModule

_devices: Any = LazyModule("np2tf.tnp._dispatch.devices")


def host_memory(x: Any) -> Any:
    """Return `x` as an array that `np.ndarray.__new__` accepts as its `buffer`.

    An array on TensorFlow is moved to the host. No other reference to a moved array may exist, because writes
    to the new array would not be visible through it.

    Args:
        x: an array of any shape and dtype, or any other buffer, which is returned unchanged.

    Returns:
        `np.ndarray` of the same shape and dtype for an array; else `x`.

    Raises:
        TypeError: if `x` is on TensorFlow, and another reference to it or to a view of it exists.

    See https://numpy.org/doc/stable/reference/generated/numpy.ndarray.html.
    """
    return x if type(x) is np.ndarray or "tensorflow" not in sys.modules else _devices.move_out(x)
