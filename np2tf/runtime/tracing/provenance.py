"""The provenance of an array that a staged loop or branch returns: whether it may be an argument."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from np2tf.staging import StagingError
from np2tf.tnp._array.ndarray import cell_of, is_array, path_of
from np2tf.tnp._tensor.storage import Cell, aliases, is_outside, link_aliases


def refuse_hidden_sharing(leaf: Any, leaves: Sequence[Any], arguments: Sequence[Cell]) -> None:
    """Refuse to return an array that may or may not share memory with an argument or another result.

    Raises:
        StagingError: if it may.
    """
    cell = cell_of(leaf)
    rest = [other for other in leaves if is_array(other) and cell_of(other) is not cell]
    others = {cell_of(other) for other in rest}
    if not _is_known(leaf):
        refused = not {*others, *arguments}.isdisjoint(aliases(cell))
    else:
        # Other results that may be the same new array, and for which a number tells when they are an
        # argument.
        twins = [other for other in rest if _is_known(other) and not cell.is_distinct_from(cell_of(other))]
        others.update(one for other in twins for one in _unknown_aliases(other, arguments))
        suspects = _unknown_aliases(leaf, arguments)
        suspects += [one for one in cell.may_alias if any(one is cell_of(other) for other in twins)]
        hidden = any(_may_be_unseen(one, arguments) for one in suspects)
        refused = hidden or not others.isdisjoint(suspects)
    if refused:
        raise StagingError(
            "an array is returned that may or may not be the same memory as an argument or another result",
            "NP2TF513",
        )


def _is_known(leaf: Any) -> bool:
    """Return whether a run-time number tells which cell an array is."""
    return cell_of(leaf).identity is not None and not path_of(leaf)


def _unknown_aliases(leaf: Any, arguments: Sequence[Cell]) -> list[Cell]:
    identity = cell_of(leaf).identity
    assert identity is not None
    return [one for one in identity[1] if one not in arguments]


def _may_be_unseen(cell: Cell, arguments: Sequence[Cell]) -> bool:
    """Return whether a cell may be an argument without a number that tells when."""
    seen: set[Cell] = set()
    pending = [cell]
    while pending:
        one = pending.pop()
        if one in arguments:
            return True
        if one not in seen and one.identity is None:
            seen.add(one)
            pending += one.may_alias
    return False


#: Cells, and the number of the cell that an array is (-1: none of them); None if unknown.
Origin = tuple[tuple[Cell, ...], Any] | None
_NEW: tuple[tuple[Cell, ...], Any] = ((), -1)


def provenance_of(leaf: Any) -> Origin:
    """Return which cell from outside of the innermost region `leaf` is."""
    if not is_array(leaf):
        return _NEW
    cell = cell_of(leaf)
    if path_of(leaf):
        return None if possible_aliases(leaf) else _NEW
    if is_outside(cell):
        return cells_with_itself(cell)
    if cell.identity is not None:
        return cell.identity[1], cell.identity[0]
    return None if possible_aliases(leaf) else _NEW


def cells_with_itself(cell: Cell) -> tuple[tuple[Cell, ...], Any]:
    """Return the cells that a cell may be, with the cell itself last, and the number of the cell that it
    is.
    """
    if cell.identity is None:
        return (cell,), 0
    number, cells = cell.identity
    return (*cells, cell), tf.where(number < 0, len(cells), number)


def possible_aliases(leaf: Any) -> set[Cell]:
    """Return the cells from outside of the innermost region that `leaf` may share memory with."""
    if not is_array(leaf):
        return set()
    return {cell for cell in (cell_of(leaf), *aliases(cell_of(leaf))) if is_outside(cell)}


def new_cells(leaf: Any) -> set[Cell]:
    """Return the cells made in the innermost region that `leaf` may share memory with."""
    if not is_array(leaf):
        return set()
    return {cell for cell in (cell_of(leaf), *aliases(cell_of(leaf))) if not is_outside(cell)}


def merged_cells(a: Origin, b: Origin) -> tuple[Cell, ...] | None:
    """Return the cells that an array from either branch may be; None if that is unknown, or the array is
    new.
    """
    if a is None or b is None or not a[0] + b[0]:
        return None
    return tuple(dict.fromkeys(a[0] + b[0]))


def number_among(cells: Sequence[Cell], leaf: Any) -> tf.Tensor:
    """Return the number of the array's cell among `cells`."""
    found = provenance_of(leaf)
    assert found is not None
    places = [*map(list(cells).index, found[0]), -1]
    return tf.gather(tf.constant(places, tf.int32), found[1] % len(places))


def note_loop_result(
    leaf: Any, entry: Any, exit_cell: Cell | None, is_new: bool, ran: tf.Tensor, once: bool
) -> None:
    """Record the provenance of a loop's variable, which is the array before the loop if the loop has not run.

    Args:
        leaf: the array after the loop.
        entry: the array before the loop.
        exit_cell: the array's cell at the end of an iteration.
        is_new: whether the iteration made that array.
        ran: whether the loop has run.
        once: whether it certainly has run.
    """
    sources = set()
    if exit_cell is not None and not is_new:
        sources |= {exit_cell, *aliases(exit_cell)}
    if not once and is_array(entry) and cell_of(entry) is not None:
        sources |= {cell_of(entry), *aliases(cell_of(entry))}
        if is_new and not path_of(entry):
            cells, number = cells_with_itself(cell_of(entry))
            cell_of(leaf).identity = tf.where(ran, -1, tf.cast(number, tf.int32)), cells
    link_aliases(cell_of(leaf), sources)
