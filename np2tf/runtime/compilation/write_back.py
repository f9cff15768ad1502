"""Writes the changes of a compiled call into the caller's arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.runtime.environment.raw_tensors import variables
from np2tf.tnp._array.ndarray import is_array


def prepare_writes(arrays: Sequence[Any], values: Sequence[tf.Tensor]) -> Callable[[], None]:
    """Return a function that gives every array its new value, and has nothing left to do that could fail.

    A value that lies in another array's memory is copied before that is written.
    """
    hosts = [None if is_array(array) or type(array) in variables else array for array in arrays]
    new_values: list[Any] = []
    for k, (host, value) in enumerate(zip(hosts, values, strict=True)):
        if host is None:
            new_values.append(value)
            continue
        view = np.asarray(memoryview(value))
        before = (host for host in hosts[:k] if isinstance(host, np.ndarray))
        new_values.append(
            view.copy() if any(np.may_share_memory(view, earlier_host) for earlier_host in before) else view
        )

    def write() -> None:
        for array, host, value in zip(arrays, hosts, new_values, strict=True):
            if host is not None:
                host[...] = value
            elif is_array(array):
                array.store(value)
            else:
                array.assign(value)

    return write
