"""NumPy's memory layout of arrays on TensorFlow: probes, strides, the order of results."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from numpy.lib.stride_tricks import as_strided, sliding_window_view

from np2tf.arrays.array.ndarray import (
    array_over,
    chain_of,
    is_array,
    is_c_ordered,
    ndarray,
    storage_of,
    tensor_array,
)
from np2tf.arrays.array.view_transforms import (
    BasicIndexing,
    Bitcast,
    BroadcastTo,
    ComplexPart,
    Diagonal,
    ReadOnlyFlag,
    Reshape,
    Transpose,
    ViewTransform,
    Windows,
    view_on_host,
)
from np2tf.arrays.tensors.storage import GappedLayout, current_scope
from np2tf.arrays.tensors.symbolic_integers import SymInt
from np2tf.core.errors import MemoryLayoutError

# -- layout probes -------------------------------------------------------------------------------------------
# Layout probes: np.ndarrays with the shape and strides that NumPy's array would have.
#
# The elements of a probe are never read. (PyTorch's meta tensors serve the same purpose.)

#: Stands for a length that is known only at run time.
_SOME_LENGTH = 7


def layout_probe(array: ndarray, memory: np.ndarray | None = None) -> np.ndarray | None:
    """Return an np.ndarray with the shape and strides of NumPy's array, whose elements must not be read.

    `memory` is the probe of the array that owns the memory, so that several probes share it. The result is
    None if the layout is not known.
    """
    chain = chain_of(array)
    probe = memory if memory is not None else memory_of(array)
    for transform in chain:
        view = _apply_to_probe(transform, probe)
        if view is None:
            return None
        probe = view
    return probe


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
    """The strides of memory that is laid out so."""
    if isinstance(order, GappedLayout):
        return tuple(itemsize * stride for stride in order.strides)
    strides = [0] * len(shape)
    for axis in reversed(range(len(shape)) if order is None else order):
        strides[axis] = itemsize
        itemsize *= shape[axis]
    return tuple(strides)


def _apply_to_probe(transform: ViewTransform, base: np.ndarray) -> np.ndarray | None:
    if isinstance(transform, BasicIndexing):
        return base[(*map(_substitute_index, transform.key), ...)]
    if isinstance(transform, Transpose):
        return base.transpose(transform.permutation)
    if isinstance(transform, Reshape):
        return _reshape_probe(base, transform.shape)
    if isinstance(transform, ComplexPart):
        return base.imag if transform.imaginary else base.real
    if isinstance(transform, Diagonal):
        return np.diagonal(base, transform.offset, -2, -1)
    if isinstance(transform, Bitcast):
        return base.view(transform.dtype)
    if isinstance(transform, ReadOnlyFlag):
        return base
    if isinstance(transform, Windows):
        fits = transform.width <= base.shape[transform.axis]
        return sliding_window_view(base, transform.width, transform.axis) if fits else None
    return np.broadcast_to(base, transform.shape) if isinstance(transform, BroadcastTo) else None


def _substitute_index(item: Any) -> Any:
    """Return a known item of a key in the place of a staged item; strides do not depend on the chosen
    element.
    """
    if type(item) is slice:
        return slice(None, -1) if SymInt in (type(item.start), type(item.stop)) else item
    return 0 if type(item) is SymInt else item


def _reshape_probe(base: np.ndarray, shape: Any) -> np.ndarray | None:
    """Return the layout probe in another shape; None if NumPy would copy, or if that is not known."""
    if not isinstance(shape, (tuple, list)) or not all(isinstance(n, int) for n in shape):
        return None
    lengths = [_SOME_LENGTH if n is None else n for n in shape]
    probe = base[...]
    try:
        if hasattr(probe, "_set_shape"):  # NumPy 2.5 warns of the assignment below.
            probe._set_shape(tuple(lengths))
        else:
            probe.shape = tuple(lengths)
    except (AttributeError, ValueError):
        return None
    return probe


def reshapes_in_place(array: ndarray, shape: Any) -> bool:
    """Return whether NumPy's ``array.reshape(shape)`` would be a view."""
    if is_whole(array):
        return True
    probe = layout_probe(array)
    if probe is None:
        return False
    return bool(probe.flags.c_contiguous) or _reshape_probe(probe, shape) is not None


def is_contiguous(array: ndarray) -> bool:
    """Return whether NumPy's array would be contiguous in C order, as far as this is known."""
    if is_whole(array):
        return True
    probe = layout_probe(array)
    return probe is not None and bool(probe.flags.c_contiguous)


def is_laid_out(array: ndarray, letter: str | None) -> bool:
    """Return whether NumPy's array has the memory layout that a copy in this order would have."""
    if letter in (None, "K") or (letter != "F" and is_whole(array)):
        return True
    probe = layout_probe(array)
    if probe is None:
        return False
    in_c, in_f = probe.flags.c_contiguous, probe.flags.f_contiguous
    return bool(in_c if letter == "C" else in_f if letter == "F" else in_c or in_f)


def is_whole(array: ndarray) -> bool:
    """Return whether an array is all of its memory, unchanged and in C order."""
    return not chain_of(array) and storage_of(array).order is None


def owns_memory(array: ndarray) -> bool:
    """Return whether NumPy's array would have memory of its own, and not be a view."""
    storage, chain = array.storage_and_chain()
    owner = storage.owner() if storage.owner is not None else None
    if owner is not None and owner.storage_and_chain()[0] is storage:
        return owner is array
    while (
        storage.owner is None
        and len(chain) > len(storage.owner_chain)
        and isinstance(chain[-1], ReadOnlyFlag)
    ):
        chain = chain[:-1]
    return chain == storage.owner_chain


def layout_of(value: Any) -> np.ndarray | None:
    """Return an np.ndarray with the shape and strides of an array of either kind; None if not known."""
    if is_array(value):
        return layout_probe(value)
    return value if isinstance(value, np.ndarray) else None


#: The axes of an array from the slowest to the fastest in memory; None: C order.
Order = tuple[int, ...] | None


def resolve_order(layout: np.ndarray | None, letter: str | None) -> str | None:
    """Return the order that "A" means for an array ("C" or "F"); any other letter is returned as it is."""
    return letter if letter != "A" else "F" if layout is not None and layout.flags.fnc else "C"


# -- strides -------------------------------------------------------------------------------------------------
# NumPy's memory layout of an array on TensorFlow: strides, the order of axes, and which results are views.
#
# A tensor has no memory order. The order that NumPy's array would have is noted with the memory
# (`Storage.order`), and costs no more than the note. The answers come from NumPy itself: the array's chain
# of view transforms is applied to a layout probe, an np.ndarray of the right shape and strides over one
# element that is never read. (PyTorch's meta tensors serve the same purpose.)

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

    `tensor` has the contents of the copy, and may have more axes in front than `source`.
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
    """Return the memory order of a copy of an array of either kind, and for other objects of a new array."""
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

    `iterated` says that NumPy always uses its iterator, and never a plain loop.
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
    """Return the memory order of the array that NumPy's iterator allocates for operands, which broadcast.

    `kept_axes` are the axes that the array has, in its order; None stands for all.
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
    """Return the memory order of a sum of products in Einstein's notation, given the labels of the axes.

    A layout is any object with a shape and strides; None if they are not known.
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


# -- memory order --------------------------------------------------------------------------------------------
# The memory order of results, for functions whose results follow the order of their operands in NumPy.

#: A function of a result, the arguments and the keyword arguments that returns the result in NumPy's memory
#: order.
Rule = Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]


def _elementwise(result: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return lay_out_like_operands(result, (*args, *kwargs.values()))


def _order_of_iterated_result(result: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return lay_out_like_operands(result, (*args, *kwargs.values()), iterated=True)


def _order_of_rounded(result: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the result of `np.round` in NumPy's memory order.

    For whole numbers `np.round` is one ufunc. For decimals it takes several steps in an array that it makes
    first.
    """
    decimals = args[1] if len(args) > 1 else kwargs.get("decimals", 0)
    return (_fortran if decimals else _elementwise)(result, args, kwargs)


def _first(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return args[0] if args else next(iter(kwargs.values()), None)


def _lay_out_result(result: Any, order: Order) -> Any:
    if type(result) is ndarray and order is not None and len(order) == result.tensor.shape.rank:
        storage_of(result).order = order
    return result


def _lay_out_as_copy(result: Any, operand: Any, letter: str) -> Any:
    if type(result) is not ndarray or result.tensor.shape.rank is None:
        return result
    return _lay_out_result(result, order_of_copy(operand, letter))


def _copy(result: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the result in the memory order of a copy of the first operand."""
    return _lay_out_as_copy(result, _first(args, kwargs), "K")


def _fortran(result: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the result in Fortran order if the first operand is, else in C order."""
    return _lay_out_as_copy(result, _first(args, kwargs), "A")


def _lay_out_reduction(result: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    operand = _first(args, kwargs)
    axis = args[1] if len(args) > 1 else kwargs.get("axis")
    if axis is None or type(result) is not ndarray or is_c_ordered(operand):
        return result
    rank = operand.ndim
    axes = [int(axis_number) % rank for axis_number in (axis if isinstance(axis, (tuple, list)) else (axis,))]
    return _lay_out_result(result, order_of_reduced(operand, axes, result.tensor.shape.rank == rank))


def _rule_for_joining(join_layouts: Callable[[np.ndarray, int], np.ndarray]) -> Rule:
    """Return the rule for a function that joins arrays, after `join_layouts` has brought them to one rank."""

    def rule(result: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        arrays = _first(args, kwargs)
        axis = args[1] if len(args) > 1 else kwargs.get("axis", 0)
        if axis is None or not isinstance(arrays, (tuple, list)) or all(map(is_c_ordered, arrays)):
            return result
        layouts = [layout_of(array) for array in arrays]
        probes = [join_layouts(layout, axis) for layout in layouts if layout is not None]
        return _lay_out_result(result, order_of_joined(probes)) if len(probes) == len(layouts) else result

    return rule


def _blocks(result: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the result of `np.block` in NumPy's memory order.

    NumPy joins small blocks, axis by axis, and writes large blocks into a new array.

    Raises:
        StagingError: the order of staged arrays is not known.
    """
    blocks = _first(args, kwargs)
    leaves = list(blocks_within(blocks))
    if type(result) is not ndarray or all(map(is_c_ordered, leaves)):
        return result
    layouts = {
        id(block): layout_of(block) if isinstance(block, np.ndarray) else np.empty(()) for block in leaves
    }
    rank, size = result.tensor.shape.rank, result.tensor.shape.num_elements()
    if size is None or any(layout is None for layout in layouts.values()):
        if current_scope() is None:
            return result
        raise MemoryLayoutError("np.block of arrays that are not in C order")
    depth = _depth(blocks)
    if depth * size <= _JOINED_BLOCKS:
        return _lay_out_result(result, order_of_copy(_joined_blocks(blocks, layouts, rank, depth), "K"))
    fortran = all(layout.flags.f_contiguous for layout in layouts.values())  # type: ignore[union-attr]
    c = all(layout.flags.c_contiguous for layout in layouts.values())  # type: ignore[union-attr]
    return _lay_out_result(result, tuple(reversed(range(rank)))) if fortran and not c else result


#: NumPy joins the blocks if their total size times the depth of the lists is at most this number.
_JOINED_BLOCKS = 2 * 512 * 512


def blocks_within(blocks: Any) -> Iterator[Any]:
    """Yield the arrays in the nested lists that `np.block` receives."""
    if isinstance(blocks, list):
        for block in blocks:
            yield from blocks_within(block)
    else:
        yield blocks


def _depth(blocks: Any) -> int:
    return 1 + _depth(blocks[0]) if isinstance(blocks, list) else 0


def _joined_blocks(blocks: Any, layouts: dict[int, Any], rank: int, depth: int) -> np.ndarray:
    """Return an np.ndarray with the shape and strides of the joined blocks."""
    if depth == 0:
        layout = layouts[id(blocks)]
        return layout[(None,) * (rank - layout.ndim) + (...,)]  # type: ignore[no-any-return]
    parts = [_joined_blocks(block, layouts, rank, depth - 1) for block in blocks]
    shape = list(parts[0].shape)
    shape[-depth] = sum(part.shape[-depth] for part in parts)
    order = order_of_joined(parts) or tuple(range(rank))
    return np.empty([shape[axis] for axis in order]).transpose(np.argsort(order))


_KINDS: dict[Rule, tuple[str, ...]] = {
    _elementwise: ("clip", "isclose", "angle", "fix", "i0", "sinc", "real_if_close"),
    _order_of_iterated_result: ("where", "cumsum", "cumprod"),
    _order_of_rounded: ("round", "around"),
    _copy: ("sort", "partition", "nan_to_num"),
    _fortran: ("pad",),
    _lay_out_reduction: (
        *("sum", "prod", "max", "min", "amax", "amin", "any", "all", "mean", "var", "std", "ptp"),
        *("nansum", "nanprod", "nanmax", "nanmin", "nanmean", "nanvar", "nanstd", "count_nonzero"),
    ),
    _blocks: ("block",),
    _rule_for_joining(lambda layout, axis: layout): ("concatenate",),
    _rule_for_joining(lambda layout, axis: np.expand_dims(layout, axis)): ("stack",),
    _rule_for_joining(lambda layout, axis: np.atleast_1d(layout)): ("hstack",),
    _rule_for_joining(lambda layout, axis: np.atleast_2d(layout)): ("vstack",),
    _rule_for_joining(lambda layout, axis: np.atleast_3d(layout)): ("dstack",),
}
#: NumPy's function -> its rule.
ORDERS: dict[Any, Rule] = {
    getattr(np, name): rule for rule, names in _KINDS.items() for name in names if hasattr(np, name)
}
