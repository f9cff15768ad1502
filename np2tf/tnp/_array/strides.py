"""NumPy's memory layout of an array on TensorFlow: strides, the order of axes, and which results are views.

A tensor has no memory order. The order that NumPy's array would have is noted with the memory
(`Storage.order`), and costs no more than the note. The answers come from NumPy itself: the array's chain of
view transforms is applied to a layout probe, an np.ndarray of the right shape and strides over one element
that is never read. (PyTorch's meta tensors serve the same purpose.)
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from numpy.lib.stride_tricks import as_strided

from np2tf.tnp._array.layout_probes import Order, is_whole, layout_of, layout_probe, strides_of
from np2tf.tnp._array.ndarray import (
    array_over,
    is_array,
    is_c_ordered,
    ndarray,
    storage_of,
    tensor_array,
)
from np2tf.tnp._slicing.view_transforms import (
    Bitcast,
    view_on_host,
)
from np2tf.tnp._tensor.storage import GappedLayout

# -- orders of axes ------------------------------------------------------------------------------------------


def lay_out(tensor: tf.Tensor, order: Order) -> ndarray:
    """Return an array over new memory, with its axes in the given memory order."""
    array = tensor_array(tensor)
    storage_of(array).order = order
    return array


def rename_dtype(array: ndarray, dtype: np.dtype[Any] | None) -> ndarray:
    """Return `array` with a dtype of the same size and another name, such as NumPy's long and long long."""
    if dtype is None or dtype.num == array.dtype.num:
        return array
    storage, chain = array.storage_and_chain()
    view_chain = (*chain, Bitcast(dtype))
    if chain == storage.owner_chain:
        storage.owner_chain = view_chain
    return array_over(storage, view_chain)


def order_of_new(rank: int, letter: str | None) -> Order:
    """Return the memory order of a new array that follows no other array."""
    return tuple(reversed(range(rank))) if letter == "F" and rank > 1 else None


def lay_out_copy(tensor: tf.Tensor, source: Any, letter: str | None = None) -> ndarray:
    """Return an array over a copy of `source`, in the memory order that NumPy's copy would have.

    Args:
        tensor: the contents of the copy, which may have more axes in front than the source.
        source: an array of either kind, or any other object.
        letter: the order, as for `order_of_copy`.
    """
    if letter != "F" and type(source) is ndarray and is_whole(source):
        return tensor_array(tensor)
    rank = tensor.shape.rank
    order = order_of_new(rank, letter) if letter == "F" else order_of_copy(source, letter)
    if order is not None and len(order) < rank:
        rank_difference = rank - len(order)
        order = tuple(range(rank_difference)) + tuple(axis + rank_difference for axis in order)
    return lay_out(tensor, order)


def order_of_copy(source: Any, letter: str | None) -> Order:
    """Return the memory order of a copy of an array of either kind; of any other object, that of a new array.

    Args:
        source: the object to copy.
        letter: "C", "F", "A" or "K"; None stands for "K".
    """
    if letter == "C":
        return None
    layout = layout_of(source)
    if layout is None:
        return None
    flags = layout.flags
    if layout.ndim < 2:
        return None
    if letter == "F" or flags.fnc:
        return tuple(reversed(range(layout.ndim)))
    if letter == "A" or flags.c_contiguous:
        return None
    return _sort_axes(layout.strides)


def order_of_memory(array: Any) -> Order | GappedLayout:
    """Return the memory order of an array of either kind, which decides which results are views of it."""
    if is_c_ordered(array):
        return None
    layout = layout_of(array)
    return None if layout is None else _order_of_memory(layout.shape, layout.strides, layout.itemsize)


@functools.lru_cache(1024)
def _order_of_memory(shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> Order | GappedLayout:
    order = _sort_axes(strides)
    long = [axis for axis, length in enumerate(shape) if length > 1]
    without_gaps = strides_of(shape, itemsize, order)
    if all(strides[axis] == without_gaps[axis] for axis in long):
        return order
    new_strides = [0] * len(shape)
    end, new_end = itemsize, 1
    for axis in sorted(long, key=lambda axis: (abs(strides[axis]), -axis)):
        step = abs(strides[axis])
        if step:
            new_step = new_end if step == end else 2 * new_end
            new_strides[axis] = new_step if strides[axis] > 0 else -new_step
            end, new_end = step * shape[axis], new_step * shape[axis]
    return GappedLayout(tuple(new_strides))


def _sort_axes(strides: Sequence[int]) -> Order:
    return _or_c(sorted(range(len(strides)), key=lambda axis: -abs(strides[axis])))


def lay_out_like_operands(
    result: Any, operands: Iterable[Any], letter: str | None = None, iterated: bool = False
) -> Any:
    """Give the new arrays of an elementwise function the memory order that NumPy's arrays would have.

    Args:
        result: the result, or a tuple of results.
        operands: the operands; only arrays of either kind matter.
        letter: the order that was asked for; None stands for "K".
        iterated: whether NumPy always uses its iterator, and never a plain loop.

    Returns:
        The same objects as `result`.
    """
    if letter in (None, "K", "C") and (letter == "C" or all(map(is_c_ordered, operands))):
        return result
    for array in result if isinstance(result, tuple) else (result,):
        if type(array) is ndarray and array.tensor.shape.rank not in (None, 0, 1):
            order = order_of_result(operands, array.tensor.shape.rank, letter or "K", iterated)
            storage_of(array).order = order
    return result


def order_of_result(operands: Iterable[Any], rank: int, letter: str = "K", iterated: bool = False) -> Order:
    """Return the memory order of an elementwise function's result; see `lay_out_like_operands`."""
    if letter in "CF":
        return order_of_new(rank, letter)
    layouts = []
    for operand in operands:
        if is_array(operand) or isinstance(operand, (np.ndarray, tf.Tensor, tf.Variable)):
            layout = _or_in_c_order(operand)
            if layout is None:
                return None
            layouts += [layout] if layout.ndim else []
    in_f = all(layout.flags.f_contiguous for layout in layouts)
    if letter == "A":
        in_f = in_f and not all(layout.flags.c_contiguous for layout in layouts)
        return order_of_new(rank, "F" if in_f else "C")
    if not iterated and len({(layout.shape, layout.dtype) for layout in layouts}) == 1:
        if all(layout.flags.c_contiguous for layout in layouts):
            return None
        if in_f:
            return order_of_new(rank, "F")
    order = _iterator_order(_layout_key(layouts), letter) if layouts else None
    return order if order is None or len(order) == rank else None


def _or_in_c_order(operand: Any) -> np.ndarray | None:
    if isinstance(operand, (tf.Tensor, tf.Variable)):
        return layout_probe(tensor_array(operand)) if operand.shape.rank is not None else None
    return layout_of(operand)


@functools.lru_cache(1024)
def _iterator_order(
    layouts: tuple[_Layout, ...], letter: str, kept_axes: tuple[int, ...] | None = None
) -> Order:
    """Return the memory order of the array that NumPy's iterator allocates for operands.

    Args:
        layouts: the shapes and strides of the operands, which broadcast.
        letter: the order that is asked for.
        kept_axes: the axes of the operands that the array has, in its order; None for all of them.
    """
    memory = np.empty(1, np.int8)
    operands = [as_strided(memory, shape, strides) for shape, strides in layouts]
    count = len(operands)
    rank = max(layout.ndim for layout in operands)
    axes = None
    if kept_axes is not None:
        places = [kept_axes.index(k) if k in kept_axes else -1 for k in range(rank)]
        axes = [*[[*[-1] * (rank - layout.ndim), *range(layout.ndim)] for layout in operands], places]
    try:
        iterator = np.nditer(  # type: ignore[call-overload]
            [*operands, None],
            ["zerosize_ok", "reduce_ok"],
            [*[["readonly"]] * count, ["readwrite", "allocate"]],
            [None] * count + [np.int8],
            order=letter,
            op_axes=axes,
        )
    except ValueError:  # lengths that are not known may stand for other lengths
        return None
    result = iterator.operands[-1]
    # An axis of length 1 has the stride of the axis that is next in memory.
    return _or_c(sorted(range(result.ndim), key=lambda k: (-abs(result.strides[k]), result.shape[k] == 1)))


#: Shape and strides.
_Layout = tuple[tuple[int, ...], tuple[int, ...]]


def _layout_key(layouts: Iterable[np.ndarray]) -> tuple[_Layout, ...]:
    """Return shapes and strides as a key; lengths matter only as 0, 1 or more, so that few keys differ."""
    return tuple((tuple(min(n, 2) for n in layout.shape), layout.strides) for layout in layouts)


def _or_c(order: Sequence[int]) -> Order:
    return None if list(order) == list(range(len(order))) else tuple(order)


def order_of_reduced(array: Any, axes: Sequence[int], keepdims: bool) -> Order:
    """Return the memory order of the result of a reduction over `axes`."""
    layout = layout_of(array)
    if layout is None or is_c_ordered(array):
        return None
    order = order_of_iteration(layout) or tuple(range(layout.ndim))
    result_axes = [k for k in range(layout.ndim) if keepdims or k not in axes]
    return _or_c([result_axes.index(k) for k in order if k in result_axes])


def order_of_products(layouts: Sequence[Any], terms: Sequence[str], result: str, letter: str) -> Order:
    """Return the memory order of a sum of products in Einstein's notation.

    Args:
        layouts: for each operand an object with its shape and strides; None if they are not known.
        terms: the labels of the axes of each operand.
        result: the labels of the result.
        letter: the order that is asked for.
    """
    if any(layout is None for layout in layouts):
        return order_of_new(len(result), letter)
    if letter == "A":
        letter = "F" if all(layout.flags.f_contiguous for layout in layouts) else "C"
    if letter in "CF":
        return order_of_new(len(result), letter)
    labels = result + "".join(sorted(set("".join(terms)) - set(result)))
    operand_layouts: list[_Layout] = []
    for layout, term in zip(layouts, terms, strict=True):
        shape = tuple(layout.shape[term.index(label)] if label in term else 1 for label in labels)
        steps = [
            sum(step for step, factor in zip(layout.strides, term, strict=True) if factor == label)
            for label in labels
        ]
        operand_layouts.append((tuple(min(n, 2) for n in shape), tuple(steps)))
    return _iterator_order(tuple(operand_layouts), letter, tuple(range(len(result))))


def order_of_joined(layouts: Sequence[np.ndarray]) -> Order:
    """Return the memory order of arrays of one rank after joining along an axis.

    The axes are sorted as NumPy sorts them: if operands disagree about two axes, the earlier axis is the
    slower.
    """
    order: list[int] = []
    for axis in range(layouts[0].ndim):
        place = len(order)
        for k in reversed(range(len(order))):
            longer = [layout for layout in layouts if layout.shape[axis] != 1 and layout.shape[order[k]] != 1]
            if not longer:
                continue
            if any(abs(layout.strides[axis]) <= abs(layout.strides[order[k]]) for layout in longer):
                break
            place = k
        order.insert(place, axis)
    return _or_c(order)


def order_of_iteration(layout: np.ndarray) -> Order:
    """Return the order in which NumPy's iterator visits the axes of an array."""
    return _iterator_order(_layout_key([layout]), "K")


def host_copy(array: ndarray, value: np.ndarray) -> np.ndarray:
    """Return `value`, the contents of an array, in the memory order of the array."""
    order = order_of_copy(array, "K")
    if order is None or len(order) != value.ndim:
        return value
    strides = strides_of(value.shape, value.itemsize, order)
    copy: np.ndarray = np.ndarray(value.shape, value.dtype, strides=strides)
    copy[...] = value
    return copy


def host_view(array: ndarray) -> np.ndarray:
    """Return a copy of the memory that an array sees, viewed as the array views it.

    Raises:
        StagingError: the value is not known while staging.
    """
    storage, chain = array.storage_and_chain()
    return view_on_host(np.array(array_over(storage).numpy(), order="K"), chain)
