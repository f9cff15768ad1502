"""Loops under XLA over a part whose length is known at run time only, some elements at a time.

XLA compiles a small loop in one piece of machine code, so that such a loop costs what the part is long
(measured, milliseconds for 8,192 inner products of 1 to 8,191 elements: NumPy 21, whole arrays and a mask 63,
these loops 5.1; for 8,000 updates `y[:k] += c * y[:k][::-1]`: 57, 63, 22). The last round goes back to where
it ends with the part, and leaves alone what the one before has done; what is shorter than one round is done
in rounds of 8 elements, or of one. So nothing is read from beyond a part. (A choice between slices of static
lengths, n / 8, 2 n / 8 …, took 63 ms for 6,000 rows of which rounds took 26.)
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import tensorflow as tf

from np2tf.tnp._front.operand_kinds import surroundings
from np2tf.tnp._tensor.index_bounds import unrecorded
from np2tf.tnp._tensor.storage import staging_at_once

#: Arrays of fewer elements are worked on as a whole (microseconds for an inner product, whole and in rounds:
#: 256 elements 0.42 and 0.42, 512 elements 0.24 and 0.25, 1,024 elements 0.45 and 0.18, 2,048 elements 0.78
#: and 0.19).
FEW = 600
#: In arrays of so many elements, parts of so many are written in rounds all the same: what XLA writes by a
#: kernel it likes to compute once more for whatever reads the array next, and copies the whole for that
#: (a column and the trailing block of 500 × 500, an LU step: 105 µs, with rounds for both 30 µs).
MANY, FEW_OF_MANY = 2**14, 64
#: Elements of one round: 64 for short arrays (8,192 inner products as above: 64 elements 5.1 ms, 16 elements
#: 45, 512 elements 9), more for long ones (`b[w:] = maximum(b[w:], b[:-w] + v)` of 60,000: 64 elements
#: 61 µs, 1,024 elements 35 µs), so that no strand of a sum has many more than 128 terms.
_LEAST, _MOST, _TERMS = 64, 1024, 128
#: All elements of a round, those of other axes included (updates of 500 × 500: rounds of one row 32 µs, of 32
#: rows 20 µs, of 128 rows, which XLA takes for too large, 25 µs).
_ALL = 2**14
_FEW_AT_A_TIME = 8

#: (first, count, how many of these the round before has done, state) -> the state after the round.
Step = Callable[[tf.Tensor, int, tf.Tensor, Any], Any]


def elements_of_round(
    shape: list[int | None], axis: int, least: int | None = None, room: int = 0
) -> int | None:
    """How many elements along an axis a round takes; None where the whole array is quicker.

    Args:
        shape: of the whole array.
        axis: along which its part is cut.
        least: the length of the shortest of the arrays along this axis.
        room: how many elements there are of the array that is written to, if one is.
    """
    # An accelerator starts every round by itself.
    if staging_at_once() or surroundings.has_accelerator or None in shape:
        return None
    sizes = [size for size in shape if size is not None]
    if prod(sizes) < (FEW if room < MANY else FEW_OF_MANY):
        return None
    length = sizes[axis]
    fitting = max(_ALL // max(prod(sizes) // length, 1), 1)
    wanted = min(max(length // _TERMS, _LEAST), _MOST, fitting, length if least is None else least)
    return 2 ** (wanted.bit_length() - 1) if wanted > 0 else None


def over(length: tf.Tensor, elements: int, step: Step, state: tf.Tensor) -> tf.Tensor:
    """The state after all rounds over `length` elements, `elements` at a time."""
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
        with unrecorded():
            return number + 1, step(first, size, number * size - first, state)

    def test(number: tf.Tensor, _: tf.Tensor) -> tf.Tensor:
        return number < rounds

    return tf.while_loop(test, body, (tf.zeros((), tf.int64), state))[1]


def undone(count: int, done: tf.Tensor, axis: int, rank: int) -> tf.Tensor:
    """Which elements of a round the round before has not done, shaped to broadcast along an axis."""
    mask = tf.range(count, dtype=tf.int64) >= done
    return tf.reshape(mask, [count if k == axis else 1 for k in range(rank)])


def with_gradient_of(whole: tf.Tensor, found: tf.Tensor) -> tf.Tensor:
    """What the rounds have found, with the gradient of the same computed on the whole arrays.

    XLA leaves out what computes the whole arrays where no gradient is asked for.
    """
    if not (whole.dtype.is_floating or whole.dtype.is_complex):
        return found
    with tf.compat.v1.get_default_graph().gradient_override_map({"IdentityN": _GRADIENT}):
        return tf.identity_n([found, whole])[0]


_GRADIENT = "Np2tfWholeArrays"


@tf.RegisterGradient(_GRADIENT)
def _gradient_of_whole(op: tf.Operation, *gradients: tf.Tensor) -> tuple[None, tf.Tensor]:
    return None, gradients[0]
