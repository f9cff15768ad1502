"""Keys of masks under XLA: results of `nonzero` as indices, masks beside integers, masks of selections.

``x[np.where(m)[0]]`` equals ``x[m]``, and ``a[m, 0]`` equals ``a[:, 0][m]``, so that positions are never
counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from np2tf.tnp._array.ndarray import chain_of, ndarray, tensor_array, tensor_scalar
from np2tf.tnp._indexing.keys import FULL
from np2tf.tnp._masked.selected_arrays import guard_gradient, selected_array, selection_of
from np2tf.tnp._masked.selection import AxisMask, Selection, mask_of_axis
from np2tf.tnp._tensor import symint
from np2tf.tnp._tensor.index_bounds import record_violation
from np2tf.tnp._tensor.reductions_of_axes import reduce_any
from np2tf.tnp._tensor.storage import staging_for_xla
from np2tf.tnp._tensor.symint import SymInt


@dataclass(frozen=True, eq=False, kw_only=True)
class TruePlaces(Selection):
    """The positions along an axis at which a mask is true, kept as all positions with the mask."""

    of: tf.Tensor
    axis: int


def true_places_of(mask: tf.Tensor) -> tuple[ndarray, ...] | None:
    """Return ``nonzero(mask)`` as selections of all positions; None if the mask or its shape is known."""
    shape = mask.shape
    if not staging_for_xla() or not shape.is_fully_defined() or tf.get_static_value(mask) is not None:
        return None
    part = mask_of_axis(mask)
    place = tf.range(shape.num_elements(), dtype=tf.int64)
    selections: list[ndarray] = []
    for axis in reversed(range(shape.rank)):
        length = shape[axis]
        whole = tf.math.floormod(place, max(length, 1)) if axis else place
        selections.insert(0, selected_array(TruePlaces(whole, (part,), of=mask, axis=axis)))
        place = place // max(length, 1) if axis else place
    return tuple(selections)


def restore_masks(array: ndarray, key: Any) -> Any:
    """Return a key with masks in place of the positions at which they are true."""
    items = key if isinstance(key, tuple) else (key,)
    first = _places(items[0]) if items else None
    if first is None:
        return key
    rank = first.of.shape.rank
    places = [_places(item) for item in items[:rank]]
    is_whole = len(places) == rank and all(
        factor is not None and factor.of is first.of and factor.axis == axis
        for axis, factor in enumerate(places)
    )
    if not is_whole or tuple(first.of.shape.as_list()) != array.shape[:rank]:
        return key
    items_behind = items[rank:]
    return (tensor_array(first.of), *items_behind) if items_behind else tensor_array(first.of)


def _places(item: Any) -> TruePlaces | None:
    selection = None if isinstance(item, (slice, int)) else selection_of(item)
    return selection if isinstance(selection, TruePlaces) and not chain_of(item) else None


def mask_beside(items: list[Any]) -> tuple[tf.Tensor, tuple[Any, ...]] | None:
    """Return the mask of a key like ``a[mask, 0]``, and the key of the other axes as a key of the whole
    array.

    Returns:
        None for other keys, for a mask alone, and if the ends of slices are known only at run time.
    """
    first = items[0] if items else None
    if not isinstance(first, tf.Tensor) or first.dtype != tf.bool or not first.shape.rank:
        return None
    items_behind = items[1:]
    if not all(isinstance(item, (int, SymInt)) or _is_static(item) for item in items_behind):
        return None
    if all(isinstance(item, slice) and item == FULL for item in items_behind):
        return None
    return first, (*[FULL] * first.shape.rank, *items_behind)


def mask_behind(items: list[Any]) -> tuple[tf.Tensor, int] | None:
    """Return the mask of a key like ``a[:, mask]`` and its first axis; None for other keys."""
    places = [place for place, item in enumerate(items) if not (isinstance(item, slice) and item == FULL)]
    mask = items[places[0]] if len(places) == 1 and places[0] else None
    if not isinstance(mask, tf.Tensor) or mask.dtype != tf.bool or not mask.shape.rank:
        return None
    return mask, places[0]


def _is_static(item: Any) -> bool:
    return isinstance(item, slice) and not any(
        isinstance(e, SymInt) for e in (item.start, item.stop, item.step)
    )


def get_from_selection(array: ndarray, key: Any) -> Any:
    """Return ``array[key]`` of a selection, for a mask that is a selection too, and for the keys 0 and -1.

    Returns:
        None for any other array or key.
    """
    selection = selection_of(array) if not chain_of(array) else None
    if (
        selection is None
        or len(selection.parts) != 1
        or selection.parts[0] is None
        or selection.parts[0].interval is not None
    ):
        return None
    part = selection.parts[0]
    if type(key) is int and key in (0, -1):
        return _end(selection.whole, part, last=key == -1)
    mask = None if isinstance(key, (tuple, list, slice, int)) else selection_of(key)
    if mask is None or mask.whole.dtype != tf.bool or len(mask.parts) != 1:
        return None
    if mask.parts[0] is None or mask.parts[0].key != part.key:
        return None
    return selected_array(
        guard_gradient(Selection(selection.whole, (mask_of_axis(tf.logical_and(part.mask, mask.whole)),)))
    )


def _end(whole: tf.Tensor, part: AxisMask, last: bool) -> Any:
    """Return the first or the last selected element; if no element is selected, the call is discarded."""
    record_violation(tf.logical_not(reduce_any(part.mask)))
    truth = tf.cast(part.mask, tf.int32)
    place = tf.argmax(tf.reverse(truth, [0]) if last else truth)
    place = symint.tensor_of(whole.shape[0]) - 1 - place if last else place
    return tensor_scalar(tf.gather(whole, place))
