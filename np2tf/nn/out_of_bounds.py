"""Indices out of bounds, by JAX's modes: updates are left out, reads are filled, or indices are clipped."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from np2tf import tnp
from np2tf.tnp._array.ndarray import is_array

#: JAX's names of the modes -> the treatment of an index out of bounds. None raises IndexError, as NumPy does.
_MODES: dict[str | None, str | None] = {
    None: None,
    "promise_in_bounds": None,
    "fill": "drop",
    "drop": "drop",
    "clip": "clip",
}


class Access(NamedTuple):
    """An array and a key that reach the places that a mode selects.

    Attributes:
        array: the array, perhaps with one further slot along an axis, for indices out of bounds.
        key: the key, whose indices are in bounds.
        axis: the axis with the further slot; None if there is none.
    """

    array: Any
    key: Any
    axis: int | None

    def trim(self, array: Any) -> Any:
        """Return an updated array without the further slot."""
        if self.axis is None:
            return array
        return array[(*[slice(None)] * self.axis, slice(array.shape[self.axis] - 1))]


def access(x: Any, key: Any, mode: str | None, wraps: bool, slot: Any = 1) -> Access:
    """Return the array and the key for an access.

    Args:
        x: the array.
        key: the key, as in ``x[key]``.
        mode: the mode, by JAX's name.
        wraps: whether negative indices count from the end; otherwise they are out of bounds.
        slot: the value of the further slot.

    Raises:
        ValueError: there is no such mode.
    """
    if mode not in _MODES:
        raise ValueError(
            f"unknown mode {mode!r}: the modes are 'promise_in_bounds', 'fill', 'drop' and 'clip'"
        )
    treatment = _MODES[mode]
    if treatment is None and wraps:
        return Access(x, key, None)
    parts = _parts(key, x.ndim)
    axes = [(place, axis) for place, axis in _axes(parts) if _is_index(parts[place])]
    if not axes:
        return Access(x, key, None)
    are_out: Any = False
    for place, axis in axes:
        length = x.shape[axis]
        index = _integers(parts[place])
        if wraps:
            index = tnp.where(index < 0, index + length, index)
        are_out = tnp.logical_or(are_out, tnp.logical_or(index < 0, index >= length))
        if treatment is None:  # so that NumPy raises IndexError
            parts[place] = tnp.where(index < 0, length, index)
        else:
            parts[place] = tnp.clip(index, 0, max(length - 1, 0))
    if treatment != "drop":
        return Access(x, tuple(parts), None)
    place, axis = axes[0]
    parts[place] = tnp.where(are_out, x.shape[axis], parts[place])
    lengths = [1 if k == axis else length for k, length in enumerate(x.shape)]
    further_slot = tnp.full(lengths, slot, x.dtype)
    return Access(tnp.concatenate([x, further_slot], axis=axis), tuple(parts), axis)


def fill_value_of(dtype: np.dtype[Any]) -> Any:
    """Return the value that JAX reads at indices out of bounds."""
    if dtype.kind in "fc":
        return math.nan
    if dtype.kind == "i":
        return np.iinfo(dtype).min
    return np.iinfo(dtype).max if dtype.kind == "u" else True


def _parts(key: Any, ndim: int) -> list[Any]:
    """Return the parts of a key, with slices in the place of an ellipsis."""
    parts = list(key) if isinstance(key, tuple) else [key]
    places = [place for place, part in enumerate(parts) if part is Ellipsis]
    if places:
        count = ndim - sum(map(_axis_count, parts))
        parts[places[0] : places[0] + 1] = [slice(None)] * count
    return parts


def _axes(parts: list[Any]) -> Iterator[tuple[int, int]]:
    """Yield the place of each part that has axes, and its first axis."""
    axis = 0
    for place, part in enumerate(parts):
        if _axis_count(part):
            yield place, axis
        axis += _axis_count(part)


def _axis_count(part: Any) -> int:
    """Return the number of axes that a part of a key indexes."""
    if part is None or part is Ellipsis or isinstance(part, bool):
        return 0
    if isinstance(part, slice):
        return 1
    array = part if is_array(part) or isinstance(part, np.ndarray) else np.asarray(part)
    return int(array.ndim) if array.dtype.kind == "b" else 1


def _is_index(part: Any) -> bool:
    """Return whether a part of a key is an integer or an array of integers."""
    if isinstance(part, slice):
        return False
    return (part if is_array(part) or isinstance(part, np.ndarray) else np.asarray(part)).dtype.kind != "b"


def _integers(part: Any) -> Any:
    array = tnp.asarray(part)
    return array.astype(np.int64) if array.size or array.dtype.kind in "iu" else array.astype(int)


__all__ = ["Access", "access", "fill_value_of"]
