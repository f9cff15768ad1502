"""Turns plain lists into staged lists, in loops and branches that make them longer."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

from np2tf.pytree.registry import STRUCTURES
from np2tf.runtime.structures.carried_values import flatten, like
from np2tf.runtime.structures.item_spec import ItemSpec
from np2tf.runtime.structures.staged_list import StagedList
from np2tf.staging import ListGrowthError
from np2tf.tnp._array.ndarray import array_over, chain_of, is_c_ordered, ndarray
from np2tf.tnp._array.strides import order_of_copy
from np2tf.tnp._operands.widened_storage import unguarded_array
from np2tf.tnp._tensor.storage import Storage


def _zip_lists(a: Any, b: Any, change: Callable[[Any, Any], Any]) -> Any:
    """Return `a` with `change` applied to its lists and the values in their places in `b`."""
    kinds = {type(a), type(b)}
    if kinds <= {list, StagedList} and (StagedList in kinds or len(a) != len(b)):
        return change(a, b)
    return STRUCTURES.zip_items(
        lambda entries, other_entries: _zip_lists(entries, other_entries, change), a, b
    )


def _element(*lists: Any) -> ItemSpec:
    """Return the common form of the items of several lists."""
    forms = [
        form
        for entries in lists
        for form in ([entries.element] if isinstance(entries, StagedList) else map(ItemSpec.of, entries))
    ]
    return reduce(ItemSpec.join, forms)


def _stage_list(entries: Any, element: ItemSpec) -> StagedList:
    if isinstance(entries, StagedList):
        return entries if entries.element.same_as(element) else entries.widen(element)
    return StagedList.of(entries, element)


def read_views(state: Any) -> Any:
    """Return the state after an iteration with its views read, because another graph may need their
    shapes.
    """
    leaves, rebuild, _ = flatten(state)
    return rebuild([_read(leaf) if type(leaf) is ndarray and chain_of(leaf) else leaf for leaf in leaves])


def _read(view: ndarray) -> ndarray:
    view = unguarded_array(view)
    storage = Storage(view.tensor)
    storage.order = None if is_c_ordered(view) else order_of_copy(view, "K")
    return array_over(storage)


def is_ready(entry: Any, after: Any) -> bool:
    """Return whether the lists of a loop's state have the form and the spare capacity that one iteration
    needs.
    """
    ready = True

    def change(before: Any, behind: Any) -> Any:
        nonlocal ready
        known = isinstance(before, StagedList) and before.element.same_as(_element(before, behind))
        row_count = _need_of(before, behind) if known else None
        ready = (
            ready and known and row_count is not None and (before.room is None or row_count <= before.room)
        )
        return before

    _zip_lists(entry, after, change)
    return ready


def prepare_for_loop(entry: Any, after: Any, rounds: int | None) -> Any:
    """Return the state at the start of a loop, with the lists that it makes longer prepared for that.

    Args:
        entry: the state before the loop.
        after: the state after one iteration.
        rounds: the maximal number of iterations; None if unknown.
    """

    def change(before: Any, behind: Any) -> Any:
        element = _element(before, behind)
        known = isinstance(before, StagedList) and before.element.same_as(element)
        ready = (
            before
            if known
            else _stage_list(before.base if isinstance(before, StagedList) else before, element)
        )
        row_count = _need_of(ready, behind)
        if row_count is None or rounds is None:
            return ready if row_count == 0 else ready.without_bound()
        return _reserve(ready, row_count, rounds)

    return _zip_lists(entry, after, change)


def _capacity(entries: Any) -> int | None:
    return entries.capacity if isinstance(entries, StagedList) else len(entries)


def _need_of(ready: StagedList, behind: Any) -> int | None:
    """Return the number of rows that one iteration takes; None if unknown."""
    capacity, room = _capacity(behind), behind.room if isinstance(behind, StagedList) else 0
    if ready.room is None:
        return 0
    if capacity is None or room is None or ready.capacity is None:
        return None
    return max(capacity - ready.capacity + ready.room - room, 0)


def _reserve(ready: StagedList, needed_rows: int, rounds: int) -> StagedList:
    """Return the list with rows for every iteration."""
    base = ready.base if ready.base.element.same_as(ready.element) else ready
    have = base.room or 0
    result = base.extend_rows(max(needed_rows * rounds - have, 0))
    result = result.with_leaves([*result.buffers, result.count])
    result.base, result.room, result.room_left = base, needed_rows, max(have - needed_rows * rounds, 0)
    return result


def trim_after_loop(state: Any) -> Any:
    """Return the state after a loop, whose lists keep the remaining spare capacity."""

    def change(entries: Any, _: Any) -> Any:
        if isinstance(entries, StagedList):
            entries.room, entries.base = entries.room_left, entries
        return entries

    return _zip_lists(state, state, change)


def fit_structure(value: Any, pattern: Any) -> Any:
    """Return `value` with unbound names and lists given the structure that `pattern` has in their place."""

    def change(entries: Any, target: Any) -> Any:
        if type(target) is list:
            return entries
        result = _stage_list(entries, target.element)
        if target.room is None:
            result = result.without_bound()
        elif result.capacity is None or result.capacity > target.capacity:
            raise ListGrowthError("a list grows in another way from one iteration to the next")
        else:
            result = result.extend_rows(target.capacity - result.capacity)
        result = result.copy()
        result.room, result.room_left = target.room, target.room_left
        return result

    return _zip_lists(like(value, pattern), pattern, change)


def merge_structures(a: Any, b: Any) -> Any:
    """Return the common structure of `a` and `b`: lists that differ are staged, with capacity for both.

    `b` belongs to another graph, so only its sizes are used.
    """

    def change(entries: Any, other_entries: Any) -> Any:
        result = _stage_list(entries, _element(entries, other_entries))
        rooms: list[Any] = [
            side.room if isinstance(side, StagedList) else 0 for side in (entries, other_entries)
        ]
        if None in rooms:
            return result.without_bound()
        sizes: list[Any] = [_rows(side) for side in (entries, other_entries)]
        result = result.extend_rows(max(sizes) - sizes[0]).copy()
        result.room = min(room + max(sizes) - size for room, size in zip(rooms, sizes, strict=True))
        result.room_left = result.room
        return result

    return _zip_lists(a, b, change)


def _rows(entries: Any) -> int:
    capacity = _capacity(entries)
    if capacity is None:
        raise ListGrowthError("a list whose rows vary on one side of a branch only")
    return capacity
