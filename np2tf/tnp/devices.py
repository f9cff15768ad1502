"""Arrays moved between the host and TensorFlow by hand, in every mode."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.tnp.conversion import as_tensor, to_numpy
from np2tf.tnp.ndarray import ndarray, tensor_array


def device_put(x: Any, device: str | None = None) -> ndarray:
    """A copy of `x` as an array on TensorFlow.

    Args:
        x: an array of either kind, a tensor, a number, or nested lists of numbers.
        device: the device's name to TensorFlow, such as "GPU:0"; None: where TensorFlow puts it.

    Returns:
        A `tnp.ndarray` of the shape and dtype that ``np.asarray(x)`` has.

    Raises:
        StagingError: TensorFlow has no such dtype.
        ValueError: there is no such device.

    See https://docs.jax.dev/en/latest/_autosummary/jax.device_put.html.
    """
    with tf.device(device) if device is not None else nullcontext():
        tensor = as_tensor(x)
        # A copy: neither sees what is written to the other, and the device is the one that is asked for.
        return tensor_array(tf.identity(tensor))


def device_get(x: Any) -> Any:
    """`x` on the host: arrays of ours and tensors as np.ndarray, also inside lists, tuples and dicts.

    What is on the host is returned as it is.

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


__all__ = ["device_get", "device_put"]
