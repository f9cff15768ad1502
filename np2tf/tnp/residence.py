"""Where an operation runs: on the host by NumPy itself, or by TensorFlow."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.config import config
from np2tf.tnp.cells import current_region
from np2tf.tnp.ndarray import PLAIN, ndarray

_TENSORS = (tf.Tensor, tf.Variable, tf.IndexedSlices)


def eager_on_host() -> bool:
    """Whether new arrays and operations on host operands belong on the host just now."""
    return config.eager == "auto" and current_region() is None and tf.executing_eagerly()


def has_tensor(values: Iterable[Any]) -> bool:
    """Whether a tensor-resident array or a tensor is among `values`, looking into lists and tuples."""
    for value in values:
        kind = type(value)
        if kind in PLAIN:
            continue
        if issubclass(kind, ndarray):
            if value._host is None:
                return True
        elif issubclass(kind, _TENSORS) or (issubclass(kind, (list, tuple)) and has_tensor(value)):
            return True
    return False


def has_array(values: Iterable[Any]) -> bool:
    """Whether any array, of whatever residence, is among `values`, looking into lists and tuples."""
    for value in values:
        kind = type(value)
        if kind in PLAIN:
            continue
        if issubclass(kind, (ndarray, np.ndarray, *_TENSORS)):
            return True
        if issubclass(kind, (list, tuple)) and has_array(value):
            return True
    return False


def runs_on_host(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether a call with these arguments is NumPy's own (host operands, or numbers known while staging)."""
    if eager_on_host():
        return not has_tensor(args) and not (kwargs and has_tensor(kwargs.values()))
    if current_region() is None:
        return False
    return not has_array(args) and not (kwargs and has_array(kwargs.values()))
