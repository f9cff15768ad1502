"""Index arrays that are selections: ``x[index[i:j]]`` under XLA, which computes with all of `index`."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from np2tf.tnp._indexing.advanced_keys import positions
from np2tf.tnp._masked.chunked_reductions import reduce_selection, round_of
from np2tf.tnp._masked.element_sources import Round
from np2tf.tnp._masked.selected_arrays import guard_gradient, selection_of
from np2tf.tnp._masked.selection import AxisMask, Selection
from np2tf.tnp._tensor.index_bounds import checks_bounds, record_violation, suspend_recording
from np2tf.tnp._tensor.reductions_of_axes import reduce_any


def selected_index(base: tf.Tensor, key: Any) -> Selection | None:
    """Return the selection that indexes the first axis as the whole key; None for any other key."""
    if isinstance(key, (tuple, list, slice, int)):
        return None
    index = selection_of(key)
    usable = index is not None and len(index.parts) == 1 and index.whole.dtype.is_integer
    return index if usable and base.shape.rank and base.shape.is_fully_defined() else None


def _places(base: tf.Tensor, index: Selection) -> tuple[tf.Tensor, AxisMask]:
    """Return the positions of the index, counted from the start, and the part of the index that counts.

    Positions that do not count are 0.
    """
    (part,) = index.parts
    assert part is not None
    return positions(tf.cast(index.fill_outside(0), tf.int64), base.shape[0], 0), part


def gather_at(base: tf.Tensor, index: Selection) -> Selection:
    """Return ``base[index]``."""
    (part,) = index.parts
    assert part is not None
    parts = (part, *[None] * (base.shape.rank - 1))
    if round_of(index, (0,)) is None:
        return guard_gradient(Selection(tf.gather(base, _places(base, index)[0]), parts))
    if checks_bounds():
        record_violation(_is_beyond(base, index))
    with suspend_recording():
        whole = tf.gather(base, _places(base, index)[0])

    def read(axis: int, first: tf.Tensor, count: int, round_entered: Round) -> tf.Tensor:
        assert -axis == base.shape.rank
        with suspend_recording():
            places = positions(
                tf.cast(index.read(-1, first, count, round_entered), tf.int64), base.shape[0], 0
            )
        return tf.gather(base, places)

    return guard_gradient(Selection(whole, parts, read))


def _is_beyond(base: tf.Tensor, index: Selection) -> tf.Tensor:
    """Return whether an index that counts is out of bounds. Other indices are not checked."""

    def beyond(indices: tf.Tensor) -> tf.Tensor:
        indices = tf.cast(indices, tf.int64)
        return (indices < -base.shape[0]) | (indices >= base.shape[0])

    def read(axis: int, first: tf.Tensor, count: int, round_entered: Round) -> tf.Tensor:
        return beyond(index.read(axis, first, count, round_entered))

    selection = Selection(beyond(index.whole), index.parts, read)
    return reduce_selection("any", selection, (0,), reduce_any(selection.fill_outside(False)))


def fill_at(base: tf.Tensor, index: Selection, value: tf.Tensor) -> tf.Tensor | None:
    """Return `base` after ``base[index] = value``; None unless the value is a single number."""
    if value.shape.num_elements() != 1:
        return None
    places, part = _places(base, index)
    # XLA ignores writes beyond the end.
    places = tf.where(part.mask, places, base.shape[0])
    row = tf.fill([places.shape[0], *base.shape[1:]], tf.reshape(value, []))
    return tf.tensor_scatter_nd_update(base, places[:, None], row)
