"""numpy.polynomial.polynomial: the values of power series, the lowest power first."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf
from numpy.polynomial import polynomial

from np2tf.staging import ShapeNeededError
from np2tf.tnp._dispatch.argument_types import Array
from np2tf.tnp._dispatch.op import op
from np2tf.tnp._operands.axis_arguments import rank_of
from np2tf.tnp._operands.conversion import as_tensor, cast, promote

#: No names of the main namespace: its polyval has the highest power first.
__all__: list[str] = []


def _coefficients(c: tf.Tensor) -> tf.Tensor:
    c = c if rank_of(c) else c[None]
    if c.shape[0] is None:
        raise ShapeNeededError.of(what="the degree of a polynomial")
    if c.shape[0] == 0:
        raise IndexError("index -1 is out of bounds for axis 0 with size 0")
    return cast(c, np.float64) if c.dtype.is_integer or c.dtype == tf.bool else c


def _values(x: tf.Tensor, c: tf.Tensor, spread: bool) -> tf.Tensor:
    """Evaluate polynomials by Horner's scheme. If `spread`, evaluate every polynomial at every point."""
    c = _coefficients(c)
    if spread:
        c = tf.reshape(c, tf.concat([tf.shape(c), [1] * rank_of(x)], 0)) if rank_of(x) else c
    c, x = promote(c, x)
    powers = tf.unstack(c)
    value = powers[-1] + x * tf.zeros((), x.dtype)
    for coefficient in powers[-2::-1]:
        value = coefficient + value * x
    return value


@op(polynomial.polyval)
def polyval(x: Array, c: Array, tensor: bool = True) -> tf.Tensor:
    """Evaluate polynomials at points.

    Args:
        x: array of numbers.
        c: array (n, ...) of coefficients, the lowest power first.
        tensor: whether to evaluate every polynomial of `c` at every point; False broadcasts `x` with `c`.

    Returns:
        An array of the common dtype: for `tensor`, with the axes of the polynomials and then of the points.

    Raises:
        IndexError: there are no coefficients.
        StagingError: the degree is known only at run time.

    See https://numpy.org/doc/stable/reference/generated/numpy.polynomial.polynomial.polyval.html.
    """
    return _values(x, c, spread=tensor)


def _spread_over_points(c: tf.Tensor, *points: tf.Tensor) -> tf.Tensor:
    if not all(coordinates.shape.is_compatible_with(points[0].shape) for coordinates in points):
        raise ValueError("the points are incompatible")
    for k, coordinates in enumerate(points):
        c = _values(coordinates, c, spread=k == 0)
    return c


if hasattr(polynomial, "polyvalnd"):

    @op(polynomial.polyvalnd)
    def polyvalnd(pts: Any, c: Array) -> Any:
        """Evaluate polynomials of several variables at points.

        Args:
            pts: sequence of one array of coordinates for each variable, all of the same shape.
            c: array of coefficients with one axis for each variable in front, the lowest powers first.

        Returns:
            An array of the common dtype, with the axes of the polynomials and then of the points.

        Raises:
            ValueError: the shapes of the coordinates differ.

        See https://numpy.org/doc/stable/reference/generated/numpy.polynomial.polynomial.polyvalnd.html.
        """
        return _spread_over_points(c, *map(as_tensor, pts))


def _spread_over_grid(c: tf.Tensor, *points: tf.Tensor) -> tf.Tensor:
    for coordinates in points:
        c = _values(coordinates, c, spread=True)
    return c


@op(polynomial.polyval2d)
def polyval2d(x: Array, y: Array, c: Array) -> Any:
    """Evaluate polynomials of two variables at points.

    Args:
        x: array of first coordinates.
        y: array of second coordinates, in the same shape.
        c: array (n, m, ...) of coefficients, the lowest powers first.

    Returns:
        An array of the common dtype, with the axes of the polynomials and then of the points.

    Raises:
        ValueError: the shapes of the coordinates differ.

    See https://numpy.org/doc/stable/reference/generated/numpy.polynomial.polynomial.polyval2d.html.
    """
    return _spread_over_points(c, x, y)


@op(polynomial.polyval3d)
def polyval3d(x: Array, y: Array, z: Array, c: Array) -> Any:
    """Evaluate polynomials of three variables at points.

    Args:
        x: array of first coordinates.
        y: array of second coordinates, in the same shape.
        z: array of third coordinates, in the same shape.
        c: array (n, m, l, ...) of coefficients, the lowest powers first.

    Returns:
        An array of the common dtype, with the axes of the polynomials and then of the points.

    Raises:
        ValueError: the shapes of the coordinates differ.

    See https://numpy.org/doc/stable/reference/generated/numpy.polynomial.polynomial.polyval3d.html.
    """
    return _spread_over_points(c, x, y, z)


@op(polynomial.polygrid2d)
def polygrid2d(x: Array, y: Array, c: Array) -> Any:
    """Evaluate polynomials of two variables on a grid.

    Args:
        x: array of first coordinates.
        y: array of second coordinates.
        c: array (n, m, ...) of coefficients, the lowest powers first.

    Returns:
        An array whose last axes are the axes of `x` and of `y`.

    See https://numpy.org/doc/stable/reference/generated/numpy.polynomial.polynomial.polygrid2d.html.
    """
    return _spread_over_grid(c, x, y)


@op(polynomial.polygrid3d)
def polygrid3d(x: Array, y: Array, z: Array, c: Array) -> Any:
    """Evaluate polynomials of three variables on a grid.

    Args:
        x: array of first coordinates.
        y: array of second coordinates.
        z: array of third coordinates.
        c: array (n, m, l, ...) of coefficients, the lowest powers first.

    Returns:
        An array whose last axes are the axes of `x`, of `y` and of `z`.

    See https://numpy.org/doc/stable/reference/generated/numpy.polynomial.polynomial.polygrid3d.html.
    """
    return _spread_over_grid(c, x, y, z)
