"""Systems of equations, inverses and determinants."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import tensorflow as tf
from numpy.linalg import LinAlgError
from numpy.linalg._linalg import SlogdetResult

from np2tf.tnp._dispatch.argument_types import Array, Int
from np2tf.tnp._dispatch.op import op
from np2tf.tnp._operands.axes import lengths_of
from np2tf.tnp._operands.axis_arguments import rank_of
from np2tf.tnp._operands.conversion import as_tensor, cast
from np2tf.tnp._tensor.reductions_of_axes import reduce_max, reduce_sum
from np2tf.tnp._ufuncs.matrix import matmul
from np2tf.tnp.linalg.checks import (
    as_floating,
    epsilon,
    matrix,
    real_dtype,
    require_square,
    scale_by,
    square,
)
from np2tf.tnp.linalg.determinants import determinant, sign_and_log_determinant
from np2tf.tnp.linalg.factoring import svd_of
from np2tf.tnp.linalg.systems import invert, solve_systems

__all__ = [
    "det",
    "inv",
    "lstsq",
    "matrix_power",
    "pinv",
    "slogdet",
    "solve",
    "tensorinv",
    "tensorsolve",
]


@op(np.linalg.inv)
def inv(a: Array) -> tf.Tensor:
    """Return the inverses of square matrices.

    Args:
        a: array (..., n, n) of numbers.

    Returns:
        An array (..., n, n) of floating-point or complex numbers.

    Raises:
        LinAlgError: a matrix is not square or is singular.
        TypeError: `a` is float16.

    See https://numpy.org/doc/stable/reference/generated/numpy.linalg.inv.html.
    """
    return invert(square(a))


@op(np.linalg.det)
def det(a: Array) -> tf.Tensor:
    """Return the determinants of square matrices.

    Args:
        a: array (..., n, n) of numbers.

    Returns:
        An array (...).

    Raises:
        LinAlgError: a matrix is not square.
        TypeError: `a` is float16.

    See https://numpy.org/doc/stable/reference/generated/numpy.linalg.det.html.
    """
    return determinant(square(a))


@op(np.linalg.slogdet)
def slogdet(a: Array) -> SlogdetResult:
    """Return the signs of determinants, and the logarithms of their absolute values.

    Args:
        a: array (..., n, n) of numbers.

    Returns:
        A named tuple of the signs and the logarithms (...).

    Raises:
        LinAlgError: a matrix is not square.
        TypeError: `a` is float16.

    See https://numpy.org/doc/stable/reference/generated/numpy.linalg.slogdet.html.
    """
    sign, logarithm = sign_and_log_determinant(square(a))
    # A singular matrix has the sign 0, not -0.
    return SlogdetResult(sign + tf.zeros((), sign.dtype), logarithm)


def _broadcast_stacks(a: tf.Tensor, b: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Return two stacks of matrices with their leading axes broadcast against each other.

    Raises:
        ValueError: the leading axes do not broadcast.
    """
    if a.shape[:-2] == b.shape[:-2] and a.shape[:-2].is_fully_defined():
        return a, b
    try:
        stack_shape: Any = tf.broadcast_static_shape(a.shape[:-2], b.shape[:-2])
    except ValueError:
        raise ValueError(
            "operands could not be broadcast together with remapped shapes [original->remapped]: "
            f"{tuple(a.shape)} {tuple(b.shape)}"
        ) from None
    if not stack_shape.is_fully_defined():
        stack_shape = tf.broadcast_dynamic_shape(tf.shape(a)[:-2], tf.shape(b)[:-2])
    return (
        tf.broadcast_to(a, tf.concat([stack_shape, tf.shape(a)[-2:]], 0)),
        tf.broadcast_to(b, tf.concat([stack_shape, tf.shape(b)[-2:]], 0)),
    )


@op(np.linalg.solve)
def solve(a: Array, b: Array) -> tf.Tensor:
    """Solve ``a @ x == b`` for x.

    Args:
        a: array (..., n, n) of numbers.
        b: vector (n,), or matrices (..., n, k).

    Returns:
        An array (..., n) or (..., n, k).

    Raises:
        LinAlgError: a matrix is not square or is singular.
        ValueError: the shapes do not fit.
        TypeError: an operand is float16.

    See https://numpy.org/doc/stable/reference/generated/numpy.linalg.solve.html.
    """
    require_square(a)
    a, b = as_floating(a, b)
    vector = rank_of(b) == 1
    right = b[:, None] if vector else b
    if rank_of(right) < 2 or (None not in (a.shape[-1], right.shape[-2]) and a.shape[-1] != right.shape[-2]):
        raise ValueError(
            "solve: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature "
            f"(m,m),(m,n)->(m,n) (size {right.shape[-2] if rank_of(right) > 1 else 0} "
            f"is different from {a.shape[-1]})"
        )
    solution = solve_systems(*_broadcast_stacks(a, right))
    return solution[..., 0] if vector else solution


def pseudo_inverse(a: tf.Tensor, cutoff: tf.Tensor) -> tf.Tensor:
    """Return pseudo-inverses, made of the singular values above `cutoff` times the largest value."""
    left, values, right = svd_of(a, full_matrices=False)
    large = values > cutoff[..., None] * reduce_max(values, axis=-1, keepdims=True)
    inverse = tf.where(large, 1 / tf.where(large, values, tf.ones_like(values)), tf.zeros_like(values))
    return matmul(tf.linalg.adjoint(right), scale_by(tf.linalg.adjoint(left), inverse[..., None]))


@op(np.linalg.pinv)
def pinv(a: Array, rcond: Any = None, hermitian: bool = False, *, rtol: Any = np._NoValue) -> tf.Tensor:  # type: ignore[attr-defined]
    """Return the Moore-Penrose inverses of matrices.

    Args:
        a: array (..., m, n) of numbers.
        rcond: singular values below `rcond` times the largest count as zero; None uses `rtol`.
        hermitian: whether the matrices are Hermitian.
        rtol: another name of `rcond`; None is max(m, n) times the precision.

    Returns:
        An array (..., n, m).

    Raises:
        ValueError: both `rcond` and `rtol` are given.
        LinAlgError: `a` has fewer than two axes, or is not finite.

    See https://numpy.org/doc/stable/reference/generated/numpy.linalg.pinv.html.
    """
    if rcond is not None and rtol is not np._NoValue:  # type: ignore[attr-defined]
        raise ValueError("`rtol` and `rcond` can't be both set.")
    source_dtype = a.dtype
    a = square(a) if hermitian else matrix(a)
    if rcond is None:
        rcond = rtol
    if rcond is np._NoValue:  # type: ignore[attr-defined]
        rcond = 1e-15
    rows, columns = lengths_of(a, [rank_of(a) - 2, rank_of(a) - 1])
    if rcond is None:
        rcond = max(rows, columns) * epsilon(a)
    if isinstance(rows, int) and isinstance(columns, int) and 0 in (rows, columns):
        return tf.zeros([*lengths_of(a, range(rank_of(a) - 2)), columns, rows], source_dtype)
    return pseudo_inverse(a, as_tensor(rcond, real_dtype(a).as_numpy_dtype))


def least_squares(a: tf.Tensor, b: tf.Tensor, relative: Any) -> tuple[tf.Tensor, ...]:
    """Solve a linear least-squares problem by singular values.

    Args:
        a: a matrix.
        b: a matrix of right-hand sides.
        relative: singular values below `relative` times the largest count as 0; a negative number stands for
            the precision of the dtype.

    Returns:
        The solution, the residuals, the rank, and the singular values.
    """
    left, values, adjoint = svd_of(a, full_matrices=False)
    cutoff = as_tensor(relative, real_dtype(a).as_numpy_dtype)
    cutoff = tf.where(cutoff < 0, tf.constant(epsilon(a), cutoff.dtype), cutoff)
    large = values > cutoff * reduce_max(values)
    inverse = tf.where(large, 1 / tf.where(large, values, tf.ones_like(values)), tf.zeros_like(values))
    solution = matmul(
        tf.linalg.adjoint(adjoint), scale_by(matmul(tf.linalg.adjoint(left), b), inverse[:, None])
    )
    rank = reduce_sum(tf.cast(large, tf.int32))
    return solution, _residuals(a, b, solution, rank), rank, values


@op(np.linalg.lstsq)
def lstsq(a: Array, b: Array, rcond: Any = None) -> tuple[Any, ...]:
    """Solve a linear least-squares problem.

    Args:
        a: array (m, n) of numbers.
        b: array (m,) or (m, k) of numbers.
        rcond: singular values below `rcond` times the largest count as 0; None is max(m, n) times the
            precision.

    Returns:
        The solution (n,) or (n, k), the sums of squared residuals, the rank, and the singular values.

    Raises:
        LinAlgError: the shapes do not fit, or `a` is not finite.
        TypeError: an operand is float16.

    See https://numpy.org/doc/stable/reference/generated/numpy.linalg.lstsq.html.
    """
    vector = rank_of(b) == 1
    if rank_of(a) != 2:
        raise LinAlgError(f"{rank_of(a)}-dimensional array given. Array must be two-dimensional")
    if rank_of(b) not in (1, 2):
        raise LinAlgError(f"{rank_of(b)}-dimensional array given. Array must be two-dimensional")
    a, b = as_floating(a, b)
    right = b[:, None] if vector else b
    rows, columns = lengths_of(a, [0, 1])
    if isinstance(rows, int) and right.shape[0] is not None and rows != right.shape[0]:
        raise LinAlgError("Incompatible dimensions")
    relative = max(rows, columns) * epsilon(a) if rcond is None else rcond
    # NumPy computes in double precision for all dtypes.
    wide = np.complex128 if a.dtype.is_complex else np.float64
    solution, residuals, rank, values = least_squares(cast(a, wide), cast(right, wide), relative)
    solution = cast(solution, a.dtype.as_numpy_dtype)
    residuals, values = (cast(value, real_dtype(a).as_numpy_dtype) for value in (residuals, values))
    return solution[:, 0] if vector else solution, residuals, rank, values


def _residuals(a: tf.Tensor, b: tf.Tensor, solution: tf.Tensor, rank: tf.Tensor) -> tf.Tensor:
    """Return the sums of squared residuals; none if the system is not overdetermined or does not have full
    rank.
    """
    rows, columns = a.shape[0], a.shape[1]
    if rows is not None and columns is not None and rows <= columns:
        return tf.zeros([0], real_dtype(a))
    sums = reduce_sum(tf.square(tf.abs(b - matmul(a, solution))), axis=0)
    full = rank == tf.shape(a)[1]
    if rows is None or columns is None:
        full &= tf.shape(a)[0] > tf.shape(a)[1]
    return sums[: tf.where(full, tf.shape(sums)[0], 0)]


@op(np.linalg.matrix_power)
def matrix_power(a: Array, n: Int) -> tf.Tensor:
    """Return powers of square matrices, by repeated squaring.

    Args:
        a: array (..., n, n) of numbers.
        n: the exponent; a negative exponent raises the inverse to a power.

    Returns:
        An array (..., n, n).

    Raises:
        LinAlgError: a matrix is not square, or is singular for a negative exponent.

    See https://numpy.org/doc/stable/reference/generated/numpy.linalg.matrix_power.html.
    """
    require_square(a)
    if n == 0:
        eye = tf.eye(tf.shape(a)[-1], batch_shape=tf.shape(a)[:-2], dtype=tf.float64)
        return tf.ensure_shape(tf.cast(eye, a.dtype), a.shape)
    if n < 0:
        a, n = invert(square(a)), -n
    result = None
    while n:
        n, odd = divmod(n, 2)
        if odd:
            result = a if result is None else matmul(result, a)
        if n:
            a = matmul(a, a)
    return result


@op(np.linalg.tensorinv)
def tensorinv(a: Array, ind: Int = 2) -> tf.Tensor:
    """Return the inverse of an array with respect to tensordot over `ind` axes.

    Args:
        a: array of numbers whose first `ind` lengths have the same product as its other lengths.
        ind: the number of first axes.

    Returns:
        An array of floating-point or complex numbers, with the last axes of `a` in front.

    Raises:
        ValueError: `ind` is not positive.
        LinAlgError: the array as a matrix is not square or is singular.

    See https://numpy.org/doc/stable/reference/generated/numpy.linalg.tensorinv.html.
    """
    if ind <= 0:
        raise ValueError("Invalid ind argument.")
    shape = a.shape.as_list()
    inverse_shape = [*shape[ind:], *shape[:ind]]
    return tf.reshape(invert(square(tf.reshape(a, [math.prod(shape[:ind]), -1]))), inverse_shape)


@op(np.linalg.tensorsolve)
def tensorsolve(a: Array, b: Array, axes: Any = None) -> tf.Tensor:
    """Solve ``tensordot(a, x, x.ndim) == b`` for x.

    Args:
        a: array of numbers.
        b: array of numbers, whose axes correspond to the first axes of `a`.
        axes: the axes of `a` to move to its end; None moves none.

    Returns:
        An array of floating-point or complex numbers, in the shape of the last axes of `a`.

    Raises:
        LinAlgError: the shapes do not fit, or the system is singular.

    See https://numpy.org/doc/stable/reference/generated/numpy.linalg.tensorsolve.html.
    """
    if axes is not None:
        order = [k for k in range(rank_of(a)) if k not in axes]
        a = tf.transpose(a, [*order, *axes])
    shape = a.shape.as_list()[rank_of(b) :]
    size = math.prod(shape)
    if math.prod(a.shape.as_list()[: rank_of(b)]) != size:
        raise LinAlgError(
            "Input arrays must satisfy the requirement             "
            "prod(a.shape[b.ndim:]) == prod(a.shape[:b.ndim])"
        )
    a, b = as_floating(tf.reshape(a, [size, size]), tf.reshape(b, [-1, 1]))
    return tf.reshape(solve_systems(a, b), shape)
