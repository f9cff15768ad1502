"""Effects of compiled code, collected or written into a log by XLA programs, and performed once the call is
accepted.
"""

from __future__ import annotations

import builtins
import sys
import threading
from collections.abc import Callable, Collection, Iterable, Sequence
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import tensorflow as tf
from tensorflow.compiler.tf2xla.ops import gen_xla_ops

from np2tf.arrays.tensors.graphs import default_graph
from np2tf.arrays.tensors.storage import StagingScope, Storage
from np2tf.arrays.tensors.violations import record_violation
from np2tf.core.errors import EffectError

if TYPE_CHECKING:
    from np2tf.arrays.tensors.trace import TraceContext
    from np2tf.staging.trace.trace import Trace
    from np2tf.staging.values.text import CapturedValues


# -- effect log ----------------------------------------------------------------------------------------------
# Effects of code that XLA compiles. Such code cannot call back to the host, so it writes the effects into a
# log.
#
# A record is the number of an effect, and the numbers that the effect shows. Branches put records into a
# small queue, so that they pass on little data; the body of a loop moves the queue to the log, in place.
# When the compiled code is done, the host reads the log and performs the effects in order.

#: The limits for the records in a call, the records in an iteration outside of its inner loops, and the
#: numbers in an effect. With more records, the call is discarded; with more numbers, XLA does not compile the
#: code.
RECORDS, QUEUE_LENGTH, NUMBERS = 16384, 32, 8

#: The values of an effect's tensors -> the effect.
Make = Callable[[Sequence[np.ndarray]], Any]
#: The dtype and shape of each tensor of an effect.
_Forms = list[tuple[np.dtype[Any], tuple[int, ...]]]


class EffectLog:
    """The log of one trace."""

    def __init__(self, graph: tf.Graph) -> None:
        self._kinds: list[tuple[_Forms, Make]] = []
        with graph.as_default():
            self._records = _storage([RECORDS + QUEUE_LENGTH, 1 + NUMBERS])
            self._count = _storage([])
            self._queue = _storage([QUEUE_LENGTH, 1 + NUMBERS])
            self._queue_count = _storage([])

    def add(self, tensors: Sequence[tf.Tensor], make: Make, is_text: bool) -> None:
        """Put an effect into the queue.

        Raises:
            StagingError: if the effect has too many numbers, or shows floats, because text depends on every
                digit.
        """
        if is_text and not all(tensor.dtype.is_integer or tensor.dtype.is_bool for tensor in tensors):
            raise EffectError("it prints floats, whose last digits XLA may change")
        if any(tensor.dtype.is_complex for tensor in tensors):
            raise EffectError("an effect shows complex numbers")
        sizes = [tensor.shape.num_elements() for tensor in tensors]
        if None in sizes or sum(sizes) > NUMBERS:
            raise EffectError(f"an effect shows more than {NUMBERS} numbers")
        numbers = [tf.reshape(_as_int64(tensor), [-1]) for tensor in tensors]
        padding = tf.zeros([NUMBERS - sum(sizes)], tf.int64)
        row = tf.concat([[tf.constant(len(self._kinds), tf.int64)], *numbers, padding], 0)
        self._kinds.append(
            ([(np.dtype(tensor.dtype.as_numpy_dtype), tuple(tensor.shape)) for tensor in tensors], make)
        )
        self._queue.write(_put(self._queue.value, row[None], self._queue_count.value))
        self._queue_count.write(self._queue_count.value + 1)

    def is_of(self, storages: Collection[Storage]) -> bool:
        """Return whether a loop that writes these storages has effects."""
        return self._queue_count in storages

    def move_queue(self, scope: StagingScope) -> None:
        """Move the records in the queue to the end of the log, at the end of a loop's body."""
        if not self.is_of(scope.writes):
            return
        count, queue_size = self._count.value, self._queue_count.value
        record_violation((queue_size > QUEUE_LENGTH) | (count + queue_size > RECORDS))
        self._records.write(_put(self._records.value, self._queue.value, count))
        self._count.write(count + queue_size)
        self._queue_count.write(tf.zeros_like(queue_size))

    def flush(self) -> list[tf.Tensor]:
        """Return the queue and its length, and the log and its length if it is used; both are empty
        afterwards.
        """
        storages = [self._queue, self._queue_count]
        if self._count.value.op.type != "Const":
            storages += [self._records, self._count]
        if len(self._kinds) > QUEUE_LENGTH:
            record_violation(self._queue_count.value > QUEUE_LENGTH)
        values = [storage.value for storage in storages]
        for storage in (self._count, self._queue_count):
            storage.write(tf.zeros_like(storage.value))
        return values

    def effects(self, values: Sequence[np.ndarray]) -> list[Any]:
        """Return the effects that the values of `flush` record."""
        queue, queue_size, *log = values
        rows = [*(log[0][: int(log[1])] if log else ()), *queue[: int(queue_size)]]
        return [self._effect(row) for row in rows]

    def _effect(self, row: np.ndarray) -> Any:
        forms, make = self._kinds[row[0]]
        values, start = [], 1
        for dtype, shape in forms:
            size = int(np.prod(shape))
            part = row[start : start + size]
            values.append(_from_int64(part, dtype).reshape(shape))
            start += size
        return make(values)

    def mark(self) -> int:
        """Return the number of traced effects, for `forget`."""
        return len(self._kinds)

    def forget(self, mark: int) -> None:
        """Remove the effects of a throw-away trace."""
        del self._kinds[mark:]


def _storage(shape: list[int]) -> Storage:
    storage = Storage(tf.zeros(shape, tf.int64))
    storage.birth = None  # older than every scope
    return storage


def _as_int64(x: tf.Tensor) -> tf.Tensor:
    if x.dtype.is_floating:
        return tf.bitcast(tf.cast(x, tf.float64), tf.int64)
    return tf.bitcast(x, tf.int64) if x.dtype == tf.uint64 else tf.cast(x, tf.int64)


def _from_int64(x: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
    if dtype.kind == "f":
        return x.view(np.float64).astype(dtype)
    return x.view(dtype) if dtype == np.uint64 else x.astype(dtype)


def _put(rows: tf.Tensor, new: tf.Tensor, place: tf.Tensor) -> tf.Tensor:
    return gen_xla_ops.xla_dynamic_update_slice(rows, new, tf.stack([place, tf.zeros_like(place)]))


# -- output --------------------------------------------------------------------------------------------------
# The prints of a compiled call, and its other effects on the host, collected until the call is accepted.
#
# The host repeats a discarded call.


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


class Effects:
    """The effects of the code of one trace, in their order.

    Attributes:
        output: collects the effects of each call; None if nothing does.
        log: the effects of code that XLA compiles; None if there are none.
        order: a storage that every effect of a graph reads and writes, which keeps them in order.
        options: NumPy's print options when the trace began.
    """

    def __init__(self) -> None:
        self.output: Output | None = None
        self.log: EffectLog | None = None
        self.order = Storage(tf.constant(0))
        self.options: dict[str, Any] = {**np.get_printoptions()}
        self._graph = default_graph()

    def put_in_log(self, tensors: Sequence[tf.Tensor], make: Make, is_text: bool) -> None:
        """Let code that XLA compiles write an effect into the log; refuse one that the log cannot hold."""
        if self.log is None:
            self.log = EffectLog(self._graph)
        self.log.add(tensors, make, is_text)

    def put_in_graph(
        self, tensors: Sequence[tf.Tensor], make: Callable[[Sequence[np.ndarray]], Iterable[Effect]]
    ) -> None:
        """Let a graph pass effects on to the host, after the earlier effects."""
        output = self.output
        assert output is not None

        def add(count: np.ndarray, *values: np.ndarray) -> np.ndarray:
            output.add(lambda: make(values))
            return count + np.int32(1)

        order = tf.numpy_function(add, [self.order.value, *tensors], tf.int32)
        self.order.write(tf.ensure_shape(order, ()))

    def put_logged(self, storages: Collection[Storage]) -> None:
        """In a graph, perform the effects of a loop that XLA has compiled and that writes these storages."""
        if self.log is not None and self.log.is_of(storages):
            self.put_in_graph(self.log.flush(), self.log.effects)

    def move_queue(self, scope: StagingScope) -> None:
        """Move the records in the log's queue to the end of the log, at the end of a loop's body."""
        if self.log is not None:
            self.log.move_queue(scope)

    def mark(self) -> int:
        """Return the number of effects in the log, for `forget`."""
        return self.log.mark() if self.log is not None else 0

    def forget(self, mark: int) -> None:
        """Remove the effects of a throw-away trace from the log."""
        if self.log is not None:
            self.log.forget(mark)


def put_in_order(
    context: TraceContext,
    captures: CapturedValues,
    make: Callable[[Sequence[np.ndarray]], Effect],
    is_text: bool = True,
) -> None:
    """Perform an effect at every run, after the earlier effects.

    Args:
        make: makes the effect from the values of the staged parts of `captures`.
        is_text: whether the effect shows these values as text, so that their last digits count.

    Raises:
        StagingError: if the effects of this code cannot be collected, or XLA compiles it and a log cannot
            hold the effect.
    """
    trace = cast("Trace", context)  # traces lie above effects
    if trace.at_once or trace.effects.output is None:
        raise EffectError("it prints or has other ordered effects, which only a graph can do")
    if captures.tensors and is_text:
        trace.shown_text.make_text()
    # The options of a traced `with np.printoptions(…)`; other options are the caller's.
    now: dict[str, Any] = {**np.get_printoptions()}
    options = {name: value for name, value in now.items() if value != trace.effects.options[name]}

    def format_values(values: Sequence[np.ndarray]) -> Effect:
        with np.printoptions(**options):
            return make(values)

    if trace.xla:
        trace.effects.put_in_log(captures.tensors, format_values, is_text)
    else:
        trace.effects.put_in_graph(captures.tensors, lambda values: [format_values(values)])
