"""Index arrays that are selections: ``x[index[i:j]]`` under XLA, for which all of `index` is looked at."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from np2tf.tnp.advanced import positions
from np2tf.tnp.selection import Cut, Selection, guarded, selection_of


def selected_index(base: tf.Tensor, key: Any) -> Selection | None:
    """The selection that is the whole key to the first axis; None for any other key."""
    if isinstance(key, (tuple, list, slice, int)):
        return None
    index = selection_of(key)
    usable = index is not None and len(index.parts) == 1 and index.whole.dtype.is_integer
    return index if usable and base.shape.rank and base.shape.is_fully_defined() else None


def _places(base: tf.Tensor, index: Selection) -> tuple[tf.Tensor, Cut]:
    """Where the index points to, counted from the start, and which of it counts: the rest is 0."""
    (part,) = index.parts
    assert part is not None
    return positions(tf.cast(index.filled(0), tf.int64), base.shape[0], 0), part


def gathered_at(base: tf.Tensor, index: Selection) -> Selection:
    """``base[index]``."""
    places, part = _places(base, index)
    return guarded(Selection(tf.gather(base, places), (part, *[None] * (base.shape.rank - 1))))


def filled_at(base: tf.Tensor, index: Selection, value: tf.Tensor) -> tf.Tensor | None:
    """`base` after ``base[index] = value``; None unless the value is one number."""
    if value.shape.num_elements() != 1:
        return None
    places, part = _places(base, index)
    # XLA leaves out what is scattered to beyond the end.
    places = tf.where(part.mask, places, base.shape[0])
    row = tf.fill([places.shape[0], *base.shape[1:]], tf.reshape(value, []))
    return tf.tensor_scatter_nd_update(base, places[:, None], row)
