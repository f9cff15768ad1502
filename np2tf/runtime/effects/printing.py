"""`np2tf.print`: the builtin; in a graph, a call back to the host, where NumPy makes the text."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.runtime.effects.output import PrintEffect, put_in_order
from np2tf.runtime.effects.text import CapturedValues
from np2tf.staging import TextNeededError
from np2tf.tnp._tensor.storage import current_scope


def print(
    *values: Any, sep: str | None = " ", end: str | None = "\n", file: Any = None, flush: bool = False
) -> None:
    """Do ``print(*values)`` at every run, in NumPy's format.

    The output of a compiled call appears when the call is over, because the call may be discarded until then
    and be repeated on the host.

    Args:
        *values: any objects; arrays and numbers may be staged.
        sep, end, flush: as for the builtin.
        file: `sys.stdout`, `sys.stderr` or None; any stream outside of staged code.

    Raises:
        StagingError: if a staged print goes to another stream than `sys.stdout` and `sys.stderr`.

    See https://docs.python.org/3/library/functions.html#print and
    https://www.tensorflow.org/api_docs/python/tf/print.
    """
    scope = current_scope()
    if scope is None and tf.executing_eagerly():
        builtins.print(*values, sep=sep, end=end, file=file, flush=flush)
        return
    stream = _stream(file)
    separator, last = " " if sep is None else sep, "\n" if end is None else end
    captures = CapturedValues(values, depth=1)

    def line(values: Sequence[np.ndarray]) -> str:
        return separator.join(map(str, captures.of(values))) + last

    if scope is None:  # a foreign tf.function
        _call_host(lambda *values: PrintEffect(line(values), stream, flush).show(), captures.tensors)
        return
    put_in_order(scope.trace, captures, lambda values: PrintEffect(line(values), stream, flush).show)


def _stream(file: Any) -> str:
    """Return the name of the stream in `sys`."""
    if file is None or (file is sys.stdout and file is not sys.stderr):
        return "stdout"
    if file is sys.stderr and file is not sys.stdout:
        return "stderr"
    raise TextNeededError("a staged print goes to a file of its own")


def _call_host(call: Callable[..., None], tensors: list[tf.Tensor]) -> None:
    def run(*values: np.ndarray) -> np.ndarray:
        call(*values)
        return np.zeros((), np.int32)

    tf.numpy_function(run, tensors, tf.int32)
