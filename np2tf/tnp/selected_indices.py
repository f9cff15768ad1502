"""Index arrays that are selections: ``x[index[i:j]]`` under XLA, for which all of `index` is looked at."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from np2tf.tnp.bounds import checks_bounds, record_violation
from np2tf.tnp.selection import Cut, Selection, selection_of


def selected_index(base: tf.Tensor, key: Any) -> Selection | None:
    """The selection that is the whole key to the first axis; None for any other key."""
    if isinstance(key, (tuple, list, slice, int)):
        return None
    index = selection_of(key)
    usable = index is not None and len(index.parts) == 1 and index.whole.dtype.is_integer
    return index if usable and base.shape.rank and base.shape.is_fully_defined() else None


def _positions(base: tf.Tensor, index: Selection) -> tuple[tf.Tensor, Cut]:
    """Where the index points to, counted from the start, and which of it counts."""
    (part,) = index.parts
    assert part is not None
    length, place = base.shape[0], tf.cast(index.whole, tf.int64)
    place = tf.where(place < 0, place + length, place)
    if checks_bounds():
        record_violation(tf.reduce_any(part.mask & ((place < 0) | (place >= length))))
    return place, part


def gathered_at(base: tf.Tensor, index: Selection) -> Selection:
    """``base[index]``."""
    place, part = _positions(base, index)
    # What does not count may point anywhere.
    place = tf.where(part.mask, place, 0)
    return Selection(tf.gather(base, place), (part, *[None] * (base.shape.rank - 1)))


def filled_at(base: tf.Tensor, index: Selection, value: tf.Tensor) -> tf.Tensor | None:
    """`base` after ``base[index] = value``; None unless the value is one number."""
    if value.shape.num_elements() != 1:
        return None
    place, part = _positions(base, index)
    # XLA leaves out what is scattered to beyond the end.
    place = tf.where(part.mask, place, base.shape[0])
    row = tf.fill([place.shape[0], *base.shape[1:]], tf.reshape(value, []))
    return tf.tensor_scatter_nd_update(base, place[:, None], row)
