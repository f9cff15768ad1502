"""Chooses the helper that writes to the part of an array that a key chooses."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from np2tf.translator.tensorflow.model import Frame
from np2tf.translator.tensorflow.numpy_table import ELSEWHERE
from np2tf.translator.tensorflow.values import NUMBERS, Value


def setter(
    base: Value, elements: Sequence[cst.SubscriptElement], key: Sequence[Value], value: Value, frame: Frame
) -> tuple[str, ...]:
    """Return the helper for `x[key] = value`, and what it needs."""
    if _is_of_slices(elements, key, frame):
        helper = "_set_slice"
    elif _is_mask(base, key) and value.only(*NUMBERS, "scalar"):
        helper = "_set_where"
    else:
        helper = "_set_item"
    return (helper, *needs(base))


def updater(
    base: Value, elements: Sequence[cst.SubscriptElement], key: Sequence[Value], frame: Frame
) -> tuple[str, ...]:
    """Return the helper for `x[key] += value`, and what it needs."""
    return ("_update_slice" if _is_of_slices(elements, key, frame) else "_update_item", *needs(base))


def needs(base: Value) -> tuple[str, ...]:
    """Return what a helper needs that writes to a value."""
    return () if base.certain and base.only("array") else (ELSEWHERE,)


def _is_of_slices(elements: Sequence[cst.SubscriptElement], key: Sequence[Value], frame: Frame) -> bool:
    """Return whether a key has only whole numbers, and slices whose ends are numbers."""
    return all(_is_number_or_slice(element, value, frame) for element, value in zip(elements, key))


def _is_number_or_slice(element: cst.SubscriptElement, value: Value, frame: Frame) -> bool:
    part = element.slice
    if type(part) is cst.Index:
        return value.certain and (value.only("int") or (value.only("scalar") and _is_whole(value)))
    assert type(part) is cst.Slice
    ends = [end for end in (part.lower, part.upper) if end is not None]
    is_forward = part.step is None or type(part.step) is cst.Integer
    return is_forward and all(frame.evaluate(end).only("int") for end in ends)


def _is_whole(value: Value) -> bool:
    """Return whether an array has whole numbers."""
    return value.dtype in ("int32", "int64")


def _is_mask(base: Value, key: Sequence[Value]) -> bool:
    """Return whether a key is an array of truth values, one for each element."""
    is_mask = len(key) == 1 and key[0].only("array") and key[0].dtype == "bool" and key[0].certain
    return is_mask and base.certain and base.rank is not None and key[0].rank == base.rank
