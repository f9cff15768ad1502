"""Residency: whether an operation runs, and a new array lives, on the host with NumPy or with TensorFlow."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.config import config
from np2tf.tnp._array.ndarray import arrays_of_rows, ndarray, scalar
from np2tf.tnp._array.sequences import NumberSequence, StackableSequence
from np2tf.tnp._array.strides import lay_out_copy
from np2tf.tnp._front.operand_kinds import PLAIN, new_arrays_are_tensors
from np2tf.tnp._operands.promotion import has_tf_dtype
from np2tf.tnp._tensor.storage import current_scope

_TENSORS = (tf.Tensor, tf.Variable, tf.IndexedSlices, StackableSequence, NumberSequence)


def eager_on_host() -> bool:
    """Return whether NumPy currently runs operations on host operands."""
    on_numpy = config.eager == "auto" and config.floats == "float64"
    return on_numpy and current_scope() is None and tf.executing_eagerly()


def new_arrays_on_host() -> bool:
    """Return whether new arrays are currently np.ndarray."""
    return eager_on_host() and not new_arrays_are_tensors()


def has_tensor(values: Iterable[Any]) -> bool:
    """Return whether `values` hold an array on TensorFlow or a tensor, also in lists and tuples."""
    for value in values:
        kind = type(value)
        if kind in PLAIN or kind is np.ndarray:
            continue
        if kind is ndarray or kind is scalar or kind in arrays_of_rows or issubclass(kind, _TENSORS):
            return True
        if issubclass(kind, (list, tuple)) and has_tensor(value):
            return True
    return False


def has_array(values: Iterable[Any]) -> bool:
    """Return whether `values` hold an array of either kind or a tensor, also in lists and tuples."""
    for value in values:
        kind = type(value)
        if kind in PLAIN:
            continue
        if kind is ndarray or kind is scalar or kind in arrays_of_rows:
            return True
        if issubclass(kind, (np.ndarray, *_TENSORS)):
            return True
        if issubclass(kind, (list, tuple)) and has_array(value):
            return True
    return False


def runs_on_host(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Return whether NumPy runs a call of these arguments: host operands, or numbers known while staging."""
    if eager_on_host():
        return not has_tensor(args) and not (kwargs and has_tensor(kwargs.values()))
    if current_scope() is None:
        return False
    return not has_array(args) and not (kwargs and has_array(kwargs.values()))


def keep_kind(result: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return NumPy's result for these arguments, moved to TensorFlow if one of the arguments is there."""
    if eager_on_host() and not has_tensor(args) and not (kwargs and has_tensor(kwargs.values())):
        return result
    return move_to_tensorflow(result)


def wrap_result(value: Any) -> Any:
    """Return NumPy's result with its new arrays moved to TensorFlow, if new arrays live there."""
    return value if new_arrays_on_host() else move_to_tensorflow(value)


def move_to_tensorflow(value: Any) -> Any:
    """Return `value` with every np.ndarray moved to TensorFlow whose dtype TensorFlow has."""
    kind = type(value)
    if kind is np.ndarray:
        has_dtype = has_tf_dtype(value.dtype) and value.dtype.isnative
        return lay_out_copy(tf.constant(value), value) if has_dtype else value
    if kind in (tuple, list):
        return kind(map(move_to_tensorflow, value))
    if isinstance(value, tuple):
        return kind(*map(move_to_tensorflow, value))
    return value
