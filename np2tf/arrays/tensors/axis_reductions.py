"""TensorFlow's reductions for XLA: none over no axis, and large ones in several lanes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import tensorflow as tf
from tensorflow.python.ops import gen_math_ops

from np2tf.arrays.tensors.storage import staged_device, staging_for_xla

# -- reductions of axes --------------------------------------------------------------------------------------
# TensorFlow's reductions, which leave an array alone if they reduce no axis.
#
# XLA's compiler for small loops on CPUs ends the process at a reduction over no axis. Its algebraic
# simplifier, which would remove one, is off (`np2tf.staging.xla.compiler_options`).


def _reduction(reduce: Callable[..., tf.Tensor]) -> Callable[..., tf.Tensor]:
    def reduction(input_tensor: Any, axis: Any = None, keepdims: bool = False) -> tf.Tensor:
        tensor = tf.convert_to_tensor(input_tensor)
        if tensor.shape.rank == 0 or (isinstance(axis, (list, tuple)) and not axis):
            return tensor
        return reduce(tensor, axis, keepdims)

    return reduction


reduce_all = _reduction(tf.reduce_all)
reduce_any = _reduction(tf.reduce_any)
reduce_max = _reduction(tf.reduce_max)
reduce_mean = _reduction(tf.reduce_mean)
reduce_min = _reduction(tf.reduce_min)
reduce_prod = _reduction(tf.reduce_prod)
reduce_sum = _reduction(tf.reduce_sum)


# -- lane reductions -----------------------------------------------------------------------------------------
# Reductions of whole arrays under XLA in several lanes at a time.
#
# XLA on CPUs reduces one element after another, and starts a kernel for each stage. Several lanes side by
# side keep the vector units busy. They are so few that the kernel that needs the result can combine them.
# Measured in nanoseconds for the inner product of two vectors in a loop, as one sum / in 8 lanes / with
# these functions: 128 elements 207 / 125 / 99, 500 elements 416 / 400 / 280, 16384 elements 11000 / 6000 /
# 5500.

#: A function of an array, axes and `keepdims` that returns the array reduced over these axes.
Reducer = Callable[[tf.Tensor, tuple[int, ...], bool], tf.Tensor]
Combiner = Callable[[tf.Tensor, tf.Tensor], tf.Tensor]

#: The numbers of lanes, which are combined in pairs at the end: the first that divides the size is taken.
_WIDTHS = (16, *range(17, 33))
_SHORT = 64
#: Arrays of at least `_LONG` elements are first cut into `_PARTS` parts, which are combined elementwise.
_LONG = 4096
_PARTS = 8


def reduce_in_lanes(
    reduce: Reducer, combine: Combiner, x: tf.Tensor, axes: tuple[int, ...], keepdims: bool
) -> tf.Tensor:
    """Reduce all of `x`. Under XLA on CPUs reduce lanes of it, and combine the lanes."""
    size = x.shape.num_elements() if x.shape.is_fully_defined() else None
    if not _has_lanes(size) or size is None or len(axes) != x.shape.rank:
        return reduce(x, axes, keepdims)
    width = next((width for width in _WIDTHS if size % width == 0), None)
    if width is None:
        return reduce(x, axes, keepdims)
    result = _reduce_lanes(reduce, combine, tf.reshape(x, [size]), width)
    return tf.reshape(result, [1] * x.shape.rank) if keepdims else result


def _has_lanes(size: int | None) -> bool:
    """Return whether so many elements are reduced in lanes. Accelerators reduce in lanes of their own."""
    return size is not None and size >= _SHORT and staging_for_xla() and staged_device() == "cpu"


def _reduce_lanes(reduce: Reducer, combine: Combiner, x: tf.Tensor, width: int) -> tf.Tensor:
    rows = x.shape[0] // width
    if rows * width >= _LONG and rows % _PARTS == 0:
        strands = functools.reduce(combine, tf.unstack(tf.reshape(x, [_PARTS, rows // _PARTS, width])))
    else:
        strands = tf.reshape(x, [rows, width])
    return _combine_pairs(combine, tf.unstack(reduce(strands, (0,), False)))


def _combine_pairs(combine: Combiner, values: list[tf.Tensor]) -> tf.Tensor:
    """Return all values combined in pairs: a short chain of operations that depend on one another."""
    while len(values) > 1:
        pairs = zip(values[::2], values[1::2], strict=False)
        values = [combine(a, b) for a, b in pairs] + values[len(values) // 2 * 2 :]
    return values[0]


def inner_product(a: tf.Tensor, b: tf.Tensor, mask: tf.Tensor | None = None) -> tf.Tensor:
    """Return the inner product of two vectors, over the elements at which `mask` is true."""

    def products(part: slice) -> tf.Tensor:
        result = a[part] * b[part]
        return result if mask is None else tf.where(mask[part], result, tf.zeros([], a.dtype))

    size = a.shape[0]
    if not _has_lanes(size):
        return sum_of_axes(products(slice(None)), (0,), False)
    if any(size % width == 0 for width in _WIDTHS):
        return reduce_in_lanes(sum_of_axes, tf.add, products(slice(None)), (0,), False)
    # The operands are cut, and not the products, which XLA would compute and keep for two readers.
    width = _WIDTHS[0]
    even = size - size % width
    odd_products = tf.unstack(products(slice(even, size)))
    return _combine_pairs(
        tf.add, [*odd_products, _reduce_lanes(sum_of_axes, tf.add, products(slice(even)), width)]
    )


def sum_of_axes(x: tf.Tensor, axes: tuple[int, ...], keepdims: bool) -> tf.Tensor:
    """Return the sum over axes, as one operation; over no axis, `x` itself."""
    return gen_math_ops.Sum(input=x, axis=list(axes), keep_dims=keepdims) if axes else x
