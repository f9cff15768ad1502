"""XLA compiles in a thread beside the program, which goes on on the host until the code is there.

XLA compiles at the first call of a function. So a thread of np2tf's own makes this call, with a stop sign
that is set: its loops do not begin, and its outputs mean nothing. XLA lets other threads run Python.
"""

from __future__ import annotations

from contextlib import suppress

import tensorflow as tf
from tensorflow.python.eager import context

from np2tf.staging.process.ending import ending
from np2tf.staging.xla.calls import ConcreteCall, StopSign
from np2tf.staging.xla.supervision import start_thread


class Compiling:
    """The first call of a function, in a thread of its own.

    Attributes:
        is_done: whether it has ended. Its error, if it has one, comes again at the next call.

    Args:
        call: calls the function.
        inputs: its inputs, in memory that the program does not change.
    """

    def __init__(self, call: ConcreteCall, inputs: list[tf.Tensor]) -> None:
        sign = StopSign()
        sign.set()
        self.is_done = False
        self._call, self._operands = call, call.operands(inputs, sign.tensor)
        self._device = context.context().device_name
        ending.busy += 1
        start_thread(self._run)

    def _run(self) -> None:
        try:
            with suppress(Exception), tf.device(self._device):  # the next call raises it again
                self._call.execute(self._operands)
        finally:
            self._operands = []
            self.is_done = True
            ending.busy -= 1
