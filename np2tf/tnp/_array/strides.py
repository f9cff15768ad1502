"""NumPy's memory layout of an array on TensorFlow: strides, the order of axes, and which results are views.

A tensor has no memory order. `Storage.order` records the order that NumPy's array would have, which costs
almost nothing. The answers come from NumPy itself: the array's chain of view transforms is applied to a
layout probe, an np.ndarray of the right shape and strides over one element that is never read.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from numpy.lib.stride_tricks import as_strided

from np2tf.tnp._array.ndarray import (
    array_over,
    chain_of,
    is_array,
    is_c_ordered,
    ndarray,
    storage_of,
    tensor_array,
)
from np2tf.tnp._slicing.view_transforms import (
    Basic,
    Bitcast,
    Diagonal,
    Part,
    ReadOnly,
    Reshape,
    Sealed,
    Transpose,
    ViewTransform,
    view_on_host,
)
from np2tf.tnp._tensor.storage import GappedLayout
from np2tf.tnp._tensor.symint import SymInt

#: The length in the place of one that is known only at run time.
_SOME_LENGTH = 7

#: The axes of an array from the slowest to the fastest in memory; None is C order.
Order = tuple[int, ...] | None


def layout_probe(array: ndarray, memory: np.ndarray | None = None) -> np.ndarray | None:
    """Return an np.ndarray with the shape and strides of NumPy's array, whose elements must not be read.

    Args:
        array: the array on TensorFlow.
        memory: the probe of the array that owns the memory, so that several probes share it.

    Returns:
        None if the layout is not known.
    """
    chain = chain_of(array)
    made = memory if memory is not None else memory_of(array)
    for transform in chain:
        following = _through(transform, made)
        if following is None:
            return None
        made = following
    return made


def memory_of(array: ndarray) -> np.ndarray:
    """Return the layout probe of the memory that an array sees; the same object for the same layout."""
    storage = storage_of(array)
    base = storage.value
    shape = [_SOME_LENGTH if n is None else n for n in base.shape.as_list()]
    return _dummy(tuple(shape), np.dtype(base.dtype.as_numpy_dtype), storage.order)


@functools.lru_cache(1024)
def _dummy(shape: tuple[int, ...], dtype: np.dtype[Any], order: Order | GappedLayout) -> np.ndarray:
    if 0 in shape:
        return np.empty(shape, dtype)
    return as_strided(np.empty(1, dtype), shape, strides_of(shape, dtype.itemsize, order))


def strides_of(shape: Sequence[int], itemsize: int, order: Order | GappedLayout) -> tuple[int, ...]:
    """Return the strides of memory with the given shape, size of elements and order of axes."""
    if isinstance(order, GappedLayout):
        return tuple(itemsize * stride for stride in order.strides)
    strides = [0] * len(shape)
    for axis in reversed(range(len(shape)) if order is None else order):
        strides[axis] = itemsize
        itemsize *= shape[axis]
    return tuple(strides)


def _through(transform: ViewTransform, base: np.ndarray) -> np.ndarray | None:
    if isinstance(transform, Basic):
        return base[(*map(_settled, transform.key), ...)]
    if isinstance(transform, Transpose):
        return base.transpose(transform.permutation)
    if isinstance(transform, Reshape):
        return _reshaped(base, transform.shape)
    if isinstance(transform, Part):
        return base.imag if transform.imaginary else base.real
    if isinstance(transform, Diagonal):
        return np.diagonal(base, transform.offset, -2, -1)
    if isinstance(transform, Bitcast):
        return base.view(transform.dtype)
    if isinstance(transform, Sealed):
        return base
    return np.broadcast_to(base, transform.shape) if isinstance(transform, ReadOnly) else None


def _settled(item: Any) -> Any:
    """Return a known item in the place of a staged item of a key: strides do not depend on the chosen
    element.
    """
    if type(item) is slice:
        return slice(None, -1) if SymInt in (type(item.start), type(item.stop)) else item
    return 0 if type(item) is SymInt else item


def _reshaped(base: np.ndarray, shape: Any) -> np.ndarray | None:
    """Return the layout probe in another shape; None if NumPy would copy, or if that is not known."""
    if not isinstance(shape, (tuple, list)) or not all(isinstance(n, int) for n in shape):
        return None
    lengths = [_SOME_LENGTH if n is None else n for n in shape]
    probe = base[...]
    try:
        if hasattr(probe, "_set_shape"):  # NumPy 2.5 warns about the assignment below.
            probe._set_shape(tuple(lengths))
        else:
            probe.shape = tuple(lengths)
    except (AttributeError, ValueError):
        return None
    return probe


# -- views or copies -----------------------------------------------------------------------------------------


def reshapes_in_place(array: ndarray, shape: Any) -> bool:
    """Return whether NumPy's ``array.reshape(shape)`` would be a view."""
    if is_whole(array):
        return True
    made = layout_probe(array)
    if made is None:
        return False
    return bool(made.flags.c_contiguous) or _reshaped(made, shape) is not None


def is_contiguous(array: ndarray) -> bool:
    """Return whether NumPy's array would be contiguous in C order, as far as this is known."""
    if is_whole(array):
        return True
    made = layout_probe(array)
    return made is not None and bool(made.flags.c_contiguous)


def is_laid_out(array: ndarray, letter: str | None) -> bool:
    """Return whether NumPy's array has the memory layout that a copy in this order would have."""
    if letter in (None, "K") or (letter != "F" and is_whole(array)):
        return True
    made = layout_probe(array)
    if made is None:
        return False
    in_c, in_f = made.flags.c_contiguous, made.flags.f_contiguous
    return bool(in_c if letter == "C" else in_f if letter == "F" else in_c or in_f)


def is_whole(array: ndarray) -> bool:
    """Return whether an array is all of its memory, unchanged and in C order."""
    return not chain_of(array) and storage_of(array).order is None


def owns_memory(array: ndarray) -> bool:
    """Return whether NumPy's array would own its memory, and not be a view."""
    storage, chain = array.storage_and_chain()
    owner = storage.owner() if storage.owner is not None else None
    if owner is not None and owner.storage_and_chain()[0] is storage:
        return owner is array
    while storage.owner is None and len(chain) > len(storage.owner_chain) and isinstance(chain[-1], Sealed):
        chain = chain[:-1]
    return chain == storage.owner_chain


# -- orders of axes ------------------------------------------------------------------------------------------


def lay_out(tensor: tf.Tensor, order: Order) -> ndarray:
    """Return an array over new memory, with its axes in the given memory order."""
    made = tensor_array(tensor)
    storage_of(made).order = order
    return made


def named(array: ndarray, dtype: np.dtype[Any] | None) -> ndarray:
    """Return `array` with a dtype of the same size and another name, such as NumPy's long and long long."""
    if dtype is None or dtype.num == array.dtype.num:
        return array
    storage, chain = array.storage_and_chain()
    seen = (*chain, Bitcast(dtype))
    if chain == storage.owner_chain:
        storage.owner_chain = seen
    return array_over(storage, seen)


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
        added = rank - len(order)
        order = tuple(range(added)) + tuple(axis + added for axis in order)
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
    return _sorted(layout.strides)


def order_of_memory(array: Any) -> Order | GappedLayout:
    """Return the memory order of an array of either kind, which decides which results are views of it."""
    if is_c_ordered(array):
        return None
    layout = layout_of(array)
    return None if layout is None else _order_of_memory(layout.shape, layout.strides, layout.itemsize)


@functools.lru_cache(1024)
def _order_of_memory(shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> Order | GappedLayout:
    order = _sorted(strides)
    long = [axis for axis, length in enumerate(shape) if length > 1]
    without_gaps = strides_of(shape, itemsize, order)
    if all(strides[axis] == without_gaps[axis] for axis in long):
        return order
    made = [0] * len(shape)
    end, made_end = itemsize, 1
    for axis in sorted(long, key=lambda axis: (abs(strides[axis]), -axis)):
        step = abs(strides[axis])
        if step:
            made_step = made_end if step == end else 2 * made_end
            made[axis] = made_step if strides[axis] > 0 else -made_step
            end, made_end = step * shape[axis], made_step * shape[axis]
    return GappedLayout(tuple(made))


def _sorted(strides: Sequence[int]) -> Order:
    return _or_c(sorted(range(len(strides)), key=lambda axis: -abs(strides[axis])))


def layout_of(value: Any) -> np.ndarray | None:
    """Return an np.ndarray with the shape and strides of an array of either kind; None if not known."""
    if is_array(value):
        return layout_probe(value)
    return value if isinstance(value, np.ndarray) else None


def in_order_of(made: Any, operands: Iterable[Any], letter: str | None = None, iterated: bool = False) -> Any:
    """Give the new arrays of an elementwise function the memory order that NumPy's arrays would have.

    Args:
        made: the result, or a tuple of results.
        operands: the operands; only arrays of either kind matter.
        letter: the order that the caller asks for; None stands for "K".
        iterated: whether NumPy always uses its iterator, and never a plain loop.

    Returns:
        The same objects as `made`.
    """
    if letter in (None, "K", "C") and (letter == "C" or all(map(is_c_ordered, operands))):
        return made
    for one in made if isinstance(made, tuple) else (made,):
        if type(one) is ndarray and one.tensor.shape.rank not in (None, 0, 1):
            order = order_of_result(operands, one.tensor.shape.rank, letter or "K", iterated)
            storage_of(one).order = order
    return made


def order_of_result(operands: Iterable[Any], rank: int, letter: str = "K", iterated: bool = False) -> Order:
    """Return the memory order of an elementwise function's result; see `in_order_of`."""
    if letter in "CF":
        return order_of_new(rank, letter)
    known = []
    for operand in operands:
        if is_array(operand) or isinstance(operand, (np.ndarray, tf.Tensor, tf.Variable)):
            layout = _or_in_c_order(operand)
            if layout is None:
                return None
            known += [layout] if layout.ndim else []
    in_f = all(layout.flags.f_contiguous for layout in known)
    if letter == "A":
        in_f = in_f and not all(layout.flags.c_contiguous for layout in known)
        return order_of_new(rank, "F" if in_f else "C")
    if not iterated and len({(layout.shape, layout.dtype) for layout in known}) == 1:
        if all(layout.flags.c_contiguous for layout in known):
            return None
        if in_f:
            return order_of_new(rank, "F")
    order = _iterated(_few(known), letter) if known else None
    return order if order is None or len(order) == rank else None


def _or_in_c_order(operand: Any) -> np.ndarray | None:
    if isinstance(operand, (tf.Tensor, tf.Variable)):
        return layout_probe(tensor_array(operand)) if operand.shape.rank is not None else None
    return layout_of(operand)


@functools.lru_cache(1024)
def _iterated(layouts: tuple[_Layout, ...], letter: str, kept: tuple[int, ...] | None = None) -> Order:
    """Return the memory order of the array that NumPy's iterator allocates for operands.

    Args:
        layouts: the shapes and strides of the operands, which broadcast.
        letter: the order that is asked for.
        kept: the axes of the operands that the array has, in its order; None for all of them.
    """
    memory = np.empty(1, np.int8)
    operands = [as_strided(memory, shape, strides) for shape, strides in layouts]
    count = len(operands)
    rank = max(one.ndim for one in operands)
    axes = None
    if kept is not None:
        places = [kept.index(k) if k in kept else -1 for k in range(rank)]
        axes = [*[[*[-1] * (rank - one.ndim), *range(one.ndim)] for one in operands], places]
    try:
        iterator = np.nditer(  # type: ignore[call-overload]
            [*operands, None],
            ["zerosize_ok", "reduce_ok"],
            [*[["readonly"]] * count, ["readwrite", "allocate"]],
            [None] * count + [np.int8],
            order=letter,
            op_axes=axes,
        )
    except ValueError:  # the assumed lengths of unknown axes may not broadcast
        return None
    made = iterator.operands[-1]
    # An axis of length 1 has the stride of the next axis in memory.
    return _or_c(sorted(range(made.ndim), key=lambda k: (-abs(made.strides[k]), made.shape[k] == 1)))


#: A shape and its strides.
_Layout = tuple[tuple[int, ...], tuple[int, ...]]


def _few(layouts: Iterable[np.ndarray]) -> tuple[_Layout, ...]:
    """Return shapes and strides as a key. Lengths matter only as 0, 1 or more, so that few keys differ."""
    return tuple((tuple(min(n, 2) for n in one.shape), one.strides) for one in layouts)


def _or_c(order: Sequence[int]) -> Order:
    return None if list(order) == list(range(len(order))) else tuple(order)


def order_of_reduced(array: Any, axes: Sequence[int], keepdims: bool) -> Order:
    """Return the memory order of the result of a reduction over `axes`."""
    layout = layout_of(array)
    if layout is None or is_c_ordered(array):
        return None
    order = order_of_iteration(layout) or tuple(range(layout.ndim))
    kept = [k for k in range(layout.ndim) if keepdims or k not in axes]
    return _or_c([kept.index(k) for k in order if k in kept])


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
    seen: list[_Layout] = []
    for layout, term in zip(layouts, terms, strict=True):
        shape = tuple(layout.shape[term.index(label)] if label in term else 1 for label in labels)
        steps = [
            sum(step for step, other in zip(layout.strides, term, strict=True) if other == label)
            for label in labels
        ]
        seen.append((tuple(min(n, 2) for n in shape), tuple(steps)))
    return _iterated(tuple(seen), letter, tuple(range(len(result))))


def order_of_joined(layouts: Sequence[np.ndarray]) -> Order:
    """Return the memory order of arrays of one rank after joining along an axis.

    The axes are sorted as NumPy sorts them: if operands disagree about two axes, the earlier axis is the
    slower.
    """
    order: list[int] = []
    for axis in range(layouts[0].ndim):
        place = len(order)
        for k in reversed(range(len(order))):
            longer = [one for one in layouts if one.shape[axis] != 1 and one.shape[order[k]] != 1]
            if not longer:
                continue
            if any(abs(one.strides[axis]) <= abs(one.strides[order[k]]) for one in longer):
                break
            place = k
        order.insert(place, axis)
    return _or_c(order)


# -- on the host ---------------------------------------------------------------------------------------------


def resolve_order(layout: np.ndarray | None, letter: str | None) -> str | None:
    """Return the order that "A" means for an array ("C" or "F"); any other letter is returned unchanged."""
    return letter if letter != "A" else "F" if layout is not None and layout.flags.fnc else "C"


def order_of_iteration(layout: np.ndarray) -> Order:
    """Return the order in which NumPy's iterator visits the axes of an array."""
    return _iterated(_few([layout]), "K")


def host_copy(array: ndarray, value: np.ndarray) -> np.ndarray:
    """Return `value`, the contents of an array, in the memory order of the array."""
    order = order_of_copy(array, "K")
    if order is None or len(order) != value.ndim:
        return value
    strides = strides_of(value.shape, value.itemsize, order)
    made: np.ndarray = np.ndarray(value.shape, value.dtype, strides=strides)
    made[...] = value
    return made


def host_view(array: ndarray) -> np.ndarray:
    """Return a copy of the memory that an array sees, viewed as the array views it.

    Raises:
        StagingError: the value is not known while staging.
    """
    storage, chain = array.storage_and_chain()
    return view_on_host(np.array(array_over(storage).numpy(), order="K"), chain)
