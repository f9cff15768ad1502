"""Choices: of classes, of elements, and of an order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from np2tf import tnp
from np2tf.nn.operands import inexact
from np2tf.nn.sorting import top_k
from np2tf.random.continuous import gumbel, uniform
from np2tf.random.discrete import randint
from np2tf.random.keys import bits, split

#: Sorts by random words are repeated until equal words do no harm.
_EXPONENT = 3


def categorical(key: Any, logits: Any, axis: int = -1, shape: Sequence[int] | None = None) -> Any:
    """Return classes, drawn by the logarithms of their probabilities.

    Args:
        key: the key, from `PRNGKey` or `split`.
        logits: array of the logarithms; any constant may be added to them.
        axis: the axis of the classes.
        shape: the shape of the result, which ends with the other axes of logits; None for these.

    Returns:
        An integer array.

    Raises:
        ValueError: if the shape does not end so.

    See https://docs.jax.dev/en/latest/_autosummary/jax.random.categorical.html.
    """
    logits = inexact(logits)
    axis = axis % logits.ndim
    batch = (*logits.shape[:axis], *logits.shape[axis + 1 :])
    result_shape = batch if shape is None else tuple(shape)
    before = result_shape[: len(result_shape) - len(batch)]
    if result_shape[len(before) :] != batch:
        raise ValueError(f"the shape {result_shape} does not end with {batch}")
    noise = gumbel(key, (*before, *logits.shape), np.dtype(logits.dtype))
    return tnp.argmax(noise + logits, axis=axis + len(before))


def permutation(key: Any, x: Any, axis: int = 0, independent: bool = False) -> Any:
    """Return an array in random order along an axis.

    Args:
        key: the key, from `PRNGKey` or `split`.
        x: array with at least one axis, or an integer for ``np.arange(x)``.
        axis: the axis.
        independent: whether each line along the axis has an order of its own.

    Returns:
        An array of the shape and dtype of x.

    Raises:
        TypeError: if x is a number and no integer.

    See https://docs.jax.dev/en/latest/_autosummary/jax.random.permutation.html.
    """
    if np.ndim(x) == 0:
        if not isinstance(x, (int, np.integer)):
            raise TypeError(f"an array or an integer is permuted, not {x!r}")
        return _shuffle(key, tnp.arange(int(x)), 0)
    x = tnp.asarray(x)
    if independent or x.ndim == 1:
        return _shuffle(key, x, axis)
    return tnp.take(x, _shuffle(key, tnp.arange(x.shape[axis]), 0), axis=axis)


def choice(
    key: Any, a: Any, shape: Sequence[int] = (), replace: bool = True, p: Any = None, axis: int = 0
) -> Any:
    """Return elements of an array, or parts along an axis.

    Args:
        key: the key, from `PRNGKey` or `split`.
        a: array with at least one axis, or an integer for ``np.arange(a)``.
        shape: the shape of the choices.
        replace: whether an element may be chosen more than once.
        p: the probability of each element; None for equal probabilities.
        axis: the axis to choose along.

    Returns:
        An array of the dtype of a, in which the choices stand in the place of the axis.

    Raises:
        ValueError: if there is nothing to choose from, or not enough without replacement, or p has another
            shape.

    See https://docs.jax.dev/en/latest/_autosummary/jax.random.choice.html.
    """
    array = tnp.arange(int(a)) if np.ndim(a) == 0 else tnp.asarray(a)
    axis = axis % array.ndim
    n, count = array.shape[axis], math.prod(shape)
    if count and n == 0:
        raise ValueError("there is nothing to choose from")
    if not replace and count > n:
        raise ValueError(f"without replacement {count} of {n} elements cannot be chosen")
    if p is not None and tuple(np.shape(p)) != (n,):
        raise ValueError(f"p has the shape {np.shape(p)}, and there are {n} elements")
    if p is None and not replace:
        selection = permutation(key, array, axis)[(slice(None),) * axis + (slice(count),)]
        return selection.reshape((*array.shape[:axis], *shape, *array.shape[axis + 1 :]))
    return tnp.take(array, _places(key, n, tuple(shape), replace, p), axis=axis)


def _places(key: Any, n: int, shape: tuple[int, ...], replace: bool, p: Any) -> Any:
    """Return the places of chosen elements."""
    if p is None:
        return randint(key, shape, 0, n)
    p = inexact(p)
    kind = np.dtype(p.dtype)
    if replace:
        ends = tnp.cumsum(p)
        return tnp.searchsorted(ends, ends[-1] * (1 - uniform(key, shape, kind)))
    with np.errstate(divide="ignore"):  # the logarithm of the probability zero
        weights = gumbel(key, (n,), kind) + tnp.log(p)
    return top_k(weights, math.prod(shape))[1].reshape(shape)


def _shuffle(key: Any, x: Any, axis: int) -> Any:
    """Return an array sorted by random words, as often as is needed for equal words to do no harm."""
    rounds = math.ceil(_EXPONENT * math.log(max(1, math.prod(x.shape))) / math.log(np.iinfo(np.uint32).max))
    for _ in range(rounds):
        key, order_key = split(key)
        order = tnp.argsort(bits(order_key, x.shape, np.uint32), axis=axis, kind="stable")
        x = tnp.take_along_axis(x, order, axis=axis)
    return x


__all__ = ["categorical", "choice", "permutation"]
