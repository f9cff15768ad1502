"""Collectives: operations over all lanes of a `vmap` or `pmap`, or all replicas, of an axis with a name."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from np2tf import tnp
from np2tf.transforms.lanes.axes import Combine, find_axis


def _sum(parts: Sequence[Any]) -> Any:
    return functools.reduce(tnp.add, parts)


def _sum_stacked(stack: Any) -> Any:
    return tnp.sum(stack, axis=0, dtype=stack.dtype)


_SUM = Combine(_sum, _sum_stacked, of_sum=lambda total, count: total)
_MEAN = Combine(
    lambda parts: _sum(parts) / len(parts),
    lambda stack: _sum_stacked(stack) / stack.shape[0],
    of_sum=lambda total, count: total / count,
)
_MAX = Combine(lambda parts: functools.reduce(tnp.maximum, parts), lambda stack: tnp.max(stack, axis=0))


def _gather(axis: int, tiled: bool) -> Combine:
    def of_stacks() -> Combine:
        return _gather(axis + 1 if axis >= 0 else axis, tiled)

    if not tiled:
        return Combine(
            lambda parts: tnp.stack(list(parts), axis=axis),
            lambda stack: tnp.moveaxis(stack, 0, axis),
            of_stacks,
        )

    def tile(stack: Any) -> Any:
        lengths = list(stack.shape[1:])
        place = range(len(lengths))[axis]
        lengths[place] *= len(stack)
        return tnp.reshape(tnp.moveaxis(stack, 0, place), lengths)

    return Combine(lambda parts: tnp.concatenate(list(parts), axis=axis), tile, of_stacks)


def psum(x: Any, axis_name: Any) -> Any:
    """Return the sum of `x` over all lanes of a named axis.

    Args:
        x: an array of any shape and numeric dtype, or a nested value of these.
        axis_name: the name that `vmap` or `pmap` has got, or a tuple of names.

    Returns:
        A value of the structure and shapes of `x`, the same in all lanes.

    Raises:
        AxisNameError: no vmap around the call has an axis of this name.

    See https://docs.jax.dev/en/latest/_autosummary/jax.lax.psum.html.
    """
    return _collective("psum", x, axis_name, _SUM)


def pmean(x: Any, axis_name: Any) -> Any:
    """Return the mean of `x` over all lanes of a named axis.

    Args:
        x: an array of any shape and numeric dtype, or a nested value of these.
        axis_name: the name that `vmap` or `pmap` has got, or a tuple of names.

    Returns:
        A value of the structure and shapes of `x`, the same in all lanes.

    Raises:
        AxisNameError: no vmap around the call has an axis of this name.

    See https://docs.jax.dev/en/latest/_autosummary/jax.lax.pmean.html.
    """
    return _collective("pmean", x, axis_name, _MEAN)


def pmax(x: Any, axis_name: Any) -> Any:
    """Return the largest `x` of all lanes of a named axis, element by element.

    Args:
        x: an array of any shape and numeric dtype, or a nested value of these.
        axis_name: the name that `vmap` or `pmap` has got, or a tuple of names.

    Returns:
        A value of the structure, shapes and dtypes of `x`, the same in all lanes.

    Raises:
        AxisNameError: no vmap around the call has an axis of this name.

    See https://docs.jax.dev/en/latest/_autosummary/jax.lax.pmax.html.
    """
    return _collective("pmax", x, axis_name, _MAX)


def all_gather(x: Any, axis_name: Any, *, axis: int = 0, tiled: bool = False) -> Any:
    """Return the values of `x` in all lanes of a named axis, along a new axis.

    Args:
        x: an array of any shape and dtype, or a nested value of these.
        axis_name: the name that `vmap` or `pmap` has got, or a tuple of names.
        axis: the place of the new axis.
        tiled: whether the values are joined along the existing axis `axis` instead.

    Returns:
        A value of the structure of `x`, the same in all lanes: arrays with one axis more, whose length is the
        number of lanes.

    Raises:
        AxisNameError: no vmap around the call has an axis of this name.

    See https://docs.jax.dev/en/latest/_autosummary/jax.lax.all_gather.html.
    """
    return _collective("all_gather", x, axis_name, _gather(axis, tiled))


def axis_index(axis_name: Any) -> Any:
    """Return the number of the lane along a named axis.

    Args:
        axis_name: the name that `vmap` or `pmap` has got.

    Returns:
        An int from 0 to the number of lanes - 1; a staged int where all lanes are staged together.

    Raises:
        AxisNameError: no vmap around the call has an axis of this name.

    See https://docs.jax.dev/en/latest/_autosummary/jax.lax.axis_index.html.
    """
    return find_axis(axis_name)[0].lane


def _collective(name: str, x: Any, axis_name: Any, combine: Combine) -> Any:
    if isinstance(axis_name, (tuple, list)):
        for single_name in axis_name:
            x = _collective(name, x, single_name, combine)
        return x
    axis, inner = find_axis(axis_name)
    return axis.collective(name, x, combine, inner)
