"""Loops with independent iterations: `out[i] = value(i)`, computed for all i at once."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.arrays.array.ndarray import is_array, scalar, storage_of, tensor_array, weak_scalar
from np2tf.arrays.front.at import at
from np2tf.arrays.operands.conversion import as_tensor
from np2tf.arrays.tensors.axis_reductions import reduce_any
from np2tf.arrays.tensors.batches import quiet_tensorflow
from np2tf.arrays.tensors.graphs import new_graph, new_placeholder
from np2tf.arrays.tensors.storage import aliases, current_scope, staging_scope
from np2tf.arrays.tensors.symbolic_integers import SymInt
from np2tf.arrays.tensors.violations import record_violation
from np2tf.core.errors import StagingError
from np2tf.core.operators import UNROLL
from np2tf.staging.control.attributes import attributes_within
from np2tf.staging.control.statements import for_loop
from np2tf.staging.trace.trace import Trace, trace_of
from np2tf.staging.trace.traced_arguments import same_contents
from np2tf.staging.values.containers import guard_closures

#: On a CPU an iteration of a loop that XLA compiles takes some ten nanoseconds, which batching cannot
#: improve. A loop with these ops stays a graph, whose iterations take microseconds; batches were 3 to 9 times
#: faster (5,000 iterations).
BATCH_OPS = frozenset(
    {"Cholesky", "MatrixInverse", "MatrixSolve", "MatrixTriangularSolve", "FFT", "IFFT", "RFFT"}
)
#: The limit for the memory of all iterations together, in elements of the largest array.
LARGEST = 2**24
_LOOPS = frozenset({"While", "StatelessWhile", "If", "StatelessIf", "Case", "StatelessCase"})


def map_loop(iterable: Any, value: Callable[[Any], Any], out: Any) -> Any:
    """Do ``for i in iterable: out[i] = value(i)``, and return `out`.

    While staging, `tf.vectorized_map` computes the values of all iterations at once, if `value` visibly
    neither reads nor writes anything that the loop writes, and if that is faster. Otherwise the iterations
    run as a loop.

    Args:
        iterable: any iterable of indices.
        value: (i) -> an array or number that can be assigned to ``out[i]``.
        out: an array of any shape of rank 1 or more, and any dtype.

    Returns:
        `out` with the values written to it.

    Raises:
        StagingError: if the loop cannot be staged with Python's meaning kept.

    See https://www.tensorflow.org/api_docs/python/tf/vectorized_map.
    """
    if current_scope() is None and tf.executing_eagerly():
        for i in iterable:
            out = at(out)[i].set(value(i))
        return out
    result = _at_once(iterable, value, out)
    if result is not None:
        return result
    return for_loop(iterable, lambda i, out: at(out)[i].set(value(i)), out)


@dataclass(frozen=True)
class _TrialResult:
    """The facts about one iteration that a trial has shown."""

    rank: int
    checks: bool


def _at_once(iterable: Any, value: Callable[[Any], Any], out: Any) -> Any:
    """Return `out` with the values of all iterations written to it; None if the iterations should run as a
    loop.
    """
    scope = current_scope()
    if scope is None or not _fits(iterable, out):
        return None
    try:
        trial = _trial(trace_of(scope), iterable, value, out)
        if trial is None:
            return None
        with quiet_tensorflow():
            values = _values(trace_of(scope), iterable, value, trial, out.dtype)
    except (StagingError, ValueError, NotImplementedError):
        # There is no vectorised form. The loop reports the error, if there is any.
        return None
    axis_count = len(out.shape) - 1 - trial.rank
    shape = values.shape.as_list()
    values = tf.reshape(values, [shape[0], *[1] * axis_count, *shape[1:]])
    return at(out)[iterable.start : iterable.stop : iterable.step].set(tensor_array(values))


def _fits(iterable: Any, out: Any) -> bool:
    """Return whether the iterable is a range of valid indices of an array, known while staging."""
    if not isinstance(iterable, builtins.range) or iterable.step < 1 or len(iterable) <= UNROLL:
        return False
    if not is_array(out) or type(out) is scalar or not out.shape:
        return False
    length = out.shape[0]
    return isinstance(length, int) and iterable.start >= 0 and iterable[-1] < length


def _number(iterable: builtins.range, counter: tf.Tensor) -> Any:
    position = counter * iterable.step + iterable.start
    return weak_scalar(position, int, SymInt.fresh(position, iterable[0], iterable[-1]))


def _trial(
    trace: Trace, iterable: builtins.range, value: Callable[[Any], Any], out: Any
) -> _TrialResult | None:
    """Trace one iteration into a throw-away graph, and return its facts; None if it is not independent."""
    with new_graph("iteration").as_default() as graph:
        counter = new_placeholder(tf.int64, ())
        guard = guard_closures(value)
        objects = attributes_within(trace, value)
        before = objects.read()
        with staging_scope(trace) as scope, _stand_in_memory(out) as stand_ins:
            try:
                result, after = objects.run_apart(lambda: value(_number(iterable, counter)))
                row = as_tensor(result, out.dtype)
            finally:
                writes, poisoned_storages = set(scope.writes), list(scope.poisoned_storages)
                scope.undo()
                guard.check()
        operations = graph.get_operations()
    if not all(map(same_contents, before, after)):
        return None
    if (
        writes - {trace.violations}
        or poisoned_storages
        or any(stand_in.consumers() for stand_in in stand_ins)
    ):
        return None
    if trace.device == "cpu" and not BATCH_OPS.intersection(operation.type for operation in operations):
        return None
    inner_operations = [
        operation for operation in operations if operation.type != "Placeholder"
    ]  # placeholders are values from outside
    sizes = [tensor.shape.num_elements() for operation in inner_operations for tensor in operation.outputs]
    if any(operation.type in _LOOPS for operation in operations) or None in sizes or row.shape.rank is None:
        return None
    largest = max(size for size in sizes if size is not None)
    if largest * len(iterable) > LARGEST or row.shape.rank >= len(out.shape):
        return None
    return _TrialResult(row.shape.rank, trace.violations in writes)


@contextmanager
def _stand_in_memory(out: Any) -> Iterator[list[tf.Tensor]]:
    """Replace the values of `out` and its possible aliases by placeholders, so that reads of them are
    noticed.
    """
    storages = [storage_of(out), *aliases(storage_of(out))]
    before = [storage.value for storage in storages]
    placeholders = [new_placeholder(value.dtype, value.shape) for value in before]
    try:
        for storage, stand_in in zip(storages, placeholders, strict=True):
            storage.rebase(stand_in)
        yield placeholders
    finally:
        for storage, value in zip(storages, before, strict=True):
            storage.rebase(value)


def _values(
    trace: Trace,
    iterable: builtins.range,
    value: Callable[[Any], Any],
    trial_result: _TrialResult,
    dtype: np.dtype[Any],
) -> tf.Tensor:
    """Return the values of all iterations, as rows."""

    def row(counter: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        before = trace.violations.value
        with staging_scope(trace), trace.all_at_once():
            trace.violations.rebase(tf.constant(False))
            try:
                return as_tensor(value(_number(iterable, counter)), dtype), trace.violations.value
            finally:
                trace.violations.rebase(before)

    counters = tf.range(len(iterable), dtype=tf.int64)
    rows, violations = tf.vectorized_map(row, counters, fallback_to_while_loop=False)
    if trial_result.checks:
        record_violation(reduce_any(violations))
    return rows
