"""Effects of code that XLA compiles, which cannot call back to the host: it writes them into a log.

A record is a number that says which effect, and the numbers that the effect tells of. Branches put records
into a small queue, so that they hand on little; the body of a loop moves the queue to the log, in place. When
the compiled code is done, the host reads the log and has the effects in their order.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.compiler.tf2xla.ops import gen_xla_ops

from np2tf.staging import EffectError
from np2tf.tnp._tensor.index_bounds import record_violation
from np2tf.tnp._tensor.storage import StagingScope, Storage

#: How many records there may be in a call, how many in an iteration outside of the loops in it, and how many
#: numbers an effect may tell of. Where there are more, the call is discarded, or no code for XLA.
RECORDS, QUEUED, NUMBERS = 16384, 32, 8

#: The values of an effect's tensors -> the effect.
Make = Callable[[Sequence[np.ndarray]], Any]
#: For each tensor of an effect its dtype and shape.
_Forms = list[tuple[np.dtype[Any], tuple[int, ...]]]


class EffectLog:
    """The log of one trace.

    Args:
        graph: where the trace is at home.
    """

    def __init__(self, graph: tf.Graph) -> None:
        self._kinds: list[tuple[_Forms, Make]] = []
        with graph.as_default():
            self._records = _storage([RECORDS + QUEUED, 1 + NUMBERS])
            self._count = _storage([])
            self._queue = _storage([QUEUED, 1 + NUMBERS])
            self._queued = _storage([])

    def add(self, tensors: Sequence[tf.Tensor], make: Make, is_text: bool) -> None:
        """Put an effect into the queue.

        Raises:
            StagingError: it tells of more than a few numbers, or shows floats: text hangs on every digit.
        """
        if is_text and not all(one.dtype.is_integer or one.dtype.is_bool for one in tensors):
            raise EffectError("it prints floats, whose last digits XLA may change")
        if any(one.dtype.is_complex for one in tensors):
            raise EffectError("an effect tells of complex numbers")
        sizes = [one.shape.num_elements() for one in tensors]
        if None in sizes or sum(sizes) > NUMBERS:
            raise EffectError(f"an effect tells of more than {NUMBERS} numbers")
        numbers = [tf.reshape(_as_int64(one), [-1]) for one in tensors]
        unused = tf.zeros([NUMBERS - sum(sizes)], tf.int64)
        row = tf.concat([[tf.constant(len(self._kinds), tf.int64)], *numbers, unused], 0)
        self._kinds.append(
            ([(np.dtype(one.dtype.as_numpy_dtype), tuple(one.shape)) for one in tensors], make)
        )
        self._queue.write(_put(self._queue.value, row[None], self._queued.value))
        self._queued.write(self._queued.value + 1)

    def is_of(self, storages: Collection[Storage]) -> bool:
        """Whether a loop that writes these storages has effects."""
        return self._queued in storages

    def move_queue(self, scope: StagingScope) -> None:
        """At the end of a loop's body: move what is in the queue behind what is in the log."""
        if not self.is_of(scope.writes):
            return
        count, queued = self._count.value, self._queued.value
        record_violation((queued > QUEUED) | (count + queued > RECORDS))
        self._records.write(_put(self._records.value, self._queue.value, count))
        self._count.write(count + queued)
        self._queued.write(tf.zeros_like(queued))

    def flush(self) -> list[tf.Tensor]:
        """The records in the queue and their number, and those in the log, if any; both are empty then."""
        storages = [self._queue, self._queued]
        if self._count.value.op.type != "Const":
            storages += [self._records, self._count]
        if len(self._kinds) > QUEUED:
            record_violation(self._queued.value > QUEUED)
        values = [storage.value for storage in storages]
        for storage in (self._count, self._queued):
            storage.write(tf.zeros_like(storage.value))
        return values

    def effects(self, values: Sequence[np.ndarray]) -> list[Any]:
        """The effects that the values of `flush` tell of."""
        queue, queued, *log = values
        rows = [*(log[0][: int(log[1])] if log else ()), *queue[: int(queued)]]
        return [self._effect(row) for row in rows]

    def _effect(self, row: np.ndarray) -> Any:
        forms, make = self._kinds[row[0]]
        given, start = [], 1
        for dtype, shape in forms:
            size = int(np.prod(shape))
            part = row[start : start + size]
            given.append(_from_int64(part, dtype).reshape(shape))
            start += size
        return make(given)

    def mark(self) -> int:
        """How many effects have been traced, for `forget`."""
        return len(self._kinds)

    def forget(self, mark: int) -> None:
        """Forget the effects of a throw-away trace."""
        del self._kinds[mark:]


def _storage(shape: list[int]) -> Storage:
    made = Storage(tf.zeros(shape, tf.int64))
    made.birth = None  # older than every scope
    return made


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
