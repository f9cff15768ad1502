"""Lists that grow in staged loops: the common form of their items, rows of tensors with a count, and the
change from plain lists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.compiler.tf2xla.ops import gen_xla_ops

from np2tf.arrays.array.layout import order_of_copy
from np2tf.arrays.array.ndarray import (
    array_over,
    chain_of,
    is_array,
    is_c_ordered,
    ndarray,
    scalar,
    storage_of,
    tensor_array,
    tensor_scalar,
)
from np2tf.arrays.array.sequences import StackableSequence
from np2tf.arrays.operands.conversion import as_tensor
from np2tf.arrays.operands.path_dependent import path_dependence_error
from np2tf.arrays.operands.promotion import result_type_of, tf_dtype
from np2tf.arrays.operands.staged_numbers import is_weak, known_int
from np2tf.arrays.operands.widened_storage import unguarded_array
from np2tf.arrays.tensors.storage import Storage, aliases, current_scope, link_aliases, staging_for_xla
from np2tf.arrays.tensors.symbolic_integers import SymInt, tensor_of
from np2tf.arrays.tensors.violations import record_violation
from np2tf.core.containers import STRUCTURES
from np2tf.core.errors import ListGrowthError, ValueNeededError, XlaShapeError
from np2tf.staging.values.carried_values import (
    Carried,
    describe_form,
    flatten,
    form_of,
    is_widened,
    join,
    like,
)

# -- item spec -----------------------------------------------------------------------------------------------
# The common form of the items of a staged list: how an item is taken apart, and put together again.


@dataclass(frozen=True)
class ItemSpec:
    """The form of every item: the forms of its leaves, and their structure.

    Attributes:
        inner: the form of the items' items, if an item is a staged list itself. The leaves are then its rows.
    """

    forms: tuple[Carried, ...]
    outline: Any
    rebuild: Callable[[Sequence[Any]], Any]
    inner: ItemSpec | None = None

    @classmethod
    def of(cls, item: Any) -> ItemSpec:
        """Return the form of one item; refuse an item with a value that a graph cannot hold."""
        if isinstance(item, StackableSequence):
            inner: ItemSpec = item.element  # type: ignore[attr-defined]
            forms = tuple(Carried(form.dtype, (item.known_length(), *form.shape)) for form in inner.forms)
            return cls(forms, ("rows", inner.outline), type(item).of_rows(inner), inner)  # type: ignore[attr-defined]
        leaves, rebuild, outline = flatten(item)
        return cls(tuple(map(_form, leaves)), outline, rebuild)

    def leaves(self, item: Any) -> list[Any]:
        """Return the arrays and numbers of one item."""
        if isinstance(item, StackableSequence):
            return item.rows()  # type: ignore[attr-defined, no-any-return]
        return flatten(item)[0]

    def tensors(self, item: Any) -> list[tf.Tensor]:
        """Return one item as the tensors that are stored."""
        return [form.tensor(leaf) for form, leaf in zip(self.forms, self.leaves(item), strict=True)]

    def item(self, tensors: Sequence[tf.Tensor]) -> Any:
        """Return the item for stored tensors."""
        return self.rebuild([form.value(tensor) for form, tensor in zip(self.forms, tensors, strict=True)])

    def join(self, other_spec: ItemSpec) -> ItemSpec:
        """Return the common form of items of both forms; refuse if none keeps the array that NumPy makes."""
        if self.same_as(other_spec):
            return self
        if self.outline != other_spec.outline:
            kinds = f"{_describe_outline(self.outline)} and {_describe_outline(other_spec.outline)}"
            raise ListGrowthError(f"the items of a list that grows in compiled code differ in kind: {kinds}")
        inner = (
            self.inner.join(other_spec.inner)
            if self.inner is not None and other_spec.inner is not None
            else None
        )
        forms = tuple(map(_join_forms, self.forms, other_spec.forms))
        return replace(self, forms=forms, inner=inner)

    def same_as(self, other_spec: ItemSpec) -> bool:
        """Return whether both forms describe the same items."""
        return self.outline == other_spec.outline and self.forms == other_spec.forms

    def on_host(self, parts: Sequence[Any]) -> Any:
        """Return one item from its parts, which are numbers, np.ndarrays or tensors."""
        if self.inner is not None:
            return [self.inner.on_host(part) for part in zip(*parts, strict=True)]
        return self.rebuild([_on_host(form, part) for form, part in zip(self.forms, parts, strict=True)])


def _form(leaf: Any) -> Carried:
    form = form_of(leaf)
    if form is None or form.optional is not None or None in form.shape:
        kind = "an array whose shape depends on data" if form is not None else type(leaf).__name__
        raise ListGrowthError(f"a list that grows in compiled code holds {kind}")
    return _as_item_form(form)


def _as_item_form(form: Carried) -> Carried:
    """Return the form of a leaf in a list, where a number that is only sometimes Python's counts as
    NumPy's.
    """
    if form.path_dependent is None:
        return form
    if len(form.path_dependent.dtypes) > 1:
        raise path_dependence_error(form.path_dependent)
    return replace(form, path_dependent=None)


def _describe_outline(outline: Any) -> str:
    """Return the structure of an item in words, from the outline of `flatten`."""
    if outline == "leaf":
        return "an array or number"
    if outline[0] == "rows":
        return "a list that grows"
    kind, keys, parts = outline
    if kind is dict:
        return f"a dict with the keys {', '.join(map(repr, keys))}"
    return f"a {kind.__name__} of {len(parts)}"


def _join_forms(a: Carried, b: Carried) -> Carried:
    """Return a common form, if np.array makes the same array from a list of both as from a list of that
    form.
    """
    form = _as_item_form(join(a, b, "an item of a list"))
    two_forms = f"{describe_form(a)} and {describe_form(b)}"
    if form.shape != a.shape or None in form.shape or a.number is not b.number:
        raise ListGrowthError(f"the items of a list that grows in compiled code differ in shape: {two_forms}")
    of_truth = (a.dtype == np.bool_) is not (b.dtype == np.bool_)
    otherwise_joined = form.dtype != result_type_of((a.dtype, b.dtype))
    if of_truth or otherwise_joined or is_widened(a, form) or is_widened(b, form):
        raise ListGrowthError(f"the items of a list that grows in compiled code differ in type: {two_forms}")
    scope = current_scope()
    if scope is not None:
        for element_form in (a, b):
            scope.trace.shown_text.join(element_form, form)
    return form


def _on_host(form: Carried, part: Any) -> Any:
    if form.weak is not None:
        return form.weak(part)
    if isinstance(part, tf.Tensor):
        return tensor_scalar(part) if form.number else tensor_array(part)
    return part if form.number else np.array(part)


def arrays_in(leaves: Sequence[Any]) -> list[Any]:
    """Return the leaves that may share memory with other arrays: arrays, not numbers."""
    return [leaf for leaf in leaves if is_array(leaf) and type(leaf) is not scalar]


# -- staged list ---------------------------------------------------------------------------------------------
# Lists that grow in staged loops and branches: rows of tensors, and the number of valid rows.
#
# A plain list becomes a staged list if a loop or branch makes it longer (see below). If the number
# of items has a bound that is known while staging, the rows are allocated at the start, and every item is
# written to its place. Otherwise the rows are doubled when they are full, which XLA cannot compile.

#: The maximal number of items over which Python iterates.
_MAX_ITEMS = 64


class StagedList(StackableSequence):
    """A list of items of one form.

    Attributes:
        buffers: one array of rows for each leaf of an item; rows beyond `count` are not valid.
        count: the number of items, staged or not.
        room: the number of items that can certainly be added without more rows; None if rows are added as
            needed.
        room_left: the spare capacity after the loop that the list is about to enter.
        base: the list before it was prepared for that loop.
    """

    __slots__ = ("base", "buffers", "count", "element", "room", "room_left")
    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self, element: ItemSpec, buffers: Sequence[ndarray], count: Any, room: int | None = 0
    ) -> None:
        self.element = element
        self.buffers = list(buffers)
        self.count = count
        self.room = room
        self.room_left = room
        self.base: StagedList = self

    @classmethod
    def of(cls, items: Sequence[Any], element: ItemSpec) -> StagedList:
        """Return a staged list with the items of a plain list."""
        columns = [
            tf.stack(column) if column else tf.zeros([0, *form.shape], tf_dtype(form.dtype))
            for column, form in zip(_columns(items, element), element.forms, strict=True)
        ]
        result = cls(element, [tensor_array(column) for column in columns], len(items))
        for item in items:
            result._hold(element.leaves(item))
        return result

    @staticmethod
    def of_rows(element: ItemSpec) -> Any:
        """Return a function that makes a list from whole arrays of rows."""
        return lambda new: StagedList(element, [_array(part) for part in new], new[0].shape[0])

    # -- as a structure of loops and branches ----------------------------------------------------------------

    def flatten(self) -> tuple[list[Any], Any, Any]:
        """Return the leaves, a function to rebuild the list from leaves, and a comparable outline."""
        return [*self.buffers, self.count], self.with_leaves, ("staged list", self.element.outline)

    def with_leaves(self, leaves: Sequence[Any]) -> StagedList:
        """Return the same list with other rows and another count."""
        result = StagedList(self.element, leaves[:-1], leaves[-1], self.room)
        result.room_left = self.room_left
        return result

    def take(self, source: StagedList) -> StagedList:
        """Replace the contents of this list by the contents of `source`."""
        self.element, self.buffers, self.count, self.room = (
            source.element,
            source.buffers,
            source.count,
            source.room,
        )
        self.room_left, self.base = source.room_left, source.base
        return self

    @property
    def capacity(self) -> int | None:
        """The number of rows; None if it varies."""
        return self.buffers[0].tensor.shape[0]

    def known_length(self) -> int:
        """Return the number of items, or raise StagingError if it is not known while staging."""
        if not isinstance(self.count, int):
            raise ListGrowthError("a list whose length is known only at run time is an item of a list")
        return self.count

    def rows(self) -> list[ndarray]:
        """Return the valid rows; their number must be known while staging."""
        return [tensor_array(buffer.tensor[: self.known_length()]) for buffer in self.buffers]

    def extend_rows(self, more: int) -> StagedList:
        """Return the list with `more` additional rows of undefined contents."""
        if not more:
            return self
        buffers = []
        for buffer in self.buffers:
            tensor = buffer.tensor
            empty = tf.zeros([more, *tensor.shape[1:]], tensor.dtype)
            buffers.append(_link_rows(tensor_array(tf.concat([tensor, empty], 0)), buffer))
        room = None if self.room is None else self.room + more
        return StagedList(self.element, buffers, self.count, room)

    def widen(self, element: ItemSpec) -> StagedList:
        """Return the list with items of another form."""
        if element is self.element:
            return self
        buffers = [
            _link_rows(tensor_array(tf.cast(buffer.tensor, tf_dtype(form.dtype))), buffer)
            for buffer, form in zip(self.buffers, element.forms, strict=True)
        ]
        return StagedList(element, buffers, self.count, self.room)

    def without_bound(self) -> StagedList:
        """Return the list with rows that are added as needed; refuse if XLA is to compile the code."""
        if staging_for_xla():
            raise XlaShapeError("a list grows without a bound in a loop that XLA should compile")
        return self if self.room is None else StagedList(self.element, self.buffers, self.count, None)

    # -- as Python's list ------------------------------------------------------------------------------------

    def append(self, item: Any) -> None:
        """Add an item at the end."""
        spec = ItemSpec.of(item)
        element = self.element.join(spec)
        if element is not self.element:
            self.take(self.widen(element))
        leaves = element.leaves(item)
        tensors = element.tensors(item)
        self._make_room()
        place = tensor_of(known_int(self.count))
        self._replace(
            [_put(buffer.tensor, place, tensor) for buffer, tensor in zip(self.buffers, tensors, strict=True)]
        )
        self._hold(leaves)
        self.count = self.count + 1

    def extend(self, items: Any) -> None:
        """Add several items at the end."""
        for item in _check_few(items):
            self.append(item)

    def __iadd__(self, items: Any) -> StagedList:
        self.extend(items)
        return self

    def pop(self, index: int = -1) -> Any:
        """Remove and return the last item, or the first item."""
        if isinstance(self.count, int) and not self.count:
            raise IndexError("pop from empty list")
        if index not in (0, -1):
            raise ListGrowthError("list.pop of an item in the middle of a list that grows in compiled code")
        item = self[index]
        if index == 0:
            self._replace([tf.roll(buffer.tensor, -1, 0) for buffer in self.buffers])
        self.count = self.count - 1
        return item

    def clear(self) -> None:
        """Remove all items."""
        self.count = 0

    def copy(self) -> StagedList:
        """Return another list of the same items."""
        return self.with_leaves([*self.buffers, self.count])

    def __len__(self) -> int:
        if isinstance(self.count, int):
            return self.count
        raise ListGrowthError("the length of a list is known only at run time")

    def __bool__(self) -> bool:
        return len(self) > 0

    def __iter__(self) -> Iterator[Any]:
        return (self[k] for k in _check_few(range(len(self))))

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[k] for k in _check_few(range(len(self))[index])]
        place = self._place(index)
        item = self.element.item([tf.gather(buffer.tensor, place) for buffer in self.buffers])
        self._hold(self.element.leaves(item))
        return item

    def __setitem__(self, index: Any, item: Any) -> None:
        element = self.element.join(ItemSpec.of(item))
        if element is not self.element:
            self.take(self.widen(element))
        place, tensors = self._place(index), element.tensors(item)
        self._replace(
            [_put(buffer.tensor, place, tensor) for buffer, tensor in zip(self.buffers, tensors, strict=True)]
        )
        self._hold(element.leaves(item))

    def __array__(self, *args: Any, **kwargs: Any) -> np.ndarray:
        raise ValueNeededError("the items of a list are needed during compilation")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise ListGrowthError(f"list.{name} of a list that grows in compiled code")

    def stack(self, joins: bool = False) -> tf.Tensor:
        """Return the array that NumPy makes of the list.

        An empty list becomes an array of float64 for any type of items, and cannot be joined.
        """
        if isinstance(self.count, int) and not self.count:
            if joins:
                raise ValueError("need at least one array to concatenate")
            return tf.zeros([0], tf.float64)
        tensor = self.values()
        if not isinstance(self.count, int) and (joins or tensor.dtype != tf.float64 or tensor.shape.rank > 1):
            record_violation(tensor_of(known_int(self.count)) == 0)
        return tensor

    def values(self) -> tf.Tensor:
        """Return the items stacked along a new first axis."""
        columns = [_first(buffer.tensor, self.count) for buffer in self.buffers]
        if self.element.outline == "leaf" or (self.element.inner is not None and len(columns) == 1):
            return columns[0]
        forms = self.element.forms
        if any(form.shape != forms[0].shape for form in forms):
            raise ListGrowthError("an array of items that hold arrays of several shapes")
        dtype = tf_dtype(result_type_of(tuple(form.dtype for form in forms)))
        return tf.stack([tf.cast(column, dtype) for column in columns], 1)

    # -- parts -----------------------------------------------------------------------------------------------

    def _make_room(self) -> None:
        if self.room is None:
            self._replace(
                [_double_rows(buffer.tensor, tensor_of(known_int(self.count))) for buffer in self.buffers]
            )
        elif self.room:
            self.room -= 1
        elif not (isinstance(self.count, int) and self.capacity is not None and self.count < self.capacity):
            base, left = self.base, self.room_left
            self.take(self.extend_rows(1))
            self.room, self.base, self.room_left = 0, base, left

    def _replace(self, tensors: Sequence[tf.Tensor]) -> None:
        self.buffers = [
            _link_rows(tensor_array(tensor), old) for tensor, old in zip(tensors, self.buffers, strict=True)
        ]

    def _hold(self, leaves: Sequence[Any]) -> None:
        """Record that a buffer may share memory with an array in the list, so that a write to it is
        noticed.
        """
        for array in arrays_in(leaves):
            for buffer in self.buffers:
                if storage_of(buffer) is not None:
                    link_aliases(storage_of(buffer), [storage_of(array)])

    def _place(self, index: Any) -> tf.Tensor:
        """Return the row of an item, or raise IndexError if there certainly is no such item."""
        if not is_weak(index) and not isinstance(index, np.integer) and type(index) is not scalar:
            raise ListGrowthError(f"a list in compiled code is indexed with {type(index).__name__}")
        if isinstance(index, (int, np.integer)):
            if isinstance(self.count, int):
                if not -self.count <= index < self.count:
                    raise IndexError("list index out of range")
                return tf.constant(int(index) % self.count, tf.int64)
            integer: Any = int(index)
        else:
            integer = (
                known_int(index) if is_weak(index) else SymInt.fresh(tf.cast(as_tensor(index), tf.int64))
            )
        place, count = tensor_of(integer), tensor_of(known_int(self.count))
        if isinstance(integer, SymInt) and isinstance(self.count, int) and integer.in_range(self.count):
            return place
        place = tf.where(place < 0, place + count, place)
        record_violation((place < 0) | (place >= count))
        return tf.maximum(tf.minimum(place, count - 1), 0)


def _columns(items: Sequence[Any], element: ItemSpec) -> list[list[tf.Tensor]]:
    rows = [element.tensors(item) for item in items]
    return [[row[k] for row in rows] for k in range(len(element.forms))]


def _array(part: Any) -> ndarray:
    return part if is_array(part) else tensor_array(part)


def _link_rows(new_rows: ndarray, old: ndarray) -> ndarray:
    """Record that new rows hold the arrays that the old rows hold, and return the new rows."""
    if storage_of(old) is not None and storage_of(new_rows) is not None:
        link_aliases(storage_of(new_rows), aliases(storage_of(old)))
    return new_rows


def _put(rows: tf.Tensor, place: tf.Tensor, item: tf.Tensor) -> tf.Tensor:
    if staging_for_xla():
        start = [place, *[tf.zeros((), tf.int64)] * (rows.shape.rank - 1)]
        return gen_xla_ops.xla_dynamic_update_slice(rows, item[None], tf.stack(start))
    return tf.tensor_scatter_nd_update(rows, [[place]], item[None])


def _double_rows(rows: tf.Tensor, count: tf.Tensor) -> tf.Tensor:
    """Return the rows, or twice as many rows if they are full."""
    have = tf.shape(rows, out_type=tf.int64)[0]

    def more() -> tf.Tensor:
        shape = tf.concat([[tf.maximum(have, 16)], tf.shape(rows, out_type=tf.int64)[1:]], 0)
        return tf.concat([rows, tf.zeros(shape, rows.dtype)], 0)

    result = tf.cond(count >= have, more, lambda: rows)
    result.set_shape([None, *rows.shape[1:]])
    return result


def _first(rows: tf.Tensor, count: Any) -> tf.Tensor:
    if isinstance(count, int):
        return rows if rows.shape[0] == count else rows[:count]
    return rows[: tensor_of(known_int(count))]


def _check_few(items: Any) -> Any:
    """Return items over which Python iterates while staging; refuse many: each is a part of the graph."""
    if len(items) > _MAX_ITEMS:
        raise ListGrowthError(f"{len(items)} items of a list are iterated over during compilation")
    return items


def python_lists(value: Any) -> Any:
    """Return a compiled call's result, with a Python list for every staged list in it."""
    if isinstance(value, StagedList):
        parts = [_rows_of(buffer)[: int(value.count)] for buffer in value.buffers]
        return [value.element.on_host(item) for item in zip(*parts, strict=True)]
    return STRUCTURES.map_items(python_lists, value)


def _rows_of(buffer: Any) -> Any:
    if is_array(buffer):
        return buffer.tensor
    return buffer


def holds_lists(value: Any) -> bool:
    """Return whether a structure contains a staged list."""
    return isinstance(value, StagedList) or any(map(holds_lists, STRUCTURES.items(value)))


# -- list growth ---------------------------------------------------------------------------------------------
# Turns plain lists into staged lists, in loops and branches that make them longer.


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
            raise ListGrowthError("a list grows differently from one iteration to the next")
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
