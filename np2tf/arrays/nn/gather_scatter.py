"""Sorting with companions, segments, and at: writes that return a new array."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

import numpy as np

from np2tf import tnp
from np2tf.arrays.array.ndarray import is_array
from np2tf.arrays.nn.activations import dtype_of, highest, lowest
from np2tf.core.errors import ValueNeededError

if TYPE_CHECKING:
    from typing_extensions import Unpack  # Python 3.10 has none of its own

__all__ = [
    "Access",
    "Place",
    "access",
    "at",
    "fill_value_of",
    "segment_max",
    "segment_min",
    "segment_prod",
    "segment_sum",
    "sort_key_val",
    "top_k",
]


# -- sorting -------------------------------------------------------------------------------------------------
# Sorting with companions: the greatest elements, and values in the order of keys.


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


# -- segments ------------------------------------------------------------------------------------------------
# Reductions of segments: of the elements that have the same number.


def segment_sum(data: Any, segment_ids: Any, num_segments: int | None = None) -> Any:
    """Return the sum of each segment.

    Args:
        data: array whose first axis has the elements.
        segment_ids: integer array with the segment of each element; elements outside of
            ``range(num_segments)`` are left out.
        num_segments: the number of segments; None for the greatest number in `segment_ids` plus one.

    Returns:
        An array of the dtype of data, with a segment along the first axis; 0 for an empty segment.

    See https://docs.jax.dev/en/latest/_autosummary/jax.ops.segment_sum.html.
    """
    return _reduce(data, segment_ids, num_segments, tnp.add_at, lambda dtype: dtype.type(0))


def segment_prod(data: Any, segment_ids: Any, num_segments: int | None = None) -> Any:
    """Return the product of each segment.

    Args:
        data: array whose first axis has the elements.
        segment_ids: integer array with the segment of each element; elements outside of
            ``range(num_segments)`` are left out.
        num_segments: the number of segments; None for the greatest number in `segment_ids` plus one.

    Returns:
        An array of the dtype of data, with a segment along the first axis; 1 for an empty segment.

    See https://docs.jax.dev/en/latest/_autosummary/jax.ops.segment_prod.html.
    """
    return _reduce(data, segment_ids, num_segments, tnp.multiply_at, lambda dtype: dtype.type(1))


def segment_max(data: Any, segment_ids: Any, num_segments: int | None = None) -> Any:
    """Return the greatest element of each segment.

    Args:
        data: array of real numbers whose first axis has the elements.
        segment_ids: integer array with the segment of each element; elements outside of
            ``range(num_segments)`` are left out.
        num_segments: the number of segments; None for the greatest number in `segment_ids` plus one.

    Returns:
        An array of the dtype of data, with a segment along the first axis; the least value of the dtype for
        an empty segment.

    See https://docs.jax.dev/en/latest/_autosummary/jax.ops.segment_max.html.
    """
    return _reduce(data, segment_ids, num_segments, tnp.maximum_at, lowest)


def segment_min(data: Any, segment_ids: Any, num_segments: int | None = None) -> Any:
    """Return the least element of each segment.

    Args:
        data: array of real numbers whose first axis has the elements.
        segment_ids: integer array with the segment of each element; elements outside of
            ``range(num_segments)`` are left out.
        num_segments: the number of segments; None for the greatest number in `segment_ids` plus one.

    Returns:
        An array of the dtype of data, with a segment along the first axis; the greatest value of the dtype
        for an empty segment.

    See https://docs.jax.dev/en/latest/_autosummary/jax.ops.segment_min.html.
    """
    return _reduce(data, segment_ids, num_segments, tnp.minimum_at, highest)


def _reduce(
    data: Any, ids: Any, count: int | None, update: Callable[..., Any], initial: Callable[[Any], Any]
) -> Any:
    data, ids = tnp.asarray(data), tnp.asarray(ids)
    n = count if count is not None else int(tnp.max(ids)) + 1
    dtype = dtype_of(data)
    # Elements that are left out go to a place behind the segments.
    place = tnp.where((ids < 0) | (ids >= n), n, ids)
    start = tnp.full_like(data, initial(dtype), shape=(n + 1, *data.shape[1:]))
    result = update(start, place, data)
    return result[:n]


# -- out of bounds -------------------------------------------------------------------------------------------
# Indices out of bounds, by JAX's modes: updates are left out, reads are filled, or indices are clipped.

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


# -- updates -------------------------------------------------------------------------------------------------
# `np2tf.nn.at`: writes that leave the array as it is, and return a new array.

#: So many indices that may be equal are applied one after another while staging.
_MOST_APPLIED = 64


class Options(TypedDict, total=False):
    """The options of an access.

    Attributes:
        mode: the treatment of indices out of bounds. "drop" and "fill" leave updates out, and read the fill
            value; "clip" takes the nearest place. None and "promise_in_bounds" raise IndexError.
        indices_are_sorted, unique_indices: facts about the indices, which change no result.
        wrap_negative_indices: whether negative indices count from the end; True if it is not given.
    """

    mode: str | None
    indices_are_sorted: bool
    unique_indices: bool
    wrap_negative_indices: bool


class at:
    """An array to make a changed copy of: ``at(x)[key].set(value)`` is JAX's ``x.at[key].set(value)``.

    The updates but `set` apply once for each occurrence of an index. All methods have JAX's options: `mode`,
    `indices_are_sorted`, `unique_indices` and `wrap_negative_indices`. Without a mode, an index out of bounds
    is an IndexError, as in NumPy; JAX leaves such updates out.

    Args:
        x: array of any shape and dtype.

    See https://docs.jax.dev/en/latest/_autosummary/jax.numpy.ndarray.at.html.
    """

    __slots__ = ("_x",)

    def __init__(self, x: Any) -> None:
        self._x = x

    def __getitem__(self, key: Any) -> Place:
        return Place(self._x, key)


class Place:
    """A part of an array to make a changed copy of.

    Args:
        x: the array.
        key: the part, as in ``x[key]``.
    """

    __slots__ = ("_key", "_x")

    def __init__(self, x: Any, key: Any) -> None:
        self._x, self._key = x, key

    def get(self, *, fill_value: Any = None, **options: Unpack[Options]) -> Any:
        """Return a copy of the part.

        Args:
            fill_value: the value at indices out of bounds, for the modes "fill" and "drop"; by default NaN,
                the least integer of a signed dtype, the greatest of an unsigned dtype, or True.
            **options: as for `Options`.
        """
        x = tnp.asarray(self._x)
        slot = fill_value_of(np.dtype(x.dtype)) if fill_value is None else fill_value
        mode, wraps = _check(options)
        place = access(x, self._key, mode, wraps, slot)
        return tnp.array(place.array[place.key])

    def _update(self, options: Options, write: Callable[[Any, Any], Any]) -> Any:
        """Return the array that `write` makes of a copy and a key in bounds."""
        mode, wraps = _check(options)
        place = access(tnp.array(self._x), self._key, mode, wraps)
        return place.trim(write(place.array, place.key))

    def set(self, value: Any, **options: Unpack[Options]) -> Any:
        """Return a copy of the array in which the part is `value`, cast to the array's dtype."""
        return self._update(options, lambda x, key: tnp.at(x)[key].set(value))

    def apply(self, function: Callable[[Any], Any], **options: Unpack[Options]) -> Any:
        """Return a copy of the array in which `function` is applied to the elements of the part.

        An element whose index occurs several times is replaced as often.

        Args:
            function: a function of an array that works element by element, and keeps the dtype.
            **options: as for `Options`.

        Raises:
            TypeError: the results have another dtype.
        """
        return self._update(
            options, lambda x, key: _apply(x, key, function, bool(options.get("unique_indices")))
        )

    def add(self, value: Any, **options: Unpack[Options]) -> Any:
        """Return a copy of the array in which `value` is added to the part."""
        return self._update(options, lambda x, key: tnp.add_at(x, key, value))

    def subtract(self, value: Any, **options: Unpack[Options]) -> Any:
        """Return a copy of the array in which `value` is subtracted from the part."""
        return self._update(options, lambda x, key: tnp.subtract_at(x, key, value))

    def multiply(self, value: Any, **options: Unpack[Options]) -> Any:
        """Return a copy of the array in which the part is multiplied by `value`."""
        return self._update(options, lambda x, key: tnp.multiply_at(x, key, value))

    mul = multiply

    def divide(self, value: Any, **options: Unpack[Options]) -> Any:
        """Return a copy of the array in which the part is divided by `value`."""
        return self._update(options, lambda x, key: tnp.divide_at(x, key, value))

    def power(self, value: Any, **options: Unpack[Options]) -> Any:
        """Return a copy of the array in which the part is raised to the power `value`."""
        return self._update(options, lambda x, key: tnp.power_at(x, key, value))

    def min(self, value: Any, **options: Unpack[Options]) -> Any:
        """Return a copy of the array in which the part is the lesser of itself and `value`."""
        return self._update(options, lambda x, key: tnp.minimum_at(x, key, value))

    def max(self, value: Any, **options: Unpack[Options]) -> Any:
        """Return a copy of the array in which the part is the greater of itself and `value`."""
        return self._update(options, lambda x, key: tnp.maximum_at(x, key, value))


def _check(options: Options) -> tuple[str | None, bool]:
    """Return the mode, and whether negative indices count from the end.

    Raises:
        TypeError: there is no such option.
    """
    unknown_names = options.keys() - Options.__annotations__.keys()
    if unknown_names:
        raise TypeError(f"at(…) got an unexpected keyword argument {min(unknown_names)!r}")
    return options.get("mode"), options.get("wrap_negative_indices", True)


def _apply(x: Any, key: Any, function: Callable[[Any], Any], is_unique: bool) -> Any:
    """Return `x` with the function applied to each element as often as the key names it."""
    if is_unique or not _may_repeat(key):
        return tnp.at(x)[key].set(_of_dtype(function(x[key]), x))
    counts = tnp.add_at(tnp.zeros(x.shape, np.int64), key, 1)
    for k in range(_most_repetitions(counts, key)):
        x = tnp.where(counts > k, _of_dtype(function(x), x), x)
    return x


def _of_dtype(result: Any, x: Any) -> Any:
    result = tnp.asarray(result)
    if result.dtype != x.dtype:
        raise TypeError(f"the function that is applied returns {result.dtype} for an array of {x.dtype}")
    return result


def _may_repeat(key: Any) -> bool:
    """Return whether a key may name an element twice: it has an array of integers."""
    parts = key if isinstance(key, tuple) else (key,)
    return any(np.ndim(part) > 0 and tnp.asarray(part).dtype.kind != "b" for part in parts if _is_list(part))


def _is_list(part: Any) -> bool:
    return is_array(part) or isinstance(part, (np.ndarray, list, tuple))


def _most_repetitions(counts: Any, key: Any) -> int:
    """Return a number of repetitions that no element exceeds.

    Raises:
        ValueNeededError: the number is known only at run time, and may be large.
    """
    try:
        return int(np.max(np.asarray(counts), initial=0))
    except ValueNeededError:
        parts = [part for part in (key if isinstance(key, tuple) else (key,)) if _is_list(part)]
        shape = np.broadcast_shapes(*[tuple(tnp.shape(part)) for part in parts])
        if math.prod(shape) > _MOST_APPLIED:
            raise ValueNeededError(
                "the number of equal indices of at(x)[i].apply(f), which is known only at run time; give "
                "unique_indices=True, or at most 64 indices"
            ) from None
        return math.prod(shape)
