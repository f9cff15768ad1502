"""Reductions and products of selections, in rounds over the elements that count."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf
from tensorflow.compiler.tf2xla.ops import gen_xla_ops

from np2tf.tnp._masked import chunked_loops
from np2tf.tnp._masked.element_sources import Round, part_of
from np2tf.tnp._masked.selection import AxisMask, Selection, span
from np2tf.tnp._tensor.lane_reductions import reduce_in_lanes
from np2tf.tnp._tensor.reductions_of_axes import reduce_all, reduce_any, reduce_prod
from np2tf.tnp._tensor.small_constants import constant


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
    return reduce_in_lanes(_raw_sum, tf.add, x, tuple(axes), False)


def _raw_sum(x: tf.Tensor, axes: tuple[int, ...], keepdims: bool) -> tf.Tensor:
    return tf.raw_ops.Sum(input=x, axis=list(axes), keep_dims=keepdims) if axes else x


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
            elements = chunked_loops.elements_of_round(selection.whole.shape.as_list(), axis)
            if elements is not None:
                return axis, elements
    return None


def reduce_selection(name: str, selection: Selection, axes: Sequence[int], whole: tf.Tensor) -> tf.Tensor:
    """Return a reduction of a selection over axes, computed in rounds if that is faster.

    Args:
        name: the name of the reduction.
        selection: the selection.
        axes: the axes.
        whole: the same reduction, computed on the whole array.
    """
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
    return chunked_loops.with_gradient_of(whole, tf.reshape(how.finish(left, axes), whole.shape))


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
            left = chunked_loops.not_yet_computed(count, done_count, axis, rank)
            mask = left if mask is None else tf.logical_and(mask, left)
        new = new if mask is None else tf.where(mask, new, neutral)
        if count == elements:
            return how.combine(strands, new)
        start = tf.zeros((), tf.int64)
        new = how.combine(part_of(strands, axis, start, count), new)
        return gen_xla_ops.xla_dynamic_update_slice(strands, new, tf.zeros(rank, tf.int64))

    return chunked_loops.run_rounds(span(part.interval), elements, step, tf.fill(shape, neutral))


def inner(a: Selection, b: Selection, part: AxisMask, conjugate: bool, whole: tf.Tensor) -> tf.Tensor:
    """Return the inner product of two vectors with the same part, computed in rounds if that is faster.

    Args:
        a: the first vector.
        b: the second vector.
        part: the part of both arrays that counts.
        conjugate: whether the first vector is conjugated.
        whole: the same product, computed on the whole arrays.
    """
    dtype = whole.dtype
    least = min(a.whole.shape[0], b.whole.shape[0])
    elements = chunked_loops.elements_of_round([least], 0)
    if elements is None or part.interval is None or dtype.is_bool or (dtype.size < 4 and dtype.is_floating):
        return whole

    def values(first: tf.Tensor, count: int, round_entered: Round) -> tf.Tensor:
        left, right = (tf.cast(side.read(-1, first, count, round_entered), dtype) for side in (a, b))
        return (tf.math.conj(left) if conjugate else left) * right

    strands = _accumulate_lanes(_COUNT, Selection(a.whole, (part,)), (0,), 0, elements, values, dtype)
    return chunked_loops.with_gradient_of(whole, _sum(strands, (0,)))
