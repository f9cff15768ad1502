"""Stop signs: the loops of compiled code end when another thread sets the sign of a call.

Neither XLA nor TensorFlow can interrupt a program. But the input of a call may have the memory of an array of
ours, and a loop that reads another element of it in each iteration must read that memory each time. So each
long loop also tests whether the sign is set, which costs about a nanosecond per iteration. A call whose sign
is set ends within one iteration, and its results are thrown away.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import tensorflow as tf
from tensorflow.python.eager import context
from tensorflow.python.framework import ops

#: The number of elements of a sign: a power of two, and more than TensorFlow makes a constant of a graph.
_SIZE = 256
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


def is_unset(counter: tf.Tensor) -> tf.Tensor:
    """Return whether the call goes on, for the test of a loop.

    Args:
        counter: the number of the iteration, an int64 of shape ().
    """
    place = tf.bitwise.bitwise_and(counter, tf.constant(_SIZE - 1, tf.int64))
    element = tf.raw_ops.Slice(
        input=unset_sign(), begin=tf.reshape(place, [1]), size=tf.constant([1], tf.int64)
    )
    return tf.equal(tf.reshape(element, []), tf.constant(0, tf.int64))
