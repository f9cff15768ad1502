"""Whether a gradient tape, or a forward accumulator, records what is computed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import tensorflow as tf
from tensorflow.python.eager import record

#: Returns whether any may record in this thread.
may_record = record.could_possibly_record


def are_recorded(tensors: Iterable[Any]) -> bool:
    """Return whether one records what is computed with one of these tensors; other values are passed over."""
    if not may_record():
        return False
    inexact = [
        tensor
        for tensor in tensors
        if isinstance(tensor, tf.Tensor) and (tensor.dtype.is_floating or tensor.dtype.is_complex)
    ]
    return bool(inexact) and record.should_record_backprop(inexact)
