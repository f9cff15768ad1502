"""Reversed slices with an end that is known only at run time: read forwards, then reversed."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from np2tf.tnp._tensor.symint import Int, SymInt

_REVERSE_SLICE = slice(None, None, -1)


def make_forward(items: list[Any], lengths: list[int | None]) -> tuple[list[Any], tuple[slice, ...]] | None:
    """Return a key with its reversed slices turned round, and the key that reverses the result again.

    Args:
        items: the key, with one item per axis or new axis.
        lengths: the lengths of the axes.

    Returns:
        None if no slice of the key is reversed.
    """
    forward_items, order, has_reversal = [], [], False
    axes = iter(lengths)
    for item in items:
        length = None if item is None else next(axes)
        if _is_backwards(item) and length is not None:
            forward_items.append(
                slice(_position_after(item.stop, 0, length), _position_after(item.start, length, length))
            )
            order.append(_REVERSE_SLICE)
            has_reversal = True
        else:
            forward_items.append(item)
            order += [slice(None)] if item is None or isinstance(item, slice) else []
    return (forward_items, tuple(order)) if has_reversal else None


def _is_backwards(item: Any) -> bool:
    if not isinstance(item, slice) or item.step != -1:
        return False
    return isinstance(item.start, SymInt) or isinstance(item.stop, SymInt)


def _position_after(end: Int | None, default: int, length: int) -> Int:
    """Return the position after an end of a slice. Negative and too large ends have Python's meaning."""
    if end is None:
        return default
    if isinstance(end, int):
        return min(max(end + length if end < 0 else end, -1), length - 1) + 1
    if end.low is not None and end.low >= 0:
        behind = end.plus(1)
        if behind.high is not None and behind.high <= length:
            return behind
    else:
        behind = SymInt.fresh(tf.where(end.tensor < 0, end.tensor + length, end.tensor) + 1)
    return SymInt.fresh(tf.clip_by_value(behind.tensor, 0, length), 0, length)
