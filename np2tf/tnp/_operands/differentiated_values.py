"""Values that a transform differentiates: they must not leave TensorFlow, where their derivative would be
lost.

A gradient tape of the program's own is not protected in this way, because its user works with tensors.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.eager import record

from np2tf.tnp._array.ndarray import is_array
from np2tf.tnp._front.transform_depth import transform_depth
from np2tf.tnp._warnings.user_lines import called_package, program_location
from np2tf.transform_errors import LeftTensorFlowError


def is_followed(value: Any) -> bool:
    """Return whether a transform differentiates an array, a number or a tensor."""
    return bool(transform_depth.depth) and record.could_possibly_record() and _are_followed((value,))


def refuse_to_leave(name: str | None, values: Iterable[Any]) -> None:
    """Check that no value is being differentiated, because `name` takes the values to the host.

    If `name` is None, the function of another package that the program has called is named.

    Raises:
        LeftTensorFlowError: a transform differentiates one of them.
    """
    if transform_depth.depth and record.could_possibly_record() and _are_followed(values):
        function = name or called_package() or "a function that takes np.ndarray"
        raise LeftTensorFlowError(
            f"{function} computes on the host, where the derivative of its operand would be lost; write it "
            "with NumPy functions that TensorFlow has, apply np2tf.stop_gradient to the operand if its "
            "derivative is zero, or give the derivative with np2tf.custom_vjp",
            program_location(),
        )


def refuse_host_result(name: str, args: Iterable[Any], result: Any) -> None:
    """Check the arguments of a function of NumPy that has computed `result`. Integers have no derivative.

    Raises:
        LeftTensorFlowError: `result` is inexact, and a transform differentiates an argument.
    """
    if transform_depth.depth and _is_inexact(result):
        refuse_to_leave(name, args)


def _are_followed(values: Iterable[Any]) -> bool:
    tensors = [value.tensor if is_array(value) else value for value in values]
    tensors = [tensor for tensor in tensors if isinstance(tensor, tf.Tensor)]
    tensors = [tensor for tensor in tensors if tensor.dtype.is_floating or tensor.dtype.is_complex]
    return bool(tensors) and record.should_record_backprop(tensors)


def _is_inexact(result: Any) -> bool:
    if isinstance(result, (tuple, list)):
        return any(map(_is_inexact, result))
    return not isinstance(result, (np.ndarray, np.generic)) or result.dtype.kind not in "biu"
