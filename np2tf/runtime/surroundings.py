"""Gradient tapes and accelerators: under these the host is not tried first."""

from __future__ import annotations

import functools

import tensorflow as tf
from tensorflow.python.eager import record


@functools.cache
def has_accelerator() -> bool:
    """Whether TensorFlow would run the compiled code on something else than the CPU."""
    return any(device.device_type != "CPU" for device in tf.config.list_logical_devices())


def compiles_at_once() -> bool:
    """Whether the host must not be tried: it is slower than the accelerator, or hidden from the tape."""
    return is_recording() or has_accelerator()


def is_recording() -> bool:
    """Whether a gradient tape may be watching."""
    return record.could_possibly_record()
