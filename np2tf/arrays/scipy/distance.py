"""scipy.spatial.distance: the distances of all pairs of vectors."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.arrays.dispatch.op import Array
from np2tf.arrays.operands.axes import rank_of
from np2tf.arrays.operands.conversion import as_tensor, cast
from np2tf.arrays.scipy.declare import discard_unless, native, refusal
from np2tf.arrays.tensors.axis_reductions import reduce_all, reduce_max, reduce_mean, reduce_sum
from np2tf.arrays.tensors.dtype_dispatch import constant, gather_parts


def _sum(x: tf.Tensor) -> tf.Tensor:
    return reduce_sum(x, -1)


def _cosine(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    """Return 1 minus the cosine of the angle between vectors, with the cosine kept within [-1, 1]."""
    lengths = tf.sqrt(_sum(a * a)) * tf.sqrt(_sum(b * b))
    cosine = _sum(a * b) / lengths
    one = constant(1, cosine)
    return one - tf.where(tf.abs(cosine) > one, tf.sign(cosine), cosine)


def _correlation(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    """Return the cosine distance of vectors after the subtraction of their means."""
    means = (reduce_mean(vector, -1, keepdims=True) for vector in (a, b))
    return _cosine(*(vector - mean for vector, mean in zip((a, b), means)))


def _ratio(above: tf.Tensor, below: tf.Tensor) -> tf.Tensor:
    """Return the quotient of two arrays; 0 where the divisor is 0."""
    is_zero = tf.equal(below, constant(0, below))
    return tf.where(is_zero, constant(0, below), above / tf.where(is_zero, constant(1, below), below))


#: Metric -> the function that computes the distances of vectors in the last axes of two arrays.
_METRICS: dict[str, Callable[[tf.Tensor, tf.Tensor], tf.Tensor]] = {
    "euclidean": lambda a, b: tf.sqrt(_sum(tf.square(a - b))),
    "sqeuclidean": lambda a, b: _sum(tf.square(a - b)),
    "cityblock": lambda a, b: _sum(tf.abs(a - b)),
    "chebyshev": lambda a, b: reduce_max(tf.abs(a - b), -1),
    "canberra": lambda a, b: _sum(_ratio(tf.abs(a - b), tf.abs(a) + tf.abs(b))),
    "braycurtis": lambda a, b: _sum(tf.abs(a - b)) / _sum(tf.abs(a + b)),
    "hamming": lambda a, b: reduce_mean(tf.cast(tf.not_equal(a, b), a.dtype), -1),
    "cosine": _cosine,
    "correlation": _correlation,
}
_ALIASES = {
    **dict.fromkeys(("euclid", "eu", "e"), "euclidean"),
    **dict.fromkeys(("sqe", "sqeuclid"), "sqeuclidean"),
    **dict.fromkeys(("cblock", "cb", "c"), "cityblock"),
    **dict.fromkeys(("chebychev", "cheby", "cheb", "ch"), "chebyshev"),
    "cos": "cosine",
    "co": "correlation",
}


def _metric(name: str, metric: Any, p: Any) -> Callable[[tf.Tensor, tf.Tensor], tf.Tensor]:
    """Return the function of a metric.

    Raises:
        StagingError: the metric is the caller's own function, or only SciPy has it.
    """
    if not isinstance(metric, str):
        raise refusal(f"{name} with a metric that is the caller's function")
    metric_name = metric.lower()
    if metric_name in ("minkowski", "mi", "m"):
        power = 2.0 if p is None else p
        if not isinstance(power, (int, float)) or power <= 0:
            raise refusal(f"{name} with p={power!r}")
        if math.isinf(power):
            return _METRICS["chebyshev"]
        return lambda a, b: tf.pow(_sum(tf.pow(tf.abs(a - b), constant(power, a))), constant(1 / power, a))
    function = _METRICS.get(_ALIASES.get(metric_name, metric_name))
    if function is None or p is not None:
        raise refusal(f"{name} with metric={metric!r}")
    return function


def _vectors(name: str, x: tf.Tensor) -> tf.Tensor:
    """Return an operand (n, d) in float64.

    Raises:
        ValueError: the operand is not a matrix.
        StagingError: the operand is complex or empty, or has an unknown shape.
    """
    if rank_of(x) != 2:
        raise ValueError("A 2-dimensional array must be passed.")
    if not x.shape.is_fully_defined() or x.dtype.is_complex or 0 in x.shape:
        raise refusal(f"{name} of complex numbers, or of an array that is empty or of unknown shape")
    return cast(x, np.float64)


@native("scipy.spatial.distance.cdist")
def cdist(XA: Array, XB: Array, metric: Any = "euclidean", *, p: Any = None) -> tf.Tensor:
    """Return the distances between all vectors of one array and all vectors of another array."""
    first, second = _vectors("cdist", XA), _vectors("cdist", XB)
    if first.shape[1] != second.shape[1]:
        raise ValueError("XA and XB must have the same number of columns")
    return _metric("cdist", metric, p)(first[:, None, :], second[None, :, :])


@native("scipy.spatial.distance.pdist")
def pdist(X: Array, metric: Any = "euclidean", *, p: Any = None) -> tf.Tensor:
    """Return the distances between all pairs of vectors."""
    vectors = _vectors("pdist", X)
    rows, columns = np.triu_indices(vectors.shape[0], 1)
    return _metric("pdist", metric, p)(gather_parts(vectors, rows, 0), gather_parts(vectors, columns, 0))


@native("scipy.spatial.distance.squareform")
def squareform(X: Array, force: str = "no", checks: bool = True) -> tf.Tensor:
    """Convert a vector of pairwise distances to the symmetric matrix of distances, or back."""
    rank = rank_of(X)
    if rank not in (1, 2) or not X.shape.is_fully_defined() or 0 in X.shape:
        raise refusal(
            "squareform of an array that is neither vector nor matrix, or is empty or of unknown shape"
        )
    if (force.lower() == "tomatrix" and rank != 1) or (force.lower() == "tovector" and rank != 2):
        raise ValueError(f"squareform: force={force!r} does not fit the array")
    if rank == 1:
        return _matrix(X)
    size = X.shape[0]
    if X.shape[1] != size:
        raise ValueError("The matrix argument must be square.")
    if checks:
        symmetric = reduce_all(tf.equal(X, tf.transpose(X)))
        diagonal = tf.linalg.diag_part(X)
        empty = reduce_all(tf.equal(diagonal, tf.zeros_like(diagonal)))
        discard_unless(symmetric & empty, "squareform of something other than a distance matrix")
    rows, columns = np.triu_indices(size, 1)
    return gather_parts(tf.reshape(X, [-1]), rows * size + columns, 0)


def _matrix(pairs: tf.Tensor) -> tf.Tensor:
    """Return the symmetric matrix (n, n) of a vector of pairwise distances."""
    count = pairs.shape[0]
    size = math.isqrt(2 * count) + 1
    if size * (size - 1) != 2 * count:
        raise ValueError("Incompatible vector size.")
    place = np.zeros((size, size), np.int64)
    place[np.triu_indices(size, 1)] = np.arange(1, count + 1)
    return gather_parts(tf.concat([tf.zeros([1], pairs.dtype), pairs], 0), place + place.T, 0)


@native("scipy.spatial.distance.euclidean")
def euclidean(u: Array, v: Array) -> tf.Tensor:
    """Return the Euclidean distance of two vectors."""
    first, second = (
        cast(as_tensor(vector), np.float64) if not vector.dtype.is_complex else vector for vector in (u, v)
    )
    if rank_of(first) != 1 or rank_of(second) != 1 or first.dtype.is_complex or u.dtype == tf.float32:
        raise refusal("euclidean of operands that are complex, in single precision, or not vectors")
    if first.shape != second.shape:
        raise ValueError("operands could not be broadcast together")
    return _METRICS["euclidean"](first, second)
