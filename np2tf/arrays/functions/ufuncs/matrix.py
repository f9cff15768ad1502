"""Products of matrices and vectors in the last axes: matmul, vecdot, matvec, vecmat."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from np2tf.arrays.functions.ufuncs.integer import MATMUL
from np2tf.arrays.functions.ufuncs.tensor_ufunc import Ufunc
from np2tf.arrays.tensors.axis_reductions import inner_product, reduce_any
from np2tf.arrays.tensors.dtype_dispatch import COMPLEX
from np2tf.arrays.tensors.violations import assert_same_size
from np2tf.core.errors import NoGraphFormError, ShapeNeededError

_SIGNATURE = "(n?,k),(k,m?)->(n?,m?)"


class GeneralUfunc(Ufunc):
    """A ufunc over the last axes. The choice of other axes is left to NumPy."""

    def _on_tensors(self, args: tuple[Any, ...], *arguments: Any, **kwargs: Any) -> Any:
        if kwargs.keys() & {"axes", "axis", "keepdims"}:
            raise NoGraphFormError(f"{self.__name__} with axes=, axis= or keepdims=")
        return super()._on_tensors(args, *arguments, **kwargs)


def _rank(x: tf.Tensor) -> int:
    if x.shape.rank is None:
        raise ShapeNeededError.of(what="the rank of a matrix")
    return x.shape.rank


def _check(name: str, position: int, x: tf.Tensor, core_rank: int, signature: str) -> None:
    if _rank(x) < core_rank:
        raise ValueError(
            f"{name}: Input operand {position} does not have enough dimensions (has {x.shape.rank}, "
            f"gufunc core with signature {signature} requires {core_rank})"
        )


def _fit_axis(
    name: str, dimension: int, a: tf.Tensor, b: tf.Tensor, axis_of_b: int, signature: str
) -> tf.Tensor:
    """Return `a` after a check that its last axis is as long as an axis of `b`."""
    size_a, size_b = a.shape[-1], b.shape[axis_of_b]
    if size_a is not None and size_b is not None and size_a != size_b:
        raise ValueError(
            f"{name}: Input operand 1 has a mismatch in its core dimension {dimension}, with gufunc "
            f"signature {signature} (size {size_b} is different from {size_a})"
        )
    return assert_same_size(a, -1, b, axis_of_b)


def _product(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    """Return the products of stacks of matrices."""
    return MATMUL.get(a.dtype, tf.matmul)(a, b)


def matmul(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    """Return ``a @ b``. A vector counts as a row on the left and as a column on the right."""
    _check("matmul", 0, a, 1, _SIGNATURE)
    _check("matmul", 1, b, 1, _SIGNATURE)
    vector_b = b.shape.rank == 1
    a = _fit_axis("matmul", 0, a, b, -1 if vector_b else -2, _SIGNATURE)
    if a.shape.rank > 1 and not vector_b:
        return _product(a, b)
    if a.shape.rank == 1 and vector_b:
        return _inner(a, b)
    if vector_b:
        return tf.squeeze(_product(a, tf.expand_dims(b, -1)), -1)
    return tf.squeeze(_product(tf.expand_dims(a, 0), b), -2)


def _inner(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    """Return the inner product of two vectors. A sum of products has fewer operations than a product of
    matrices.
    """
    if a.dtype == tf.bool:
        return reduce_any(a & b)
    if a.dtype == tf.float16:
        return tf.cast(inner_product(tf.cast(a, tf.float32), tf.cast(b, tf.float32)), tf.float16)
    return inner_product(a, b)


def _conjugate(x: tf.Tensor) -> tf.Tensor:
    return tf.math.conj(x) if x.dtype in COMPLEX else x


def vecdot(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    """Return the inner products over the last axes, with the first operand conjugated."""
    for position, x in enumerate((a, b)):
        _check("vecdot", position, x, 1, "(n),(n)->()")
    a = _fit_axis("vecdot", 0, a, b, -1, "(n),(n)->()")
    return tf.squeeze(_product(tf.expand_dims(_conjugate(a), -2), tf.expand_dims(b, -1)), (-2, -1))


def matvec(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    """Return the products of matrices and vectors."""
    _check("matvec", 0, a, 2, "(m,n),(n)->(m)")
    _check("matvec", 1, b, 1, "(m,n),(n)->(m)")
    a = _fit_axis("matvec", 0, a, b, -1, "(m,n),(n)->(m)")
    return tf.squeeze(_product(a, tf.expand_dims(b, -1)), -1)


def vecmat(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    """Return the products of conjugated vectors and matrices."""
    _check("vecmat", 0, a, 1, "(n),(n,m)->(m)")
    _check("vecmat", 1, b, 2, "(n),(n,m)->(m)")
    a = _fit_axis("vecmat", 0, a, b, -2, "(n),(n,m)->(m)")
    return tf.squeeze(_product(tf.expand_dims(_conjugate(a), -2), b), -2)
