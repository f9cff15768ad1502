"""Other shapes and orders of the axes, as views; shape, ndim and size."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from np2tf.arrays.array.layout import (
    is_contiguous,
    lay_out_copy,
    layout_probe,
    order_of_iteration,
    reshapes_in_place,
    resolve_order,
)
from np2tf.arrays.array.ndarray import is_array, ndarray, scalar, storage_of, tensor_array, wrap_tensor
from np2tf.arrays.array.view_transforms import BasicIndexing, BroadcastTo, Reshape, Transpose
from np2tf.arrays.dispatch.host_fallback import host_only
from np2tf.arrays.dispatch.op import OPS, Axis, Int, MemoryOrder, Shape, View, attach, op
from np2tf.arrays.front.numpy_state import NUMPY
from np2tf.arrays.operands.axes import checked_rank
from np2tf.arrays.operands.conversion import to_numpy
from np2tf.arrays.tensors.axis_reductions import reduce_prod
from np2tf.arrays.tensors.dtype_dispatch import hide_from_optimiser
from np2tf.arrays.tensors.storage import current_scope, link_aliases
from np2tf.arrays.tensors.violations import record_violation
from np2tf.core.errors import ShapeNeededError

__all__ = [
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "broadcast_arrays",
    "broadcast_shapes",
    "broadcast_to",
    "expand_dims",
    "matrix_transpose",
    "moveaxis",
    "ndim",
    "permute_dims",
    "ravel",
    "reshape",
    "rollaxis",
    "shape",
    "size",
    "squeeze",
    "swapaxes",
    "transpose",
]


# -- view ----------------------------------------------------------------------------------------------------
# The decorator of functions that return views.


def view(
    numpy: Callable[..., Any], *, method: bool | str = False, numbers: bool = False
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that makes a NumPy function which returns views.

    NumPy makes views of arrays on the host. With `numbers` a number stays a number, because NumPy calls the
    method of its argument.
    """

    def decorate(implementation: Callable[..., Any]) -> Callable[..., Any]:
        on_tensors = op(numpy)(implementation)

        @functools.wraps(implementation)
        def call(*args: Any, **kwargs: Any) -> Any:
            if args and is_viewed_on_host(args[0]):
                return numpy(*map(to_numpy, args), **{name: to_numpy(item) for name, item in kwargs.items()})
            result = on_tensors(*args, **kwargs)
            if numbers and args and type(args[0]) is scalar and result.ndim == 0:
                return wrap_tensor(result.tensor)
            return result

        call.numpy = numpy  # type: ignore[attr-defined]
        OPS[numpy] = call
        if method:
            attach(method if isinstance(method, str) else implementation.__name__, call)
        return call

    return decorate


def is_viewed_on_host(value: Any) -> bool:
    """Return whether NumPy makes the view of an array: the array is on the host, and nothing is staged."""
    on_host = isinstance(value, np.ndarray) and not is_array(value)
    return on_host and current_scope() is None and tf.executing_eagerly()


# -- transpose -----------------------------------------------------------------------------------------------
# Views with the axes in another order.


def permute_view(a: ndarray, order: Any) -> ndarray:
    """`a` with its axes in another order, as a view."""
    return a.view_through(Transpose(tuple(order)))


@view(np.transpose, numbers=True)
def transpose(a: View, axes: Any = None) -> ndarray:
    """Return a view with the axes in another order."""
    rank = a.ndim
    if axes is None:
        return permute_view(a, reversed(range(rank)))
    if len(axes) != rank:
        raise ValueError("axes don't match array")
    order = tuple(normalize_axis_index(operator.index(axis), rank) for axis in axes)
    if len(set(order)) != rank:
        raise ValueError("repeated axis in transpose")
    return permute_view(a, order)


permute_dims = transpose


def _transpose_method(a: Any, *axes: Any) -> ndarray:
    if len(axes) == 1 and not isinstance(axes[0], int):
        return transpose(a, axes[0])
    return transpose(a, axes or None)


attach("transpose", _transpose_method)


@view(np.swapaxes)
def swapaxes(a: View, axis1: Int, axis2: Int) -> ndarray:
    """Return a view with two axes exchanged."""
    order = list(range(a.ndim))
    first, second = normalize_axis_index(axis1, a.ndim), normalize_axis_index(axis2, a.ndim)
    order[first], order[second] = order[second], order[first]
    return permute_view(a, order)


def _swapaxes_method(a: Any, axis1: Any, axis2: Any, /) -> ndarray:
    return swapaxes(a, axis1, axis2)


attach("swapaxes", _swapaxes_method)


@view(np.moveaxis, numbers=True)
def moveaxis(a: View, source: Axis, destination: Axis) -> ndarray:
    """Return a view with axes moved to other places."""
    sources = normalize_axis_tuple(source, a.ndim, "source")
    destinations = normalize_axis_tuple(destination, a.ndim, "destination")
    if len(sources) != len(destinations):
        raise ValueError("`source` and `destination` arguments must have the same number of elements")
    order = [k for k in range(a.ndim) if k not in sources]
    for to, k in sorted(zip(destinations, sources, strict=True)):
        order.insert(to, k)
    return permute_view(a, order)


@view(np.rollaxis)
def rollaxis(a: View, axis: Int, start: Int = 0) -> ndarray:
    """Return a view with an axis moved backwards to another place."""
    rank = a.ndim
    axis = normalize_axis_index(axis, rank)
    start = start + rank if start < 0 else start
    if not 0 <= start <= rank:
        raise np.exceptions.AxisError(
            f"'start' arg requires {-rank} <= start < {rank + 1}, but {start} was passed in"
        )
    start -= axis < start
    order = [k for k in range(rank) if k != axis]
    order.insert(start, axis)
    return permute_view(a, order)


@view(np.matrix_transpose)
def matrix_transpose(x: View, /) -> ndarray:
    """Return a view with the last two axes exchanged."""
    if x.ndim < 2:
        raise ValueError(f"Input array must be at least 2-dimensional, but it is {x.ndim}")
    return swapaxes(x, -1, -2)


# -- reshape -------------------------------------------------------------------------------------------------
# Views: other shapes and other orders of the axes of the same memory.


def lengths(array: ndarray) -> list[Any]:
    """Return the lengths of the axes; a length that is known only at run time is a tensor of no axes."""
    tensor = array.tensor
    if tensor.shape.is_fully_defined():
        return list(tensor.shape.as_list())
    sizes = tf.shape(tensor, tf.int64)
    return [sizes[k] if n is None else n for k, n in enumerate(tensor.shape.as_list())]


# -- shapes -------------------------------------------------------------------------------------------------


def _resolve_shape(shape: tuple[Any, ...], have: list[Any]) -> Any:
    """Return `shape` with its -1 replaced by a length; a tensor if a length is known only at run time."""
    if sum(1 for n in shape if isinstance(n, int) and n < 0) > 1:
        raise ValueError("can only specify one unknown dimension")
    if not all(isinstance(n, int) for n in (*shape, *have)):
        if any(isinstance(n, int) and n < -1 for n in shape):
            raise ShapeNeededError("reshape with a negative length other than -1")
        if all(isinstance(n, int) for n in shape):
            return list(shape)
        return tf.stack([tf.cast(n, tf.int64) for n in shape])
    size, product = math.prod(have), math.prod(n for n in shape if n >= 0)
    unknown = any(n < 0 for n in shape)
    if (size % product if product else size or unknown) if unknown else size != product:
        raise ValueError(f"cannot reshape array of size {size} into shape {shape}")
    return tuple(n if n >= 0 else size // product for n in shape)


def _transform(a: ndarray, shape: Any) -> Reshape:
    """Return the view transform that gives `a` another shape.

    If the number of elements is known only at run time and does not fit, the call is discarded.
    """
    if a.tensor.shape.is_fully_defined() or current_scope() is None or not isinstance(shape, list):
        return Reshape(shape)
    # TensorFlow's optimiser takes for granted that a tensor reshaped to known lengths has as many elements.
    target = hide_from_optimiser(tf.constant(shape, tf.int64))
    size, product = tf.size(a.tensor, tf.int64), tf.abs(reduce_prod(target))
    if -1 in shape:
        record_violation(tf.equal(product, 0) | tf.not_equal(size % tf.maximum(product, 1), 0))
    else:
        record_violation(tf.not_equal(size, product))
    return Reshape(shape, target)


def reshape_view(a: ndarray, shape: tuple[Any, ...]) -> ndarray:
    """Return ``a.reshape(shape)`` in C order, as a view if NumPy returns a view."""
    target = _resolve_shape(shape, lengths(a))
    transform = _transform(a, target)
    if reshapes_in_place(a, target):
        return a.view_through(transform)
    result = tensor_array(transform.get(a.tensor))
    if a.tensor.shape.is_fully_defined():
        # NumPy copies the array in its own layout, and returns a view of the copy.
        result.storage_and_chain()[0].owner_chain = (Reshape(tuple(a.tensor.shape.as_list())),)
    elif current_scope() is not None:
        # With some lengths NumPy gives a view, with others a copy.
        link_aliases(storage_of(result), [storage_of(a)])
    return result


def reverse_axes(a: ndarray) -> ndarray:
    """``a.T``, as a view."""
    return permute_view(a, reversed(range(a.ndim)))


def runs_backwards(a: ndarray, order: str | None) -> bool:
    """Return whether `order` means that the first axis varies fastest."""
    return order == "F" or (order == "A" and resolve_order(layout_probe(a), "A") == "F")


def to_memory_order(a: ndarray) -> ndarray:
    """`a` with its axes in the order of NumPy's memory, as a view."""
    probe = layout_probe(a)
    order = order_of_iteration(probe) if probe is not None and not probe.flags.c_contiguous else None
    return a if order is None else permute_view(a, order)


@view(np.reshape, numbers=True)
def reshape(a: View, /, shape: Shape, order: MemoryOrder = "C", *, copy: Any = None) -> ndarray:
    """Return an array in another shape, as a view if NumPy returns a view."""
    if order == "K":
        raise ValueError("order 'K' is not permitted for reshaping")
    backwards = runs_backwards(a, order) and (a.ndim > 1 or len(shape) > 1)
    source = lay_out_copy(a.tensor, a, "F" if backwards else "C") if copy else a
    if backwards:
        transpose = reshape_view(reverse_axes(source), tuple(reversed(shape)))
        result = reverse_axes(transpose)
        storage, chain = transpose.storage_and_chain()
        if storage.owner_chain and not chain:
            storage.owner_chain += (Transpose(tuple(reversed(range(a.ndim)))),)
    else:
        result = reshape_view(source, shape)
    if copy is False and result.storage_and_chain()[0] is not a.storage_and_chain()[0]:
        raise ValueError("Unable to avoid creating a copy while reshaping.")
    return result


def _reshape_method(a: Any, *shape: Any, order: str = "C", copy: Any = None) -> ndarray:
    return reshape(a, shape[0] if len(shape) == 1 else shape, order=order, copy=copy)


attach("reshape", _reshape_method)


@view(np.ravel, method=True)
def ravel(a: View, order: MemoryOrder = "C") -> ndarray:
    """Return the elements along one axis, as a view if the array is contiguous."""
    if order == "K":
        a = to_memory_order(a)
    elif runs_backwards(a, order):
        a = reverse_axes(a)
    # Unlike `reshape`, which is also a view of a reversed array, it copies whatever is not contiguous.
    return reshape_view(a, (-1,)) if is_contiguous(a) else tensor_array(tf.reshape(a.tensor, [-1]))


@view(np.squeeze, method=True, numbers=True)
def squeeze(a: View, axis: Axis = None) -> ndarray:
    """Return a view without axes of length 1."""
    have = a.tensor.shape.as_list()
    if axis is None:
        if None in have:
            if current_scope() is not None:
                raise ShapeNeededError("squeeze of an array whose shape is known only at run time")
            return a.view_through(Reshape(tf.shape(tf.squeeze(a.tensor), tf.int64)))
        axes = [k for k, n in enumerate(have) if n == 1]
    elif not have and axis in (0, -1):
        axes = []
    else:
        axes = list(normalize_axis_tuple(axis, len(have)))
        if any(have[k] not in (1, None) for k in axes):
            raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
        for k in axes:
            if have[k] is None:
                record_violation(tf.not_equal(tf.shape(a.tensor)[k], 1))
    if not axes:
        if axis is None or not have:
            return a
        return a.view_through(BasicIndexing((slice(None),) * len(have)))
    return a.view_through(BasicIndexing(tuple(0 if k in axes else slice(None) for k in range(len(have)))))


@view(np.expand_dims)
def expand_dims(a: View, axis: Axis) -> ndarray:
    """Return a view with new axes of length 1."""
    axes = axis if isinstance(axis, tuple) else (axis,)
    rank = checked_rank(a.ndim + len(axes))
    axes = normalize_axis_tuple(axes, rank)
    return a.view_through(BasicIndexing(tuple(None if k in axes else slice(None) for k in range(rank))))


def _raise_rank(rank: int, a: ndarray) -> ndarray:
    have = a.ndim
    if have >= rank:
        return a
    full = slice(None)
    before = {(0, 1): 1, (0, 2): 2, (0, 3): 3, (1, 2): 1, (1, 3): 1, (2, 3): 0}[have, rank]
    after = rank - have - before
    return a.view_through(BasicIndexing((None,) * before + (full,) * have + (None,) * after))


def _atleast(numpy: Callable[..., Any], rank: int) -> Callable[..., Any]:
    @view(numpy)
    def call(*arys: View) -> Any:
        arrays = tuple(_raise_rank(rank, a) for a in arys)
        return arrays[0] if len(arrays) == 1 else arrays

    call.__name__ = call.__qualname__ = numpy.__name__
    return call


atleast_1d = _atleast(np.atleast_1d, 1)
atleast_2d = _atleast(np.atleast_2d, 2)
atleast_3d = _atleast(np.atleast_3d, 3)


@view(np.broadcast_to)
def broadcast_to(array: View, shape: Shape, subok: bool = False) -> ndarray:
    """Return a read-only view in a larger shape."""
    have = array.tensor.shape.as_list()
    if all(isinstance(n, int) for n in shape) and None not in have:
        if np.broadcast_shapes(tuple(have), shape) != shape:
            raise ValueError(
                "operands could not be broadcast together with remapped shapes [original->remapped]: "
                f"{have} and requested shape {shape}"
            )
        return array.view_through(BroadcastTo(shape))
    result = array.view_through(BroadcastTo(tf.stack([tf.cast(n, tf.int64) for n in shape])))
    if current_scope() is not None:
        _ = result.tensor  # raises at run time if the lengths do not fit, whether or not it is read
    return result


@view(np.broadcast_arrays)
def broadcast_arrays(*args: View, subok: bool = False) -> tuple[ndarray, ...]:
    """Return arrays in their common shape, as views. Views that repeat elements are read-only."""
    shapes = [a.tensor.shape for a in args]
    if all(shape.is_fully_defined() for shape in shapes):
        shape: Any = np.broadcast_shapes(*(tuple(s.as_list()) for s in shapes))
        return tuple(a if a.shape == shape else a.view_through(BroadcastTo(shape)) for a in args)
    shape = tf.shape(args[0].tensor)
    for a in args[1:]:
        shape = tf.broadcast_dynamic_shape(shape, tf.shape(a.tensor))
    return tuple(a.view_through(BroadcastTo(shape)) for a in args)


# -- extents -------------------------------------------------------------------------------------------------
# The shape, the number of axes and the number of elements of an array.


def shape(a: Any) -> tuple[Any, ...]:
    """Return the lengths of the axes."""
    return (
        a.shape
        if is_array(a)
        else tensor_array(a).shape
        if isinstance(a, tf.Tensor)
        else np.shape(to_numpy(a, may_leave=True))
    )


def ndim(a: Any) -> int:
    """Return the number of axes."""
    return len(shape(a))


def size(a: Any, axis: Any = None) -> Any:
    """Return the number of elements, or the length along axes."""
    lengths = shape(a)
    if axis is None:
        return a.size if is_array(a) else math.prod(lengths)
    if NUMPY < (2, 4):
        return lengths[axis]
    count: Any = 1
    for k in normalize_axis_tuple(axis, len(lengths)):
        count = count * lengths[k]
    return count


broadcast_shapes = host_only(np.broadcast_shapes)
