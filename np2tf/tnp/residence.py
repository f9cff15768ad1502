"""Where an operation runs: on the host by NumPy itself, or by TensorFlow."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.config import config
from np2tf.tnp.cells import current_region
from np2tf.tnp.ndarray import PLAIN, host_array, is_foreign, ndarray, scalar, tensor_array, wrap
from np2tf.tnp.rows import Rows

_TENSORS = (tf.Tensor, tf.Variable, tf.IndexedSlices, Rows)


def eager_on_host() -> bool:
    """Whether new arrays and operations on host operands belong on the host just now."""
    return config.eager != "tensorflow" and current_region() is None and tf.executing_eagerly()


def is_plain() -> bool:
    """Whether NumPy's own arrays are used and made just now (`np2tf.use_backend("numpy")`)."""
    return config.eager == "numpy" and current_region() is None and tf.executing_eagerly()


def stays_on_host(array: ndarray) -> bool:
    """Whether an array on the host is worked on there: always, if TensorFlow has no such elements."""
    if eager_on_host():
        return True
    return current_region() is None and is_foreign(array._host.dtype)  # type: ignore[union-attr]


def has_tensor(values: Iterable[Any]) -> bool:
    """Whether a tensor-resident array or a tensor is among `values`, looking into lists and tuples."""
    for value in values:
        kind = type(value)
        if kind in PLAIN:
            continue
        if kind is ndarray or kind is scalar:
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
        if kind is ndarray or kind is scalar or issubclass(kind, (np.ndarray, *_TENSORS)):
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


#: Types that NumPy takes as they are.
_AS_THEY_ARE = frozenset({*PLAIN, np.ndarray})


def held(args: Any) -> list[Any] | None:
    """The arguments as NumPy takes them, if it takes them all as they are held; None for a closer look.

    Only exact types count: arrays on the host, numbers and the like, and lists and tuples of those.
    """
    given = []
    for arg in args:
        kind = type(arg)
        if kind is ndarray:
            buffer = arg._host
            if buffer is None:
                return None
            given.append(buffer)
        elif kind in _AS_THEY_ARE:
            given.append(arg)
        elif (kind is list or kind is tuple) and len(arg) < 9:
            inner = held(arg)
            if inner is None:
                return None
            given.append(inner if kind is list else tuple(inner))
        else:
            return None
    return given


def placed(value: Any) -> Any:
    """What NumPy made, as new arrays: on the host, or as tensors where new arrays are tensors."""
    if eager_on_host():
        return wrap(value)
    kind = type(value)
    if kind is np.ndarray:
        if value.dtype.kind in "biufc" and value.dtype.char not in "gG" and value.dtype.isnative:
            return tensor_array(tf.constant(value))
        return host_array(value)
    if kind in (tuple, list):
        return kind(map(placed, value))
    if isinstance(value, tuple):
        return kind(*map(placed, value))
    return wrap(value)
