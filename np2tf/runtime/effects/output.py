"""The prints of a compiled call, and its other effects on the host, collected until the call is accepted.

The host repeats a discarded call.
"""

from __future__ import annotations

import builtins
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import tensorflow as tf

from np2tf.staging import EffectError

if TYPE_CHECKING:
    from np2tf.runtime.effects.text import CapturedValues
    from np2tf.runtime.tracing.trace import Trace
    from np2tf.tnp._tensor.trace_context import TraceContext


@dataclass(frozen=True)
class PrintEffect:
    """One print: its text, the name of the stream in `sys`, and whether to flush the stream."""

    text: str
    stream: str
    flush: bool

    def show(self) -> None:
        """Print the text."""
        builtins.print(self.text, end="", file=getattr(sys, self.stream), flush=self.flush)


@dataclass(frozen=True)
class AppendEffect:
    """An item to append to a list of the caller's, the `place`-th of its mutable containers."""

    place: int
    item: Any


#: An effect that happens when the call is accepted.
Effect = Callable[[], None] | AppendEffect


def perform(effects: Iterable[Effect], holders: Sequence[Any]) -> None:
    """Perform the effects of a call, in order; `holders` are the caller's lists, dicts and objects."""
    for effect in effects:
        if isinstance(effect, AppendEffect):
            holders[effect.place].append(effect.item)
        else:
            effect()


@dataclass
class Output:
    """The effects of one compiled function. Its graph passes them on from threads of TensorFlow."""

    _lock: threading.Lock = field(default_factory=threading.Lock)
    _parts: list[Effect] = field(default_factory=list)
    _context: Context = field(default_factory=Context)

    def collect(self, run: Callable[[], Any]) -> tuple[Any, list[Effect]]:
        """Return the result of `run()`, and the effects to perform."""
        with self._lock:
            self._parts = []
            self._context = copy_context()  # np.printoptions of the caller
            return run(), self._parts

    def add(self, make: Callable[[], Iterable[Effect]]) -> None:
        """Collect effects, which are made in the context of the call."""
        self._parts += self._context.copy().run(make)


def put_in_order(
    context: TraceContext,
    captures: CapturedValues,
    make: Callable[[Sequence[np.ndarray]], Effect],
    is_text: bool = True,
) -> None:
    """Perform an effect at every run, after the earlier effects.

    Args:
        context: the trace of the function that is being staged.
        captures: the values that the effect shows.
        make: makes the effect from the values of the staged parts of `captures`.
        is_text: whether the effect shows these values as text, so that their last digits count.

    Raises:
        StagingError: if the effects of this code cannot be collected, or XLA compiles it and a log cannot
            hold the effect.
    """
    trace = cast("Trace", context)  # traces lie above effects
    if trace.at_once or trace.output is None:
        raise EffectError("it prints or has other effects in an order, which only a graph can")
    output = trace.output
    if captures.tensors and is_text:
        trace.shown_text.make_text()
    # The options of a traced `with np.printoptions(…)`; other options are the caller's.
    now: dict[str, Any] = {**np.get_printoptions()}
    options = {name: value for name, value in now.items() if value != trace.options[name]}

    def format_values(values: Sequence[np.ndarray]) -> Effect:
        with np.printoptions(**options):
            return make(values)

    if trace.xla:
        trace.effect_log().add(captures.tensors, format_values, is_text)
        return

    def add(count: np.ndarray, *values: np.ndarray) -> np.ndarray:
        output.add(lambda: [format_values(values)])
        return count + np.int32(1)

    order = tf.numpy_function(add, [trace.print_order.value, *captures.tensors], tf.int32)
    trace.print_order.write(tf.ensure_shape(order, ()))


def put_logged(trace: Trace) -> None:
    """In a graph, perform the effects of a loop that XLA has compiled, after the earlier effects."""
    output, log = trace.output, trace.log
    assert output is not None
    assert log is not None

    def add(count: np.ndarray, *values: np.ndarray) -> np.ndarray:
        output.add(lambda: log.effects(values))
        return count + np.int32(1)

    order = tf.numpy_function(add, [trace.print_order.value, *log.flush()], tf.int32)
    trace.print_order.write(tf.ensure_shape(order, ()))
