"""Calling a traced function with as little ado as TensorFlow allows: a call is to cost microseconds."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.eager import context, execute, record
from tensorflow.python.framework import ops


class Caller:
    """A concrete function, called without binding its arguments by name and type again.

    A gradient tape has to see the call, and gets it by the usual way.
    """

    def __init__(self, function: Any) -> None:
        self.function = function
        self._captured = list(function.captured_inputs)
        self._name = function.name.decode() if isinstance(function.name, bytes) else function.name
        self._count = len(function.outputs)
        self._context = context.context()
        options = self._context.function_call_options.as_attrs()
        self._attributes = tuple(itertools.chain(*options.items()))

    def __call__(self, inputs: list[tf.Tensor]) -> Sequence[tf.Tensor]:
        """The outputs of the function."""
        if record.could_possibly_record():
            return self.function(*inputs)
        inputs += self._captured
        return execute.execute(self._name, self._count, inputs, self._attributes, self._context)


def borrowed(array: np.ndarray) -> tf.Tensor:
    """A tensor of an array's contents that may share its memory: for the length of one call only."""
    if not array.flags.c_contiguous:
        array = array.copy()
    return ops.EagerTensor(array, context.context().device_name, None)
