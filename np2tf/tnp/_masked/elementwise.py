"""Elementwise operations on selections, which compute on the whole arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.tnp._array.ndarray import scalar, tensor_array
from np2tf.tnp._masked.element_sources import Round, Source
from np2tf.tnp._masked.selected_arrays import selected_array, selection_of
from np2tf.tnp._masked.selection import AxisMask, Selection, align
from np2tf.tnp._operands.conversion import as_tensor
from np2tf.tnp._tensor.storage import staging_for_xla


def selections(operands: Sequence[Any]) -> list[Selection | None] | None:
    """Return the selection behind each operand, or None for other operands; None if no operand is a
    selection.
    """
    if not staging_for_xla():
        return None
    result = [selection_of(operand) for operand in operands]
    return result if any(selection is not None for selection in result) else None


def elementwise(operands: Sequence[Any], compute: Callable[[list[Any]], Any]) -> Any:
    """Apply `compute` to the whole array of each operand, and return the result as a selection.

    Returns:
        None if the parts of the operands do not match.
    """
    operand_selections = selections(operands)
    if operand_selections is None:
        return None
    operand_selections = _align_all(operand_selections)
    wholes = [
        tensor_array(selection.whole) if selection is not None else _as_it_is(operand)
        for operand, selection in zip(operands, operand_selections, strict=True)
    ]
    shapes = [tuple(as_tensor(whole).shape.as_list()) for whole in wholes]
    parts = [
        selection.parts if selection is not None else (None,) * len(shape)
        for selection, shape in zip(operand_selections, shapes, strict=True)
    ]
    result_parts = _merge_parts(shapes, parts)
    if result_parts is None:
        return None
    result = compute(wholes)
    if isinstance(result, tuple):
        return None
    return selected_array(
        Selection(result, result_parts, _elementwise_source(wholes, operand_selections, compute))
    )


def _as_it_is(operand: Any) -> Any:
    """Return an operand that is not a selection. An np.ndarray becomes a tensor, so that later writes do not
    matter.
    """
    if isinstance(operand, np.ndarray) and type(operand) is not scalar:
        return tensor_array(as_tensor(operand))
    return operand


def _elementwise_source(
    wholes: Sequence[Any], selections: Sequence[Selection | None], compute: Callable[[list[Any]], Any]
) -> Source:
    """Return the source of an elementwise result: it computes from elements that it reads of the operands."""

    def read(axis: int, first: tf.Tensor, count: int, round_entered: Round) -> tf.Tensor:
        pairs = zip(wholes, selections, strict=True)
        return compute(
            [
                whole
                if selection is None
                else tensor_array(selection.read(axis, first, count, round_entered))
                for whole, selection in pairs
            ]
        )

    return read


def _align_all(selections: Sequence[Selection | None]) -> list[Selection | None]:
    """Return the selections with their intervals aligned, for each axis of the result.

    On an axis with several intervals, each array is moved so that its interval lies where the shortest
    array has its own.
    """
    result = list(selections)
    for axis in range(1, max(len(selection.parts) for selection in selections if selection is not None) + 1):
        entries = [
            (k, selection, selection.parts[-axis])
            for k, selection in enumerate(result)
            if selection is not None and len(selection.parts) >= axis and selection.parts[-axis] is not None
        ]
        if len(entries) < 2:
            continue
        shortest = min((part for _, _, part in entries), key=_length)
        for k, selection, _ in entries:
            result[k] = align(selection, len(selection.parts) - axis, shortest) or selection
    return result


def _length(part: AxisMask | None) -> int:
    assert part is not None
    length: int = part.mask.shape[0]
    return length


def _merge_parts(
    shapes: Sequence[tuple[Any, ...]], parts: Sequence[Sequence[AxisMask | None]]
) -> tuple[AxisMask | None, ...] | None:
    """Return the parts of the broadcast result; None if a part meets an axis with another part."""
    rank = max(map(len, shapes))
    result: list[AxisMask | None] = []
    for axis in range(-rank, 0):
        here = [(s[axis], p[axis]) for s, p in zip(shapes, parts, strict=True) if len(s) >= -axis]
        axis_parts = [part for _, part in here if part is not None]
        if axis_parts:
            if any(
                (part is None and size != 1) or (part is not None and part.key != axis_parts[0].key)
                for size, part in here
            ):
                return None
            result.append(axis_parts[0])
        else:
            result.append(None)
    return tuple(result)
