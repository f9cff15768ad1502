"""Tensors that a transform differentiates: they must not leave TensorFlow, where their derivative would be
lost.

A gradient tape of the program's own is not protected in this way, because its user works with tensors.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import tensorflow as tf
from tensorflow.python.eager import record

from np2tf.tnp._front.transform_depth import transform_depth
from np2tf.tnp._warnings.user_lines import called_package, program_location
from np2tf.transform_errors import LeftTensorFlowError


def are_followed(values: Iterable[Any]) -> bool:
    """Return whether a transform of eager code differentiates one of these tensors; other values are passed
    over.
    """
    return bool(transform_depth.depth) and are_recorded(values)


def are_recorded(values: Iterable[Any]) -> bool:
    """Return whether a tape records what is computed with one of these tensors, also in staged code."""
    if not record.could_possibly_record():
        return False
    tensors = [
        value
        for value in values
        if isinstance(value, tf.Tensor) and (value.dtype.is_floating or value.dtype.is_complex)
    ]
    return bool(tensors) and record.should_record_backprop(tensors)


def refuse_tensors(name: str | None, values: Iterable[Any]) -> None:
    """Check that no tensor is being differentiated, because `name` takes them to the host.

    If `name` is None, the function of another package that the program has called is named.

    Raises:
        LeftTensorFlowError: a transform differentiates one of them.
    """
    if are_followed(values):
        function = name or called_package() or "a function that takes np.ndarray"
        raise LeftTensorFlowError(
            f"{function} computes on the host, where the derivative of its operand would be lost; write it "
            "with NumPy functions that TensorFlow has, apply np2tf.stop_gradient to the operand if its "
            "derivative is zero, or give the derivative with np2tf.custom_vjp",
            program_location(),
        )
