"""`np2tf.devices` and `np2tf.device`."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

import np2tf
from np2tf.arrays.array.ndarray import is_array


def test_devices_are_listed() -> None:
    names = np2tf.devices()
    assert names[0] == "cpu:0"
    assert len(names) == len(tf.config.list_logical_devices())


@pytest.mark.parametrize("name", ["cpu", "CPU:0", "cpu:0", "/device:CPU:0"])
def test_blocks_on_a_device(name: str) -> None:
    with np2tf.device(name):
        array = np2tf.device_put(np.arange(3.0))
        assert is_array(array)
        assert array.tensor.device.endswith("CPU:0")
        np.testing.assert_array_equal(np2tf.jit(lambda x: x + 1, tier="compile")(array), [1.0, 2.0, 3.0])


@pytest.mark.parametrize("name", ["xpu", "cpu:99", "gpu:99", ""])
def test_devices_that_are_not_there(name: str) -> None:
    with pytest.raises(ValueError, match="TensorFlow has cpu:0"):
        np2tf.device(name)


def test_accelerators() -> None:
    """In a block on an accelerator new arrays are there, and come back equal."""
    names = [device for device in np2tf.devices() if not device.startswith("cpu")]
    for name in names:
        with np2tf.device(name):
            made = np2tf.tnp.ones((3, 3)) @ np2tf.tnp.arange(3.0)
        assert is_array(made)
        assert made.tensor.device.lower().endswith(name)
        np.testing.assert_array_equal(np2tf.device_get(made), [3.0, 3.0, 3.0])
    if not names:
        pytest.skip("there is no accelerator")
