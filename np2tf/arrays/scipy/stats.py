"""Distributions of scipy.stats: densities, distribution functions, quantiles."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.arrays.dispatch.op import Array
from np2tf.arrays.operands.axes import rank_of
from np2tf.arrays.operands.conversion import as_tensor, cast
from np2tf.arrays.scipy.declare import discard_unless, native, refusal, require_finite
from np2tf.arrays.scipy.special import (
    choose,
    incomplete_beta,
    log_gamma,
    log_normal_distribution,
    lower_gamma,
    normal_distribution,
    normal_quantile,
    upper_gamma,
)
from np2tf.arrays.tensors import batches
from np2tf.arrays.tensors.axis_reductions import reduce_all, reduce_max, reduce_min, reduce_sum
from np2tf.arrays.tensors.dtype_dispatch import broadcast_together, constant

_LOG_ROOT = 0.5 * math.log(2 * math.pi)


def _real(name: str, value: Any) -> tf.Tensor:
    tensor = as_tensor(value)
    if tensor.dtype.is_complex:
        raise refusal(f"{name} of complex numbers")
    return cast(tensor, np.float64)


def _standardise(name: str, x: Any, loc: Any, scale: Any) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """The number of the standard distribution, the scale (1 where it is not positive), and whether it is."""
    x, loc, scale = broadcast_together(*(_real(name, argument) for argument in (x, loc, scale)))
    good = (scale > constant(0, scale)) & ~tf.math.is_nan(x)
    scale = tf.where(good, scale, constant(1, scale))
    return (x - loc) / scale, scale, good


def _register_normal(method: str, function: Callable[[tf.Tensor, tf.Tensor], tf.Tensor]) -> None:
    name = f"scipy.stats.norm.{method}"

    def implementation(x: Array, loc: Any = 0, scale: Any = 1) -> tf.Tensor:
        y, width, good = _standardise(name, x, loc, scale)
        return tf.where(good, function(y, width), constant(math.nan, y))

    native(name)(implementation)


def _log_density(y: tf.Tensor, scale: tf.Tensor) -> tf.Tensor:
    return constant(-0.5, y) * y * y - constant(_LOG_ROOT, y) - tf.math.log(scale)


_register_normal(
    "pdf", lambda y, scale: tf.exp(constant(-0.5, y) * y * y) / constant(math.sqrt(2 * math.pi), y) / scale
)
_register_normal("logpdf", _log_density)
_register_normal("cdf", lambda y, _: normal_distribution(y))
_register_normal("logcdf", lambda y, _: log_normal_distribution(y))
_register_normal("sf", lambda y, _: normal_distribution(-y))
_register_normal("logsf", lambda y, _: log_normal_distribution(-y))


def _quantiles(name: str, q: Any, loc: Any, scale: Any, sign: int) -> tf.Tensor:
    q, loc, scale = broadcast_together(*(_real(name, argument) for argument in (q, loc, scale)))
    value = constant(sign, q) * normal_quantile(q) * scale + loc
    return tf.where(scale > constant(0, q), value, constant(math.nan, q))


@native("scipy.stats.norm.ppf")
def ppf(q: Array, loc: Any = 0, scale: Any = 1) -> tf.Tensor:
    """Return the number x such that a normal variable is below x with probability q."""
    return _quantiles("norm.ppf", q, loc, scale, 1)


@native("scipy.stats.norm.isf")
def isf(q: Array, loc: Any = 0, scale: Any = 1) -> tf.Tensor:
    """Return the number x such that a normal variable is above x with probability q."""
    return _quantiles("norm.isf", q, loc, scale, -1)


# -- distributions of test statistics ------------------------------------------------------------------------


def _register_one_parameter(name: str, function: Callable[[tf.Tensor, tf.Tensor], tf.Tensor]) -> None:
    """A function of a distribution with one parameter, the degrees of freedom."""

    def implementation(x: Array, df: Any, loc: Any = 0, scale: Any = 1) -> tf.Tensor:
        y, width, good = _standardise(name, x, loc, scale)
        y, width, freedom, good = broadcast_together(y, width, _real(name, df), good)
        good &= freedom > constant(0, y)
        value = function(tf.where(good, y, constant(1, y)), tf.where(good, freedom, constant(1, y)))
        return tf.where(good, value, constant(math.nan, y))

    native(name)(implementation)


def _chi_square(upper: bool) -> Callable[[tf.Tensor, tf.Tensor], tf.Tensor]:
    def call(y: tf.Tensor, freedom: tf.Tensor) -> tf.Tensor:
        half, zero = constant(0.5, y), constant(0, y)
        compute = upper_gamma if upper else lower_gamma
        value = compute(half * freedom, half * tf.where(y < zero, zero, y))
        return tf.where(y < zero, constant(float(upper), y), value)

    return call


def _student(sign: int) -> Callable[[tf.Tensor, tf.Tensor], tf.Tensor]:
    """Return the function for the probability that Student's t is below ``sign * y``."""

    def call(y: tf.Tensor, freedom: tf.Tensor) -> tf.Tensor:
        half, one, square = constant(0.5, y), constant(1, y), y * y
        # There are two formulas; each number uses the formula whose argument does not round to 1.
        near = square < freedom
        infinite = tf.math.is_inf(square)
        share = tf.where(near | infinite, one, freedom / (freedom + square))
        tail = half * incomplete_beta(half * freedom, tf.fill(tf.shape(y), half), share)
        inner = tf.where(near, square / (freedom + square), half)
        middle = half - half * incomplete_beta(tf.fill(tf.shape(y), half), half * freedom, inner)
        size = choose(tail, (near, middle), (infinite, 0.0))
        return tf.where(constant(sign, y) * y < constant(0, y), size, one - size)

    return call


def _register_fisher(name: str, upper: bool) -> None:
    """Declare the distribution function of the F distribution, or its survival function if `upper`."""

    def implementation(x: Array, dfn: Any, dfd: Any, loc: Any = 0, scale: Any = 1) -> tf.Tensor:
        y, _, good = _standardise(name, x, loc, scale)
        y, first, second, good = broadcast_together(y, _real(name, dfn), _real(name, dfd), good)
        zero, one, half = constant(0, y), constant(1, y), constant(0.5, y)
        good &= (first > zero) & (second > zero)
        infinite = tf.math.is_inf(y)
        inside = good & ~infinite & (y > zero)
        y_in, above, below = (tf.where(inside, part, one) for part in (y, first, second))
        sum = above * y_in + below
        if upper:
            value = incomplete_beta(half * below, half * above, below / sum)
        else:
            value = incomplete_beta(half * above, half * below, above * y_in / sum)
        value_at_zero, value_at_infinity = (one, zero) if upper else (zero, one)
        return choose(value, (~good, math.nan), (y <= zero, value_at_zero), (infinite, value_at_infinity))

    native(name)(implementation)


_register_fisher("scipy.stats.f.cdf", False)
_register_fisher("scipy.stats.f.sf", True)
_register_one_parameter("scipy.stats.chi2.cdf", _chi_square(False))
_register_one_parameter("scipy.stats.chi2.sf", _chi_square(True))
_register_one_parameter("scipy.stats.t.cdf", _student(1))
_register_one_parameter("scipy.stats.t.sf", _student(-1))


@native("scipy.stats.t.pdf")
def student_density(x: Array, df: Any, loc: Any = 0, scale: Any = 1) -> tf.Tensor:
    """Return the density of Student's t distribution."""
    y, width, good = _standardise("t.pdf", x, loc, scale)
    y, width, freedom, good = broadcast_together(y, width, _real("t.pdf", df), good)
    good &= freedom > constant(0, y)
    discard_unless(reduce_all(~good | (freedom < constant(1e6, y))), "t.pdf with so many degrees of freedom")
    half, one = constant(0.5, y), constant(1, y)
    freedom = tf.where(good, freedom, one)
    logarithm = (
        log_gamma(half * (freedom + one))
        - log_gamma(half * freedom)
        - half * tf.math.log(freedom * constant(math.pi, y))
        - half * (freedom + one) * tf.math.log1p(y * y / freedom)
    )
    return tf.where(good, tf.exp(logarithm) / width, constant(math.nan, y))


# -- several dimensions --------------------------------------------------------------------------------------


def _log_densities(name: str, x: tf.Tensor, mean: Any, cov: Any) -> tf.Tensor:
    points = _real(name, x)
    centre = None if mean is None else _real(name, mean)
    covariance = _real(name, cov)
    if centre is None:
        size = covariance.shape[0] if rank_of(covariance) else 1
    else:
        size = centre.shape[0] if rank_of(centre) else 1
    if rank_of(covariance) > 2 or (centre is not None and rank_of(centre) > 1) or size is None:
        raise refusal(f"{name} with such parameters")
    if rank_of(covariance) == 0 or (rank_of(covariance) == 1 and size > 1):
        covariance = tf.linalg.diag(tf.broadcast_to(covariance, [size]))
    covariance = tf.reshape(covariance, [1, 1]) if rank_of(covariance) == 1 else covariance
    if covariance.shape != (size, size):
        raise ValueError("Array 'mean' and 'cov' do not have fitting shapes")
    if rank_of(points) == 0:
        points = points[None]
    elif rank_of(points) == 1:
        points = points[:, None] if size == 1 else points[None, :]
    if points.shape[-1] not in (1, size):
        raise ValueError("operands could not be broadcast together")
    require_finite(name, True, covariance)
    values, vectors = batches.eigh(covariance)
    limit = 1e6 * np.finfo(np.float64).eps
    regular = reduce_min(values) > limit * reduce_max(tf.abs(values))
    discard_unless(regular, f"{name} with a covariance that is singular")
    deviations = points if centre is None else points - centre
    scores = tf.einsum(
        "...i,ij->...j",
        tf.broadcast_to(deviations, [*deviations.shape[:-1], size]),
        vectors / tf.sqrt(values),
    )
    distance = reduce_sum(tf.square(scores), -1)
    constants = constant(size * math.log(2 * math.pi), values) + reduce_sum(tf.math.log(values))
    return tf.squeeze(constant(-0.5, distance) * (constants + distance))


@native("scipy.stats.multivariate_normal.logpdf")
def multivariate_log_density(x: Array, mean: Any = None, cov: Any = 1) -> tf.Tensor:
    """Return the logarithm of the density of normal vectors."""
    return _log_densities("multivariate_normal.logpdf", x, mean, cov)


@native("scipy.stats.multivariate_normal.pdf")
def multivariate_density(x: Array, mean: Any = None, cov: Any = 1) -> tf.Tensor:
    """Return the density of normal vectors."""
    return tf.exp(_log_densities("multivariate_normal.pdf", x, mean, cov))
