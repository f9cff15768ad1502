"""Calls a traced function with little overhead: a call should cost microseconds."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.eager import context, execute, record
from tensorflow.python.framework import ops

from np2tf.runtime.xla import stop_signs
from np2tf.runtime.xla.graph_rewrites import exact_call_options, exact_calls
from np2tf.tnp._array.ndarray import is_array


class ConcreteCall:
    """Calls a concrete function without binding its arguments by name and type again.

    If a gradient tape records, the usual call is made, because the tape must see it.

    Args:
        late: returns the tensors that are captured at the call, in the order in which the graph captures
            them.
    """

    def __init__(self, function: Any, late: Callable[[], Sequence[tf.Tensor]]) -> None:
        self.function = function
        self._captures = list(function.graph.external_captures)
        sign = stop_signs.unset_sign()
        places = [k for k, tensor in enumerate(self._captures) if tensor is sign]
        self._stop_place = places[0] if places else None
        self._late = late
        self._name = function.name.decode() if isinstance(function.name, bytes) else function.name
        self._count = len(function.outputs)
        self._context = context.context()
        self._attributes = tuple(itertools.chain(*exact_call_options().as_attrs().items()))

    @property
    def can_be_stopped(self) -> bool:
        """True if the function has loops that end at a stop sign."""
        return self._stop_place is not None and not record.could_possibly_record()

    def __call__(self, inputs: list[tf.Tensor], sign: tf.Tensor | None = None) -> Sequence[tf.Tensor]:
        """Return the outputs of the function, whose arithmetic nothing rewrites.

        Args:
            inputs: the operands.
            sign: the stop sign of this call; its results mean nothing once the sign is set.
        """
        if record.could_possibly_record():
            with exact_calls():
                return self.function(*inputs)
        captures = self._captures
        if sign is not None and self._stop_place is not None:
            captures = [*captures]
            captures[self._stop_place] = sign
        operands = [*inputs, *captures, *self._late()]
        return execute.execute(self._name, self._count, operands, self._attributes, self._context)


def borrow_memory(array: np.ndarray) -> tf.Tensor:
    """Return a tensor of an array's contents that may share its memory, for the duration of one call only."""
    if not array.flags.c_contiguous:
        array = array.copy()
    return ops.EagerTensor(array, context.context().device_name, None)


def input_of(array: Any, may_borrow: bool) -> tf.Tensor:
    """Return an array as an input of a call.

    Args:
        array: an array on the host or on TensorFlow, or a NumPy scalar.
        may_borrow: whether the input may share the memory of an array on the host, because no reference to it
            outlives the call.
    """
    if may_borrow and isinstance(array, np.ndarray):
        return borrow_memory(array)
    return array.tensor if is_array(array) else tf.convert_to_tensor(array)
