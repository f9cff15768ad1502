"""Loops under XLA over a part of run-time length, some elements at a time.

XLA compiles a small loop to one piece of machine code, so that the cost of the loop follows the length of the
part. Measured in milliseconds for NumPy / whole arrays with a mask / these loops: 8,192 inner products of 1
to 8,191 elements 21 / 63 / 5.1; 8,000 updates `y[:k] += c * y[:k][::-1]` 57 / 63 / 22. The last round starts
early enough to end with the part, and skips the elements that the round before has computed. A part shorter
than one round is computed in rounds of 8 elements, or of one element. So nothing beyond a part is ever read.
(A choice between slices of static lengths, n / 8, 2 n / 8 …, took 63 ms for 6,000 rows for which rounds took
26.)
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import tensorflow as tf

from np2tf.tnp._tensor.index_bounds import suspend_recording
from np2tf.tnp._tensor.storage import staged_device, staging_at_once, staging_to_discard

#: Arrays of fewer elements are computed as a whole (microseconds for an inner product, whole and in rounds:
#: 256 elements 0.42 and 0.42, 512 elements 0.24 and 0.25, 1,024 elements 0.45 and 0.18, 2,048 elements 0.78
#: and 0.19).
MIN_PART = 600
#: In arrays of at least LARGE_ARRAY elements, parts of at least MIN_PART_OF_LARGE elements are written in
#: rounds, too.
#: Otherwise XLA may compute the written elements again for the next reader, and copy the whole array for that
#: (a column and the trailing block of 500 × 500, an LU step: 105 µs, with rounds for both 30 µs).
LARGE_ARRAY, MIN_PART_OF_LARGE = 2**14, 64
#: The size of one round: 64 for short arrays (8,192 inner products as above: 64 elements 5.1 ms, 16 elements
#: 45, 512 elements 9), more for long selections (`b[w:] = maximum(b[w:], b[:-w] + v)` of 60,000: 64 elements
#: 61 µs, 1,024 elements 35 µs), so that no strand of a sum has many more than 128 terms.
_MIN_CHUNK, _MAX_CHUNK, _MAX_TERMS = 64, 1024, 128
#: The largest number of elements of a round over all axes (updates of 500 × 500: rounds of one row 32 µs, of
#: 32 rows 20, of 128 rows, which are too large for XLA, 25).
_MAX_WHOLE = 2**14
_FEW_AT_A_TIME = 8

#: A function of the first element, the number of elements, the number of these that the round before has
#: computed, and the state; it returns the state after the round.
Step = Callable[[tf.Tensor, int, tf.Tensor, Any], Any]


def elements_of_round(
    shape: list[int | None], axis: int, least: int | None = None, room: int = 0
) -> int | None:
    """Return the number of elements along an axis that a round computes; None if the whole array is faster.

    Args:
        shape: the shape of the whole array.
        axis: the axis along which the part is cut.
        least: the length of the shortest array along this axis.
        room: the number of elements of the array that is written to; 0 if none is written to.
    """
    # An accelerator starts a new program for every round.
    if staging_at_once() or staged_device() != "cpu" or None in shape:
        return None
    sizes = [size for size in shape if size is not None]
    if prod(sizes) < (MIN_PART if room < LARGE_ARRAY else MIN_PART_OF_LARGE):
        return None
    length = sizes[axis]
    limit = max(_MAX_WHOLE // max(prod(sizes) // length, 1), 1)
    elements = min(
        max(length // _MAX_TERMS, _MIN_CHUNK), _MAX_CHUNK, limit, length if least is None else least
    )
    return 2 ** (elements.bit_length() - 1) if elements > 0 else None


def run_rounds(length: tf.Tensor, elements: int, step: Step, state: tf.Tensor) -> tf.Tensor:
    """Return the state after all rounds over `length` elements.

    Args:
        length: the number of elements, known at run time.
        elements: the number of elements in a round; a shorter rest is computed in smaller rounds.
        step: computes one round.
        state: the state before the first round.
    """
    if staging_to_discard():  # one element tells as much, in a tenth of the operations
        with suspend_recording():
            return step(tf.zeros((), tf.int64), 1, tf.zeros((), tf.int64), state)
    sizes = [size for size in (elements, _FEW_AT_A_TIME, 1) if size == elements or size < elements // 2]
    if sizes[-1] != 1:
        sizes.append(1)
    shorter_than = None
    for size in sizes:
        rounds = (length + (size - 1)) // size
        active = length >= size
        if shorter_than is not None:
            active = tf.logical_and(active, length < shorter_than)
        shorter_than = size
        state = _loop(tf.where(active, rounds, 0), length, size, step, state)
    return state


def _loop(rounds: tf.Tensor, length: tf.Tensor, size: int, step: Step, state: tf.Tensor) -> tf.Tensor:
    def body(number: tf.Tensor, state: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        first = tf.minimum(number * size, length - size)
        with suspend_recording():
            return number + 1, step(first, size, number * size - first, state)

    def test(number: tf.Tensor, _: tf.Tensor) -> tf.Tensor:
        return number < rounds

    return tf.while_loop(test, body, (tf.zeros((), tf.int64), state))[1]


def not_yet_computed(count: int, done_count: tf.Tensor, axis: int, rank: int) -> tf.Tensor:
    """Return which elements of a round the previous round has not computed, shaped to broadcast.

    Args:
        count: the number of elements of a round.
        done_count: the number of elements that are computed already.
        axis: the axis of the rounds.
        rank: the number of axes of the array.

    Returns:
        A boolean tensor of `rank` axes: `count` elements along `axis`, one along each other axis.
    """
    mask = tf.range(count, dtype=tf.int64) >= done_count
    return tf.reshape(mask, [count if k == axis else 1 for k in range(rank)])


def with_gradient_of(whole: tf.Tensor, result: tf.Tensor) -> tf.Tensor:
    """Return the result of the rounds, with the gradient of the same computation on whole arrays.

    XLA removes the computation on whole arrays if no gradient is asked for.
    """
    if not (whole.dtype.is_floating or whole.dtype.is_complex):
        return result
    with tf.compat.v1.get_default_graph().gradient_override_map({"IdentityN": _GRADIENT}):
        return tf.identity_n([result, whole])[0]


_GRADIENT = "Np2tfWholeArrays"


@tf.RegisterGradient(_GRADIENT)
def _gradient_of_whole(op: tf.Operation, *gradients: tf.Tensor) -> tuple[None, tf.Tensor]:
    return None, gradients[0]
