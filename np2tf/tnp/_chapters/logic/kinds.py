"""Questions about the kind of numbers and objects: real, complex, infinite, scalar, iterable."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.staging import ShapeNeededError
from np2tf.tnp._array.ndarray import is_array, scalar
from np2tf.tnp._dispatch.argument_types import Array
from np2tf.tnp._dispatch.op import OPS, op
from np2tf.tnp._operands.promotion import kind_of
from np2tf.tnp._tensor.dtype_dispatch import COMPLEX

__all__ = [
    "iscomplex",
    "iscomplexobj",
    "isneginf",
    "isposinf",
    "isreal",
    "isrealobj",
    "isscalar",
    "iterable",
]


@op(np.iscomplex)
def iscomplex(x: Array) -> tf.Tensor:
    """Return which elements have an imaginary part other than 0.

    Args:
        x: array of numbers.

    Returns:
        An array of booleans in the shape of `x`.

    See https://numpy.org/doc/stable/reference/generated/numpy.iscomplex.html.
    """
    if x.dtype not in COMPLEX:
        return tf.fill(tf.shape(x), False)
    imaginary = tf.math.imag(x)
    return tf.not_equal(imaginary, tf.zeros((), imaginary.dtype))


@op(np.isreal)
def isreal(x: Array) -> tf.Tensor:
    """Return which elements have the imaginary part 0.

    Args:
        x: array of numbers.

    Returns:
        An array of booleans in the shape of `x`.

    See https://numpy.org/doc/stable/reference/generated/numpy.isreal.html.
    """
    return ~iscomplex.__wrapped__(x)  # type: ignore[attr-defined]


def _infinite(x: tf.Tensor, sign: int, name: str) -> tf.Tensor:
    if x.dtype in COMPLEX:
        raise TypeError(
            f"This operation is not supported for {x.dtype.name} values because it would be ambiguous."
        )
    if not x.dtype.is_floating:
        return tf.fill(tf.shape(x), False)
    return tf.equal(x, tf.constant(sign * np.inf, x.dtype))


@op(np.isposinf)
def isposinf(x: Array, out: Any = None) -> tf.Tensor:
    """Return which elements are positive infinity.

    Args:
        x: array of real numbers.
        out: array to write the result into; None makes a new array.

    Returns:
        An array of booleans in the shape of `x`.

    Raises:
        TypeError: the numbers are complex.

    See https://numpy.org/doc/stable/reference/generated/numpy.isposinf.html.
    """
    return _infinite(x, 1, "isposinf")


@op(np.isneginf)
def isneginf(x: Array, out: Any = None) -> tf.Tensor:
    """Return which elements are negative infinity.

    Args:
        x: array of real numbers.
        out: array to write the result into; None makes a new array.

    Returns:
        An array of booleans in the shape of `x`.

    Raises:
        TypeError: the numbers are complex.

    See https://numpy.org/doc/stable/reference/generated/numpy.isneginf.html.
    """
    return _infinite(x, -1, "isneginf")


def iscomplexobj(x: Any) -> bool:
    """Return whether an object has a complex dtype.

    Args:
        x: any object.

    See https://numpy.org/doc/stable/reference/generated/numpy.iscomplexobj.html.
    """
    if not is_array(x) and not isinstance(x, (tf.Tensor, tf.Variable)):
        return np.iscomplexobj(x)
    kind = kind_of(x)
    return kind is complex or (isinstance(kind, np.dtype) and kind.kind == "c")


def isrealobj(x: Any) -> bool:
    """Return whether an object does not have a complex dtype.

    Args:
        x: any object.

    See https://numpy.org/doc/stable/reference/generated/numpy.isrealobj.html.
    """
    return not iscomplexobj(x)


def isscalar(element: Any) -> bool:
    """Return whether an object is a scalar: a number, a string, or a scalar of NumPy or np2tf.

    Args:
        element: any object.

    See https://numpy.org/doc/stable/reference/generated/numpy.isscalar.html.
    """
    return type(element) is scalar or np.isscalar(element) or isinstance(element, numbers.Number)


def iterable(y: Any) -> bool:
    """Return whether `y` can be iterated over.

    Args:
        y: any object.

    Raises:
        StagingError: `y` is a tensor of unknown rank.

    See https://numpy.org/doc/stable/reference/generated/numpy.iterable.html.
    """
    if isinstance(y, (tf.Tensor, tf.Variable)):
        if y.shape.rank is None:
            raise ShapeNeededError.of(what="the rank of a tensor")
        return y.shape.rank > 0
    return y.ndim > 0 if is_array(y) else np.iterable(y)


OPS[np.iterable] = iterable
