"""`np2tf.host_memory`: an array whose memory another one is made over."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from np2tf.lazy import LazyModule

_devices: Any = LazyModule("np2tf.tnp._dispatch.devices")


def host_memory(x: Any) -> Any:
    """`x` as `np.ndarray.__new__` takes its `buffer`; an array on TensorFlow is moved to the host.

    What is moved must be the only name of its array: nobody could see what is written to the other.

    Raises:
        TypeError: `x` is on TensorFlow, and somebody else refers to it or to a view of it.

    See https://numpy.org/doc/stable/reference/generated/numpy.ndarray.html.
    """
    return x if type(x) is np.ndarray or "tensorflow" not in sys.modules else _devices.move_out(x)
