"""Sorting with companions: the greatest elements, and values in the order of keys."""

from __future__ import annotations

from typing import Any

from np2tf import tnp


def top_k(operand: Any, k: int) -> tuple[Any, Any]:
    """Return the greatest elements along the last axis, and their places.

    Args:
        operand: array of real numbers with at least one axis. NaN counts as the greatest number.
        k: how many elements to return.

    Returns:
        The elements in descending order, and their places as int32. Of equal elements the first comes first.

    Raises:
        ValueError: if the last axis has fewer than k elements.

    See https://docs.jax.dev/en/latest/_autosummary/jax.lax.top_k.html.
    """
    operand = tnp.asarray(operand)
    n = operand.shape[-1] if operand.ndim else 0
    if not 0 <= k <= n:
        raise ValueError(f"k={k} is not between 0 and the length of the last axis, {n}")
    # From behind, so that a stable ascending sort puts the first of equal elements last.
    order = tnp.argsort(operand[..., ::-1], axis=-1, kind="stable")
    places = n - 1 - order[..., n - k :][..., ::-1]
    return tnp.take_along_axis(operand, places, axis=-1), places.astype("int32")


def sort_key_val(keys: Any, values: Any, dimension: int = -1, is_stable: bool = True) -> tuple[Any, Any]:
    """Return keys in ascending order, and values in the order of their keys.

    Args:
        keys: array of real numbers with at least one axis; NaN comes last.
        values: array of the shape of keys and any dtype.
        dimension: the axis to sort along.
        is_stable: whether values of equal keys must keep their order.

    Returns:
        The sorted keys, and the values.

    Raises:
        ValueError: if the shapes differ.

    See https://docs.jax.dev/en/latest/_autosummary/jax.lax.sort_key_val.html.
    """
    keys, values = tnp.asarray(keys), tnp.asarray(values)
    if tuple(keys.shape) != tuple(values.shape):
        raise ValueError(f"keys have the shape {tuple(keys.shape)}, and values {tuple(values.shape)}")
    order = tnp.argsort(keys, axis=dimension, kind="stable" if is_stable else None)
    return tuple(tnp.take_along_axis(array, order, axis=dimension) for array in (keys, values))  # type: ignore[return-value]


__all__ = ["sort_key_val", "top_k"]
