"""Times every entry into the op library, for reports on programs that work with tensors.

The timing functions replace the functions that they time while a report is made. Functions on the host run as
their translation then, because the source's code enters NumPy itself.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from time import perf_counter
from typing import Any

import tensorflow as tf

from np2tf.arrays.entry import default_floats
from np2tf.arrays.operands.numpy_warnings import user_location
from np2tf.arrays.tensors.storage import current_scope
from np2tf.core.counts import counts
from np2tf.core.faults import note_fault
from np2tf.staging.host.jit import JittedFunction
from np2tf.staging.report import HANDED_OVER, HOST_ONLY, ON_HOST, Report


class _State(threading.local):
    inside = False


def time_operations(report: Report) -> Callable[[], None]:
    """Time the operations for a report, and return a function that ends it."""
    state = _State()

    def timed(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        host_only = getattr(function, "host_only", False)

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            if state.inside or current_scope() is not None or not tf.executing_eagerly():
                return function(*args, **kwargs)
            eager, host = counts.eager, counts.host
            state.inside = True
            start = perf_counter()
            try:
                return function(*args, **kwargs)
            finally:
                state.inside = False
                try:
                    add(perf_counter() - start, counts.eager > eager, counts.host > host)
                except Exception as error:
                    note_fault(error)

        def add(seconds: float, is_eager: bool, is_handed_over: bool) -> None:
            if is_eager and not is_handed_over:
                report.eager.add(seconds)
            else:
                report.host.add(seconds)
                why = HOST_ONLY if host_only else HANDED_OVER if is_handed_over else ON_HOST
                report.add_place(seconds, name, *user_location(), why)

        return wrapper

    call = JittedFunction.__call__

    @functools.wraps(call)
    def call_outside(jitted_function: JittedFunction, /, *args: Any, **kwargs: Any) -> Any:
        # The function's work is not part of the operation that called it, such as vectorize.
        inside, state.inside = state.inside, False
        try:
            return call(jitted_function, *args, **kwargs)
        finally:
            state.inside = inside

    undo = default_floats.replace_entry_points(timed)
    JittedFunction.__call__ = call_outside  # type: ignore[method-assign]

    def end() -> None:
        JittedFunction.__call__ = call  # type: ignore[method-assign]
        undo()

    return end
