"""Checks of indices and lengths: an error at once if the value is known, else a violation that discards the
call.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import tensorflow as tf

from np2tf.arrays.tensors.storage import Storage, current_scope, staging_handlers
from np2tf.arrays.tensors.symbolic_integers import Int, SymInt
from np2tf.core.settings import config

# -- index bounds --------------------------------------------------------------------------------------------
# Bounds checks of integer indices: at once if the index is known, at run time if it is staged.
#
# XLA clamps an index that is out of bounds; NumPy raises IndexError. An index that staging cannot prove to
# be in bounds therefore records a violation in the trace. A compiled call with a violation is discarded
# before it has changed anything, and repeated on the host, where NumPy raises.


def check_index(index: Int, length: int, axis: int) -> Int:
    """Return `index` as a position counted from the start. A staged index may record a violation.

    Raises:
        IndexError: a known index is out of bounds.
    """
    if isinstance(index, int):
        if not -length <= index < length:
            raise IndexError(f"index {index} is out of bounds for axis {axis} with size {length}")
        return index + length if index < 0 else index
    if index.in_range(length):
        return index
    if index.high is not None and index.low is not None and index.high < 0 and index.low >= -length:
        return index.plus(length)
    position = index
    if index.low is None or index.low < 0:
        position = SymInt.fresh(tf.where(index.tensor < 0, index.tensor + length, index.tensor))
    if checks_bounds():
        record_violation((position.tensor < 0) | (position.tensor >= length))
    return position


def checks_bounds() -> bool:
    """Return whether indices that are known only at run time are checked."""
    return config.bounds == "checked" or staging_handlers()


class _Recorder(threading.local):
    is_stopped = False
    condition: tf.Tensor | None = None


_recorder = _Recorder()


@contextmanager
def suspend_recording() -> Iterator[None]:
    """Record no violations in the `with` block, which repeats a computation that has recorded them."""
    before, _recorder.is_stopped = _recorder.is_stopped, True
    try:
        yield
    finally:
        _recorder.is_stopped = before


@contextmanager
def record_only_if(condition: tf.Tensor | None) -> Iterator[None]:
    """Let the violations in the `with` block count only if a condition holds at run time; None for always."""
    before = _recorder.condition
    if condition is not None:
        _recorder.condition = condition if before is None else before & condition
    try:
        yield
    finally:
        _recorder.condition = before


@contextmanager
def apart(violations: Storage) -> Iterator[None]:
    """Let a trace's violations in the `with` block begin anew; at its end those before are back."""
    before = violations.value
    violations.rebase(tf.constant(False))
    try:
        yield
    finally:
        violations.rebase(before)


def may_discard() -> bool:
    """Return whether the call can be discarded at run time, so that the host repeats it."""
    scope = current_scope()
    return scope is not None and scope.trace.root is not None


def record_violation(violation: tf.Tensor) -> None:
    """Discard the call if `violation` is true at run time, and let the host repeat it, where NumPy raises."""
    if _recorder.is_stopped:
        return
    if _recorder.condition is not None:
        violation = _recorder.condition & violation
    scope = current_scope()
    if scope is not None:
        storage = scope.trace.violations
        storage.write(storage.value | violation)
    elif not tf.executing_eagerly():
        # In the graph of a plain tf.function there is no call to discard, so that the graph itself must fail.
        tf.Assert(tf.logical_not(violation), ["np2tf: NumPy would have raised an error here"])


def assume(condition: tf.Tensor) -> bool:
    """Return whether staged code may rely on a condition that is known only at run time.

    If the condition turns out to be false, the call is discarded, and repeated by code without assumptions.
    """
    scope = current_scope()
    if scope is None or not scope.trace.xla or not scope.trace.assumptions.is_allowed:
        return False
    scope.trace.assumptions.is_taken = True
    record_violation(tf.logical_not(condition))
    return True


def refuse_where(wrong: tf.Tensor, error: Exception) -> None:
    """Raise `error` if `wrong` is known to be true. If it is not known, record it as a violation."""
    value = tf.get_static_value(wrong)
    if value is None:
        record_violation(wrong)
    elif value:
        raise error


# -- size guards ---------------------------------------------------------------------------------------------
# Guards for lengths that must be equal and are known only at run time.
#
# TensorFlow's kernels detect most lengths that do not fit. XLA's translations detect few of them: they use
# the length of one operand.


def assert_same_size(
    a: tf.Tensor, axis: int, b: tf.Tensor, axis_of_b: int, stretches_ones: bool = False
) -> tf.Tensor:
    """Return `a` with a guard that one of its axes is as long as an axis of `b`; use the returned tensor.

    With `stretches_ones` a length of 1 fits every other length, as in broadcasting.
    """
    if a.shape[axis] is not None and a.shape[axis] == b.shape[axis_of_b]:
        return a
    sizes = tf.shape(a)
    length, other_length = sizes[axis], tf.shape(b)[axis_of_b]
    if stretches_ones:
        other_length = tf.where(tf.equal(length, 1) | tf.equal(other_length, 1), length, other_length)
    record_violation(tf.not_equal(length, other_length))
    if current_scope() is not None:
        return a
    # In a plain tf.function, XLA drops assertions, but refuses a reshape that does not fit.
    result = tf.reshape(a, tf.concat([sizes[:axis], other_length[None], sizes[axis % a.shape.rank + 1 :]], 0))
    result.set_shape(a.shape)
    return result
