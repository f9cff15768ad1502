"""Stop signs: the loops of compiled code end when another thread sets the sign of a call.

Neither XLA nor TensorFlow can interrupt a program. But the input of a call may have the memory of an array of
ours, and a loop that reads another element of it in each iteration must read that memory each time. So each
long loop also tests now and then whether the sign is set. A call whose sign is set ends within some hundred
iterations, and its results are thrown away.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.eager import context
from tensorflow.python.framework import ops

#: The number of elements of a sign: a power of two, and more than TensorFlow makes a constant of a graph.
_SIZE = 256
#: The sign is read once in so many iterations of a loop over numbers.
ITERATIONS = 256
#: What counts as numbers: arrays of at most so many elements.
_FEW = 64
#: Operations that take no time for the elements that they leave alone.
_OF_PARTS = frozenset(
    {"Placeholder", "Identity", "Const", "Shape", "Reshape", "Slice", "StridedSlice", "GatherV2", "GatherNd"}
    | {"XlaDynamicSlice", "XlaDynamicUpdateSlice", "TensorScatterUpdate", "PlaceholderWithDefault"}
)
_WITH_FUNCTIONS = frozenset(
    {"While", "StatelessWhile", "If", "StatelessIf", "Case", "StatelessCase"}
    | {"PartitionedCall", "StatefulPartitionedCall", "SymbolicGradient"}
)
#: TensorFlow shares the memory of arrays with this alignment only.
_ALIGNMENT = 64


class StopSign:
    """The stop sign of a call.

    Attributes:
        tensor: the input of the call, which has the memory of the sign.
    """

    __slots__ = ("_elements", "tensor")

    def __init__(self) -> None:
        memory = np.zeros(8 * _SIZE + _ALIGNMENT, np.uint8)
        first = -memory.ctypes.data % _ALIGNMENT
        self._elements = memory[first : first + 8 * _SIZE].view(np.int64)
        self.tensor = ops.EagerTensor(self._elements, context.context().device_name, None)

    @property
    def is_set(self) -> bool:
        """True if the call has been stopped."""
        return bool(self._elements[0])

    def set(self) -> None:
        """Stop the call."""
        self._elements[:] = 1


@cache
def unset_sign() -> tf.Tensor:
    """Return the tensor that stands for the sign of each call in graphs. It is never set.

    It is made late: the first tensor of a process starts TensorFlow, which a program may configure before.
    """
    with tf.init_scope(), tf.device("CPU:0"):
        return StopSign().tensor


def is_light(graph: tf.Graph) -> bool:
    """Return whether an iteration takes so little time that the sign need not be read each time.

    Args:
        graph: the operations of an iteration.
    """
    for op in graph.get_operations():
        if op.type in _WITH_FUNCTIONS:
            return False
        if op.type not in _OF_PARTS:
            for tensor in (*op.inputs, *op.outputs):
                size = tensor.shape.num_elements()
                if size is None or size > _FEW:
                    return False
    return True


def stoppable_loop(
    test: Callable[..., tf.Tensor], body: Callable[..., Any], variables: Sequence[tf.Tensor], shapes: Any
) -> Sequence[tf.Tensor]:
    """Do the same as ``tf.while_loop(test, body, variables, shapes)``, and end if the sign is set.

    The sign is read before every so many iterations, which an inner loop does. In a loop over numbers,
    reading it each time takes up to a third of the time.

    Args:
        test, body: functions of the variables.
        variables: the first is the number of the iteration, an int64 of shape ().
        shapes: the shapes of the variables.
    """

    def iterate(*variables: tf.Tensor) -> Sequence[tf.Tensor]:
        end = variables[0] + ITERATIONS
        return tf.while_loop(
            lambda *now: tf.logical_and(test(*now), now[0] < end), body, list(variables), shapes
        )

    return tf.while_loop(
        lambda *now: tf.logical_and(test(*now), is_unset(now[0] // ITERATIONS)), iterate, variables, shapes
    )


def is_unset(counter: tf.Tensor) -> tf.Tensor:
    """Return whether the call goes on.

    Args:
        counter: a number that is another one each time, an int64 of shape ().
    """
    place = tf.bitwise.bitwise_and(counter, tf.constant(_SIZE - 1, tf.int64))
    element = tf.raw_ops.Slice(
        input=unset_sign(), begin=tf.reshape(place, [1]), size=tf.constant([1], tf.int64)
    )
    return tf.equal(tf.reshape(element, []), tf.constant(0, tf.int64))
