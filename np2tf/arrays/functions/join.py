"""Functions that join arrays: along an existing axis, along a new axis, and in blocks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from numpy.lib.array_utils import normalize_axis_index

from np2tf.arrays.array.layout import blocks_within
from np2tf.arrays.array.ndarray import ndarray, tensor_array
from np2tf.arrays.array.sequences import StackableSequence
from np2tf.arrays.dispatch.host_fallback import known_value
from np2tf.arrays.dispatch.op import LEFT_TO_NUMPY, Array, Axis, DType, Int, Operands, op, repeatable
from np2tf.arrays.dispatch.placement import has_tensor, move_to_tensorflow, wrap_result
from np2tf.arrays.front.residency import operands_in
from np2tf.arrays.functions.ranges import arange, linspace
from np2tf.arrays.operands.conversion import as_tensor, convert_assigned
from np2tf.arrays.operands.promotion import default_dtype, kinds_of_items, result_type, result_type_of
from np2tf.core.counts import counts
from np2tf.core.errors import NoGraphFormError, ShapeNeededError

__all__ = [
    "append",
    "block",
    "c_",
    "column_stack",
    "concat",
    "concatenate",
    "dstack",
    "hstack",
    "r_",
    "stack",
    "vstack",
]


def to_common_dtype(arrays: Sequence[Any], dtype: Any = None, casting: str = "same_kind") -> list[tf.Tensor]:
    """Return the arrays as tensors of their common dtype, or of `dtype`.

    Raises:
        ValueError: there are no arrays.
        TypeError: an array cannot be cast to `dtype`.
    """
    if not arrays:
        raise ValueError("need at least one array to concatenate")
    kinds = kinds_of_items(arrays)
    if dtype is None:
        dtype = result_type_of(kinds)
    for kind in map(default_dtype, kinds):
        if not np.can_cast(kind, dtype, casting):  # type: ignore[arg-type]
            raise TypeError(
                f"Cannot cast array data from {kind!r} to {dtype!r} according to the rule {casting!r}"
            )
    return [convert_assigned(array, dtype) for array in arrays]


def join_tensors(tensors: list[tf.Tensor], axis: int) -> ndarray:
    """Join tensors of one dtype along an axis, which may be negative.

    Raises:
        ValueError: the tensors have no axes, or their shapes differ along another axis.
    """
    rank = tensors[0].shape.rank
    if rank == 0:
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    axis = normalize_axis_index(axis, rank)
    for k, tensor in enumerate(tensors):
        if tensor.shape.rank != rank:
            raise ValueError(
                "all the input array dimensions except for the concatenation axis must match exactly, but "
                f"array at index {k} has {tensor.shape.rank} dimension(s), not {rank}"
            )
    return tensor_array(tf.concat(tensors, axis))


@op(np.concatenate)
def concatenate(
    arrays: Operands, /, axis: Axis = 0, out: Any = None, *, dtype: DType = None, casting: str = "same_kind"
) -> ndarray:
    """Join arrays along an existing axis."""
    if isinstance(arrays, StackableSequence) and axis is not None:
        return joined_rows(arrays, axis, dtype)
    tensors = to_common_dtype(arrays, dtype, casting)
    if axis is None:
        return join_tensors([tf.reshape(tensor, [-1]) for tensor in tensors], 0)
    return join_tensors(tensors, axis)


concat = concatenate


@op(np.stack)
def stack(
    arrays: Operands, axis: Int = 0, out: Any = None, *, dtype: DType = None, casting: str = "same_kind"
) -> ndarray:
    """Join arrays of one shape along a new axis."""
    if isinstance(arrays, StackableSequence):
        return stacked_rows(arrays, axis, dtype)
    if not arrays:
        raise ValueError("need at least one array to stack")
    tensors = to_common_dtype(arrays, dtype, casting)
    shapes = [tensor.shape for tensor in tensors]
    if not all(shape.is_compatible_with(shapes[0]) for shape in shapes):
        raise ValueError("all input arrays must have the same shape")
    return tensor_array(tf.stack(tensors, normalize_axis_index(axis, tensors[0].shape.rank + 1)))


def stacked_rows(rows: StackableSequence, axis: int, dtype: Any = None) -> ndarray:
    """Do ``np.stack`` for a list that grew in staged code."""
    tensor = rows.stack(joins=True)
    tensor = tensor if dtype is None else as_tensor(tensor, dtype)
    axis = normalize_axis_index(axis, tensor.shape.rank)
    order = [*range(1, axis + 1), 0, *range(axis + 1, tensor.shape.rank)]
    return tensor_array(tf.transpose(tensor, order) if axis else tensor)


def joined_rows(rows: StackableSequence, axis: int, dtype: Any = None) -> ndarray:
    """Do ``np.concatenate`` for a list that grew in staged code.

    Raises:
        ValueError: the list holds numbers.
        StagingError: two lengths of the result are unknown.
    """
    rank = rows.stack().shape.rank - 1
    if rank == 0:
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    axis = normalize_axis_index(axis, rank)
    tensor = stacked_rows(rows, axis, dtype).tensor
    sizes = [size if size is not None else -1 for size in tensor.shape]
    if sizes.count(-1) == 0 or sizes[axis] == -1:
        return tensor_array(tf.reshape(tensor, [*sizes[:axis], -1, *sizes[axis + 2 :]]))
    raise ShapeNeededError("arrays of a shape that depends on data are joined")


def _rows_of_vectors(rows: StackableSequence, numpy: Callable[..., Any], dtype: Any) -> ndarray:
    """Do ``np.vstack`` and similar functions for a list of numbers or vectors that grew in staged code."""
    tensor = rows.stack(joins=True)
    tensor = tensor if dtype is None else as_tensor(tensor, dtype)
    if numpy is np.hstack:
        return tensor_array(tf.reshape(tensor, [-1]))
    tall = tensor if tensor.shape.rank == 2 else tensor[:, None]
    if numpy is np.vstack:
        return tensor_array(tall)
    return tensor_array(tf.transpose(tall) if numpy is np.column_stack else tf.transpose(tall)[None])


def expand_to_rank(rank: int, tensor: tf.Tensor) -> tf.Tensor:
    """Return `tensor` with axes of length 1 added as ``atleast_1d``, ``_2d`` and ``_3d`` add them."""
    have = tensor.shape.rank
    if have >= rank:
        return tensor
    before = {(0, 1): 1, (0, 2): 2, (0, 3): 3, (1, 2): 1, (1, 3): 1, (2, 3): 0}[have, rank]
    return tensor[(None,) * before + (...,) + (None,) * (rank - have - before)]


def _make_stack(
    numpy: Callable[..., Any], expand: Callable[[tf.Tensor], tf.Tensor], axis: int
) -> Callable[..., Any]:
    """Return a function that joins arrays after `expand`; arrays of one axis are joined along axis 0."""

    @op(numpy)
    def call(tup: Operands, *, dtype: DType = None, casting: str = "same_kind") -> ndarray:
        if isinstance(tup, StackableSequence) and tup.stack().shape.rank in (1, 2):
            return _rows_of_vectors(tup, numpy, dtype)
        tensors = [expand(tensor) for tensor in to_common_dtype(tup, dtype, casting)]
        return join_tensors(tensors, axis if tensors[0].shape.rank > 1 else 0)

    call.__name__ = call.__qualname__ = numpy.__name__
    call.__doc__ = numpy.__doc__
    return call


def _column(tensor: tf.Tensor) -> tf.Tensor:
    """Return a vector as a column; other tensors are returned unchanged."""
    return tensor if tensor.shape.rank > 1 else tf.reshape(tensor, [-1, 1])


hstack = _make_stack(np.hstack, lambda tensor: expand_to_rank(1, tensor), 1)
vstack = _make_stack(np.vstack, lambda tensor: expand_to_rank(2, tensor), 0)
dstack = _make_stack(np.dstack, lambda tensor: expand_to_rank(3, tensor), 2)
column_stack = _make_stack(np.column_stack, _column, 1)


@op(np.block)
def block(arrays: Any) -> ndarray:
    """Join nested lists of blocks into one array."""
    depth = _depth(arrays)
    leaves = list(blocks_within(arrays))
    tensors = dict(zip(map(id, leaves), to_common_dtype(leaves), strict=True))
    rank = max(depth, *(tensor.shape.rank for tensor in tensors.values()))
    return tensor_array(_block(arrays, tensors, rank, depth))


def _depth(arrays: Any) -> int:
    """Return the depth of nested lists, in which nothing is empty, a tuple, or of another depth."""
    if isinstance(arrays, tuple):
        raise TypeError("arrays is a tuple. Only lists can be used to arrange blocks.")
    if not isinstance(arrays, list):
        return 0
    if not arrays:
        raise ValueError("List at arrays cannot be empty")
    depths = {_depth(part) for part in arrays}
    if len(depths) > 1:
        raise ValueError("List depths are mismatched.")
    return 1 + depths.pop()


def _block(arrays: Any, tensors: dict[int, tf.Tensor], rank: int, depth: int) -> tf.Tensor:
    if depth == 0:
        tensor = tensors[id(arrays)]
        return tensor[(None,) * (rank - tensor.shape.rank) + (...,)]
    return join_tensors([_block(part, tensors, rank, depth - 1) for part in arrays], -depth).tensor


@op(np.append)
def append(arr: Array, values: Any, axis: Axis = None) -> ndarray:
    """Join values to the end of an array."""
    tensors = to_common_dtype([arr, as_tensor(values)])
    if axis is None:
        return join_tensors([tf.reshape(tensor, [-1]) for tensor in tensors], 0)
    return join_tensors(tensors, axis)


class Joiner:
    """``r_`` and ``c_``: arrays joined by indexing, where slices stand for ranges.

    Args:
        numpy: NumPy's object, for operands on the host.
        columns: whether vectors become columns.
    """

    def __init__(self, numpy: Any, columns: bool) -> None:
        self.numpy = numpy
        self.columns = columns

    def __len__(self) -> int:
        return 0

    def __getitem__(self, key: Any) -> Any:
        if not has_tensor(operands_in(key)):
            return wrap_result(self.numpy[known_value(key)])
        try:
            return self._join(key if isinstance(key, tuple) else (key,))
        except LEFT_TO_NUMPY as error:
            if not tf.executing_eagerly() or not repeatable(error, ()):
                raise
        result = move_to_tensorflow(self.numpy[known_value(key)])
        counts.host += 1
        return result

    def _join(self, parts: tuple[Any, ...]) -> ndarray:
        if any(isinstance(part, str) for part in parts):
            raise NoGraphFormError("a directive string in r_ or c_")
        operands = [self._range(part) if isinstance(part, slice) else part for part in parts]
        dtype = result_type(*operands)
        tensors = [expand_to_rank(1, as_tensor(part, dtype)) for part in operands]
        if not self.columns:
            return join_tensors(tensors, 0)
        return join_tensors([_column(tensor) for tensor in tensors], -1)

    @staticmethod
    def _range(part: slice) -> Any:
        start = 0 if part.start is None else part.start
        if isinstance(part.step, complex):
            return linspace(start, part.stop, int(abs(part.step)))
        return arange(start, part.stop, 1 if part.step is None else part.step)


r_ = Joiner(np.r_, columns=False)
c_ = Joiner(np.c_, columns=True)
