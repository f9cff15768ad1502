"""Functions that move arrays between the host and TensorFlow, in every mode."""

from __future__ import annotations

from contextlib import nullcontext
from functools import cache
from sys import getrefcount
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.tnp._array.ndarray import ndarray, storage_of, tensor_array
from np2tf.tnp._array.strides import lay_out_copy
from np2tf.tnp._front.loading import announce_programs_tensors, load
from np2tf.tnp._operands.conversion import as_tensor, to_numpy


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


def devices() -> list[str]:
    """Return the names of the devices that TensorFlow can use here, such as "cpu:0" and "gpu:0".

    Returns:
        The names, which `device` and `device_put` accept.

    See https://www.tensorflow.org/api_docs/python/tf/config/list_logical_devices.
    """
    logical_devices = tf.config.list_logical_devices()
    return [device.name.removeprefix("/device:").lower() for device in logical_devices]


def device(name: str) -> Any:
    """Return a context manager in which TensorFlow's part runs on a device.

    In a block on an accelerator new arrays are on TensorFlow. Jitted functions that are called in the block
    are compiled for the device.

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
    """Return `x` on the host: arrays on TensorFlow and tensors become np.ndarray, also in containers.

    Values that are on the host already are returned as they are.

    Args:
        x: an array of either kind, a tensor, or a list, tuple or dict of these.

    Returns:
        A np.ndarray of the shape and dtype of `x`; containers of the same types as in `x`.

    Raises:
        StagingError: the value is not known while staging.

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


__all__ = ["device", "device_get", "device_put", "devices", "move_out"]
