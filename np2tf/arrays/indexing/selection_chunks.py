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

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import tensorflow as tf
from tensorflow.compiler.tf2xla.ops import gen_xla_ops

from np2tf.arrays.indexing.selection import AxisMask, Round, Selection, part_of, span
from np2tf.arrays.tensors.axis_reductions import (
    reduce_all,
    reduce_any,
    reduce_in_lanes,
    reduce_prod,
    sum_of_axes,
)
from np2tf.arrays.tensors.graphs import default_graph
from np2tf.arrays.tensors.storage import staged_device, staging_at_once, staging_to_discard
from np2tf.arrays.tensors.symbolic_integers import constant
from np2tf.arrays.tensors.violations import suspend_recording

# -- chunked loops -------------------------------------------------------------------------------------------

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

    `least` is the length of the shortest array along the axis, and `room` the number of elements of the array
    that is written to (0 for none).
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
    """Return the state after all rounds over `length` elements, a number known at run time.

    A rest that is shorter than a round is computed in smaller rounds.
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
    """Return which elements of a round the previous round has not computed, as `rank` axes that broadcast."""
    mask = tf.range(count, dtype=tf.int64) >= done_count
    return tf.reshape(mask, [count if k == axis else 1 for k in range(rank)])


def with_gradient_of(whole: tf.Tensor, result: tf.Tensor) -> tf.Tensor:
    """Return the result of the rounds, with the gradient of the same computation on whole arrays.

    XLA removes the computation on whole arrays if no gradient is asked for.
    """
    if not (whole.dtype.is_floating or whole.dtype.is_complex):
        return result
    with default_graph().gradient_override_map({"IdentityN": _GRADIENT}):
        return tf.identity_n([result, whole])[0]


_GRADIENT = "Np2tfWholeArrays"


@tf.RegisterGradient(_GRADIENT)
def _gradient_of_whole(op: tf.Operation, *gradients: tf.Tensor) -> tuple[None, tf.Tensor]:
    return None, gradients[0]


# -- chunked reductions --------------------------------------------------------------------------------------
# Reductions and products of selections, in rounds over the elements that count.


@dataclass(frozen=True)
class Reduction:
    """A reduction in terms of operations on elements.

    Attributes:
        combine: combines two arrays element by element.
        finish: reduces the remaining lanes over axes.
        neutral: gives, for a dtype, the number that changes no result.
        truth: whether only the truth of the elements counts.
    """

    combine: Callable[[tf.Tensor, tf.Tensor], tf.Tensor]
    finish: Callable[[tf.Tensor, Sequence[int]], tf.Tensor]
    neutral: Callable[[tf.DType], Any]
    truth: bool = False


def _larger(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    return _unless_nan(a, b, tf.maximum(a, b))


def _smaller(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    return _unless_nan(a, b, tf.minimum(a, b))


def _unless_nan(a: tf.Tensor, b: tf.Tensor, extreme: tf.Tensor) -> tf.Tensor:
    if not extreme.dtype.is_floating:
        return extreme
    return tf.where(tf.logical_or(tf.math.is_nan(a), tf.math.is_nan(b)), a + b, extreme)


def _sum(x: tf.Tensor, axes: Sequence[int]) -> tf.Tensor:
    return reduce_in_lanes(sum_of_axes, tf.add, x, tuple(axes), False)


def _fold_pairs(combine: Callable[[tf.Tensor, tf.Tensor], tf.Tensor]) -> Callable[..., tf.Tensor]:
    """Return a reduction over axes that combines elements in pairs, and so treats NaN as `combine` does."""

    def finish(x: tf.Tensor, axes: Sequence[int]) -> tf.Tensor:
        for axis in sorted(axes, reverse=True):
            while x.shape[axis] > 1:
                half = (x.shape[axis] + 1) // 2
                # Combining an element with itself changes nothing.
                starts = (0, x.shape[axis] - half)
                x = combine(*(part_of(x, axis, constant(start), half) for start in starts))
            x = tf.squeeze(x, [axis])
        return x

    return finish


_COUNT = Reduction(tf.add, _sum, lambda dtype: 0)
REDUCTIONS = {
    "sum": _COUNT,
    "count_nonzero": _COUNT,
    "prod": Reduction(tf.multiply, reduce_prod, lambda dtype: 1),
    "any": Reduction(tf.logical_or, reduce_any, lambda dtype: False, truth=True),
    "all": Reduction(tf.logical_and, reduce_all, lambda dtype: True, truth=True),
    "max": Reduction(
        _larger, _fold_pairs(_larger), lambda dtype: dtype.min if dtype.is_integer else float("-inf")
    ),
    "min": Reduction(
        _smaller, _fold_pairs(_smaller), lambda dtype: dtype.max if dtype.is_integer else float("inf")
    ),
}


def round_of(selection: Selection, axes: Sequence[int]) -> tuple[int, int] | None:
    """Return the first of `axes` along which rounds are worth it, and the number of elements in a round; else
    None.
    """
    for axis in axes:
        part = selection.parts[axis]
        if part is not None and part.interval is not None:
            elements = elements_of_round(selection.whole.shape.as_list(), axis)
            if elements is not None:
                return axis, elements
    return None


def reduce_selection(name: str, selection: Selection, axes: Sequence[int], whole: tf.Tensor) -> tf.Tensor:
    """Return a reduction of a selection over axes, computed in rounds if that is faster than `whole`."""
    dtype, operand_dtype = whole.dtype, selection.whole.dtype
    plan = round_of(selection, axes)
    ordered = name not in ("max", "min") or (not operand_dtype.is_complex and not operand_dtype.is_bool)
    if plan is None or (dtype.size < 4 and dtype.is_floating) or not ordered or name not in REDUCTIONS:
        return whole
    axis, elements = plan
    how = REDUCTIONS[name]
    is_logical = how.truth or name == "count_nonzero"

    def values(first: tf.Tensor, count: int, round_entered: Round) -> tf.Tensor:
        part = selection.read(axis - len(selection.parts), first, count, round_entered)
        part = tf.not_equal(part, tf.zeros((), part.dtype)) if is_logical and not part.dtype.is_bool else part
        return tf.cast(part, tf.bool if how.truth else dtype)

    left = _accumulate_lanes(how, selection, axes, axis, elements, values, tf.bool if how.truth else dtype)
    return with_gradient_of(whole, tf.reshape(how.finish(left, axes), whole.shape))


def _accumulate_lanes(
    how: Reduction,
    selection: Selection,
    axes: Sequence[int],
    axis: int,
    elements: int,
    values: Callable[[tf.Tensor, int, Round], tf.Tensor],
    dtype: tf.DType,
) -> tf.Tensor:
    """Return the lanes of a reduction, side by side: as many as a round has elements."""
    part, rank = selection.parts[axis], len(selection.parts)
    assert part is not None
    assert part.interval is not None
    neutral = tf.constant(how.neutral(dtype), dtype)
    beside = selection.mask([k for k in axes if k != axis])
    shape = selection.whole.shape.as_list()
    shape[axis] = elements

    def step(first: tf.Tensor, count: int, done_count: tf.Tensor, strands: tf.Tensor) -> tf.Tensor:
        new = values(first, count, Round())
        mask = beside
        if count > 1:
            left = not_yet_computed(count, done_count, axis, rank)
            mask = left if mask is None else tf.logical_and(mask, left)
        new = new if mask is None else tf.where(mask, new, neutral)
        if count == elements:
            return how.combine(strands, new)
        start = tf.zeros((), tf.int64)
        new = how.combine(part_of(strands, axis, start, count), new)
        return gen_xla_ops.xla_dynamic_update_slice(strands, new, tf.zeros(rank, tf.int64))

    return run_rounds(span(part.interval), elements, step, tf.fill(shape, neutral))


def inner(a: Selection, b: Selection, part: AxisMask, conjugate: bool, whole: tf.Tensor) -> tf.Tensor:
    """Return the inner product of two vectors with one part, in rounds if that is faster than `whole`."""
    dtype = whole.dtype
    least = min(a.whole.shape[0], b.whole.shape[0])
    elements = elements_of_round([least], 0)
    if elements is None or part.interval is None or dtype.is_bool or (dtype.size < 4 and dtype.is_floating):
        return whole

    def values(first: tf.Tensor, count: int, round_entered: Round) -> tf.Tensor:
        left, right = (tf.cast(side.read(-1, first, count, round_entered), dtype) for side in (a, b))
        return (tf.math.conj(left) if conjugate else left) * right

    strands = _accumulate_lanes(_COUNT, Selection(a.whole, (part,)), (0,), 0, elements, values, dtype)
    return with_gradient_of(whole, _sum(strands, (0,)))
