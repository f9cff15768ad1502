"""Grids of coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.staging import NoGraphFormError
from np2tf.tnp._array.ndarray import is_array, tensor_array
from np2tf.tnp._chapters.creation.ranges import arange, linspace
from np2tf.tnp._dispatch.argument_types import Array, DType, shape_of
from np2tf.tnp._dispatch.host_results import known_value
from np2tf.tnp._dispatch.op import LEFT_TO_NUMPY, op, repeatable
from np2tf.tnp._dispatch.residency import has_tensor, move_to_tensorflow, wrap_result
from np2tf.tnp._front.operand_kinds import operands_in
from np2tf.tnp._operands.promotion import tf_dtype

__all__ = ["fromfunction", "indices", "meshgrid", "mgrid", "ogrid"]

_INT = np.dtype(int)


@op(np.meshgrid)
def meshgrid(*xi: Array, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> tuple[Any, ...]:
    """Return coordinate arrays made of coordinate vectors.

    Args:
        *xi: arrays of any dtype, which are flattened.
        copy: ignored: the results are always new arrays.
        sparse: whether the arrays keep length 1 along the other axes.
        indexing: "xy" or "ij": which of the first two vectors runs along the first axis.

    Returns:
        A tuple of one array for each vector.

    Raises:
        ValueError: `indexing` is unknown.

    See https://numpy.org/doc/stable/reference/generated/numpy.meshgrid.html.
    """
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    rank = len(xi)
    order = list(range(rank))
    if indexing == "xy" and rank > 1:
        order[0], order[1] = 1, 0
    flat = [tf.reshape(x, [-1]) for x in xi]
    grids = [tf.reshape(x, [-1 if k == order[j] else 1 for k in range(rank)]) for j, x in enumerate(flat)]
    if not sparse:
        sizes = [tf.size(flat[order[k]]) for k in range(rank)]
        known_sizes = [flat[order[k]].shape[0] for k in range(rank)]
        shape = tf.stack(sizes) if None in known_sizes else known_sizes
        grids = [tf.broadcast_to(grid, shape) for grid in grids]
    return tuple(map(tensor_array, grids))


@op(np.indices)
def indices(dimensions: Any, dtype: DType = _INT, sparse: bool = False) -> Any:
    """Return the indices of a grid.

    Args:
        dimensions: the lengths of the axes.
        dtype: the dtype of the indices.
        sparse: whether the arrays keep length 1 along the other axes.

    Returns:
        An array (number of axes, *dimensions); with `sparse` a tuple of one array for each axis.

    Raises:
        StagingError: the dtype is bool.

    See https://numpy.org/doc/stable/reference/generated/numpy.indices.html.
    """
    dimensions = shape_of(tuple(dimensions))
    rank = len(dimensions)
    target_dtype = tf_dtype(dtype or float)
    if target_dtype == tf.bool:
        raise NoGraphFormError("indices as truth values")
    grids = [
        tf.reshape(tf.cast(tf.range(n), target_dtype), [-1 if k == j else 1 for k in range(rank)])
        for j, n in enumerate(dimensions)
    ]
    if sparse:
        return tuple(map(tensor_array, grids))
    shape = dimensions if all(isinstance(n, int) for n in dimensions) else tf.stack(dimensions)
    if not grids:
        return tensor_array(tf.zeros((0,), target_dtype))
    return tensor_array(tf.stack([tf.broadcast_to(grid, shape) for grid in grids]))


def fromfunction(function: Any, shape: Any, *, dtype: Any = float, like: Any = None, **kwargs: Any) -> Any:
    """Call a function with the coordinates of all elements of an array.

    Args:
        function: the function, which takes one array of coordinates for each axis.
        shape: the lengths of the axes.
        dtype: the dtype of the coordinates.
        like: array whose class decides how the result is made.
        **kwargs: further arguments of `function`.

    Returns:
        The result of `function`.

    See https://numpy.org/doc/stable/reference/generated/numpy.fromfunction.html.
    """
    return function(*indices(shape, dtype=dtype), **kwargs)


class Grid:
    """``mgrid`` and ``ogrid``: coordinates made by indexing with slices.

    Args:
        numpy: NumPy's object, for known limits.
    """

    def __init__(self, numpy: Any) -> None:
        self.numpy = numpy

    def __getitem__(self, key: Any) -> Any:
        parts = key if isinstance(key, tuple) else (key,)
        if not has_tensor(operands_in(key)):
            return wrap_result(self.numpy[known_value(key)])
        try:
            return self._on_tensors(key, parts)
        except LEFT_TO_NUMPY as error:
            if not tf.executing_eagerly() or not repeatable(error, ()):
                raise
        return move_to_tensorflow(self.numpy[known_value(key)])

    def _on_tensors(self, key: Any, parts: tuple[slice, ...]) -> Any:
        if any(is_array(end) and end.ndim for part in parts for end in (part.start, part.stop, part.step)):
            raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
        axes = [self._axis(part) for part in parts]
        if not isinstance(key, tuple):
            return axes[0]
        sparse = isinstance(self.numpy, type(np.ogrid)) and self.numpy is np.ogrid
        grids = meshgrid(*axes, sparse=sparse, indexing="ij")
        return grids if sparse else tensor_array(tf.stack([grid.tensor for grid in grids]))

    @staticmethod
    def _axis(part: slice) -> Any:
        if isinstance(part.step, complex):
            return linspace(part.start or 0, part.stop, int(abs(part.step)))
        return arange(part.start or 0, part.stop, part.step)


mgrid = Grid(np.mgrid)
ogrid = Grid(np.ogrid)
