"""Where an operation runs and a new array lives; moving arrays between devices."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import nullcontext
from functools import cache
from sys import getrefcount
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.arrays.array.layout import lay_out_copy
from np2tf.arrays.array.ndarray import arrays_of_rows, ndarray, scalar, storage_of, tensor_array
from np2tf.arrays.array.sequences import NumberSequence, StackableSequence
from np2tf.arrays.front.residency import Kinds, holds, new_arrays_are_tensors
from np2tf.arrays.front.tensorflow_loading import announce_programs_tensors, load
from np2tf.arrays.operands.conversion import as_tensor, to_numpy
from np2tf.arrays.operands.promotion import has_tf_dtype
from np2tf.arrays.tensors.storage import current_scope
from np2tf.core.settings import config

__all__ = [
    "device",
    "device_get",
    "device_put",
    "devices",
    "move_out",
]


# -- residency -----------------------------------------------------------------------------------------------
# Residency: whether an operation runs, and a new array lives, on the host with NumPy or with TensorFlow.

_TENSORS = (tf.Tensor, tf.Variable, tf.IndexedSlices, StackableSequence, NumberSequence)
TENSORS = Kinds(
    lambda kind: kind is ndarray or kind is scalar or kind in arrays_of_rows or issubclass(kind, _TENSORS),
    derived=True,
)
ARRAYS = Kinds(lambda kind: TENSORS.include(kind) or issubclass(kind, np.ndarray), derived=True)


def eager_on_host() -> bool:
    """Return whether NumPy currently runs operations on host operands."""
    on_numpy = config.eager == "auto" and config.floats == "float64"
    return on_numpy and current_scope() is None and tf.executing_eagerly()


def new_arrays_on_host() -> bool:
    """Return whether new arrays are currently np.ndarray."""
    return eager_on_host() and not new_arrays_are_tensors()


def has_tensor(values: Collection[Any]) -> bool:
    """Return whether `values` hold an array on TensorFlow or a tensor (see `holds`)."""
    return holds(values, TENSORS)


def has_array(values: Collection[Any]) -> bool:
    """Return whether `values` hold an array of either kind or a tensor (see `holds`)."""
    return holds(values, ARRAYS)


def runs_on_host(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Return whether NumPy runs a call of these arguments: host operands, or numbers known while staging."""
    on_host = eager_on_host()
    if not on_host and current_scope() is None:
        return False
    kinds = TENSORS if on_host else ARRAYS
    return not holds(args, kinds) and not (kwargs and holds(kwargs.values(), kinds))


def keep_kind(result: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return NumPy's result for these arguments, moved to TensorFlow if one of the arguments is there."""
    if eager_on_host() and not holds(args, TENSORS) and not (kwargs and holds(kwargs.values(), TENSORS)):
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


# -- devices -------------------------------------------------------------------------------------------------
# Functions that move arrays between the host and TensorFlow, in every mode.


def device_put(x: Any, device: str | None = None) -> ndarray:
    """Copy `x` to TensorFlow.

    Args:
        x: an array of either kind, a tensor, a number, or nested lists of numbers.
        device: TensorFlow's name of the device, such as "GPU:0"; None lets TensorFlow choose.

    Returns:
        A `tnp.ndarray` of the shape and dtype that ``np.asarray(x)`` has.

    Raises:
        StagingError: TensorFlow has no such dtype.
        ValueError: the machine has no such device.
        ImportError: TensorFlow cannot be imported.

    See https://docs.jax.dev/en/latest/_autosummary/jax.device_put.html.
    """
    load()
    announce_programs_tensors()
    with tf.device(device) if device is not None else nullcontext():
        tensor = as_tensor(x)
        # A copy, so that no array sees writes to the other array, and the tensor is on the named device.
        return lay_out_copy(tf.identity(tensor), x)


#: Pickles of arrays name the function by the path that programs write.
device_put.__module__ = "np2tf"


def devices() -> list[str]:
    """Return the names of the devices that TensorFlow can use here, such as "cpu:0" and "gpu:0".

    Returns:
        The names, which `device` and `device_put` accept.

    See https://www.tensorflow.org/api_docs/python/tf/config/list_logical_devices.
    """
    logical_devices = tf.config.list_logical_devices()
    return [device.name.removeprefix("/device:").lower() for device in logical_devices]


def local_devices() -> list[str]:
    """Return TensorFlow's names of the accelerators of this process; of its CPUs, if it has none."""
    every = tf.config.list_logical_devices()
    accelerators = [device.name for device in every if device.device_type != "CPU"]
    return accelerators or [device.name for device in every]


def device(name: str) -> Any:
    """Return a context manager that makes TensorFlow run everything on one device.

    In a block on an accelerator, new arrays are on TensorFlow, and jitted functions that you call are
    compiled for the device.

    Args:
        name: the device: "cpu", "gpu", "gpu:1", "tpu:0" …; without a number, the first of its kind.

    Returns:
        A context manager for a `with` block.

    Raises:
        ValueError: the machine has no such device.

    See https://www.tensorflow.org/api_docs/python/tf/device.
    """
    kind, _, number = name.lower().removeprefix("/").removeprefix("device:").partition(":")
    device_name = f"{kind}:{number or 0}"
    have = devices()
    if device_name not in have:
        raise ValueError(f"there is no device {name}; TensorFlow has {', '.join(have)}")
    return tf.device(f"/device:{device_name.upper()}")


def device_get(x: Any) -> Any:
    """Move `x` to NumPy: arrays on TensorFlow and tensors become np.ndarray, in containers too.

    Values that are already NumPy's are returned unchanged.

    Args:
        x: an array of either kind, a tensor, or a list, tuple or dict of these.

    Returns:
        A np.ndarray of the shape and dtype of `x`; containers of the same types as in `x`.

    Raises:
        StagingError: the value is not known during compilation.

    See https://docs.jax.dev/en/latest/_autosummary/jax.device_get.html.
    """
    if isinstance(x, (list, tuple)) and not isinstance(x, np.ndarray):
        items = [device_get(item) for item in x]
        return type(x)(*items) if hasattr(x, "_fields") else type(x)(items)
    if isinstance(x, dict):
        return {key: device_get(item) for key, item in x.items()}
    return to_numpy(x)


def move_out(x: Any) -> Any:
    """Return `x`, or its contents as np.ndarray if `x` is an array on TensorFlow with a single reference.

    Only the caller's caller may refer to the array.

    Raises:
        TypeError: another object refers to the array.
    """
    if type(x) is not ndarray:
        return x
    references = getrefcount(x), getrefcount(storage_of(x))
    if any(have > alone for have, alone in zip(references, _sole_reference_counts(), strict=True)):
        raise TypeError(
            "an array on TensorFlow has no memory that another array could share; give a copy: np.array(x)"
        )
    return to_numpy(x)


@cache
def _sole_reference_counts() -> tuple[int, int]:
    """Return the reference counts that `move_out` sees for an array with one name and for its storage."""
    name = tensor_array(tf.zeros(1))

    def inner(x: ndarray) -> tuple[int, int]:
        return getrefcount(x), getrefcount(storage_of(x))

    def outer(x: ndarray) -> tuple[int, int]:
        return inner(x)

    return outer(name)
