"""Slices, lengths and permutations of the axes of a tensor."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from np2tf.tnp._tensor.reductions_of_axes import reduce_prod


def slice_along(x: tf.Tensor, axis: int, start: int | None, stop: int | None) -> tf.Tensor:
    """``x[..., start:stop, ...]`` along an axis."""
    return x[(*[slice(None)] * axis, slice(start, stop))]


def difference_along(x: tf.Tensor, axis: int) -> tf.Tensor:
    after, before = slice_along(x, axis, 1, None), slice_along(x, axis, None, -1)
    return tf.not_equal(after, before) if x.dtype == tf.bool else after - before


def lengths_of(x: tf.Tensor, axes: Sequence[int]) -> list[Any]:
    """Return the lengths of the given axes; a length that is known only at run time is a tensor."""
    sizes = x.shape.as_list()
    return [tf.shape(x)[k] if sizes[k] is None else sizes[k] for k in axes]


def product_of(sizes: Sequence[Any]) -> Any:
    """The number of elements in a block of these lengths."""
    if all(isinstance(size, int) for size in sizes):
        return math.prod(sizes)
    return reduce_prod(tf.stack([tf.cast(size, tf.int32) for size in sizes]))


def permute_axes(x: tf.Tensor, permutation: Sequence[int]) -> tf.Tensor:
    """Return `x` with its axes in another order; `x` itself if the order is the same."""
    return x if list(permutation) == list(range(len(permutation))) else tf.transpose(x, permutation)
