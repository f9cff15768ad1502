"""Functions that NumPy computes from numbers or on the host, and where the arrays that they make live."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.staging import StagingError
from np2tf.tnp.cells import current_region
from np2tf.tnp.conversion import to_numpy
from np2tf.tnp.ndarray import host_array, is_array, tensor_array, wrap
from np2tf.tnp.normalize import OPS
from np2tf.tnp.residence import eager_on_host, has_array, has_tensor

#: Arrays up to this many elements become constants of a graph; longer ones are computed in it.
SMALL = 65536


def known(value: Any) -> Any:
    """`value` as NumPy takes it, also inside slices.

    Raises:
        StagingError: it holds something whose value is not known while staging.
    """
    if isinstance(value, slice):
        return slice(known(value.start), known(value.stop), known(value.step))
    if isinstance(value, tuple):
        return tuple(map(known, value))
    if current_region() is not None and has_array((value,)) and not has_tensor((value,)):
        raise StagingError("the value of an array is needed while staging", "NP2TF503")
    return to_numpy(value)


def place(value: Any) -> Any:
    """What NumPy made, as new arrays: on the host, or as tensors where new arrays are tensors."""
    if isinstance(value, np.ndarray) and not is_array(value):
        if eager_on_host() or value.dtype.kind not in "biufc":
            return host_array(value)
        return tensor_array(tf.constant(value))
    if type(value) in (tuple, list):
        return type(value)(map(place, value))
    return wrap(value)


def hosted(numpy: Callable[..., Any]) -> Callable[..., Any]:
    """A NumPy function that always runs on the host; its operands must be known there."""

    @functools.wraps(numpy)
    def call(*args: Any, **kwargs: Any) -> Any:
        return place(numpy(*map(known, args), **{name: known(item) for name, item in kwargs.items()}))

    call.numpy = numpy  # type: ignore[attr-defined]
    OPS[numpy] = call
    return call
