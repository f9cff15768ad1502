"""Lists that grow in staged loops and branches: rows of tensors, and the number of valid rows.

A plain list becomes a staged list if a loop or branch makes it longer (see `list_growth`). If the number of
items has a bound that is known while staging, the rows are allocated at the start, and every item is written
to its place. Otherwise the rows are doubled when they are full, which XLA cannot compile.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.compiler.tf2xla.ops import gen_xla_ops

from np2tf.pytree.registry import STRUCTURES
from np2tf.runtime.structures.item_spec import ItemSpec, arrays_in
from np2tf.staging import ListGrowthError, ValueNeededError, XlaShapeError
from np2tf.tnp._array.ndarray import is_array, ndarray, scalar, storage_of, tensor_array
from np2tf.tnp._array.sequences import StackableSequence
from np2tf.tnp._operands.conversion import as_tensor
from np2tf.tnp._operands.promotion import result_type_of, tf_dtype
from np2tf.tnp._operands.python_scalars import is_weak, known_int
from np2tf.tnp._tensor.index_bounds import record_violation
from np2tf.tnp._tensor.storage import aliases, link_aliases, staging_for_xla
from np2tf.tnp._tensor.symint import SymInt, tensor_of

#: The maximal number of items over which Python iterates.
_MAX_ITEMS = 64


class StagedList(StackableSequence):
    """A list of items of one form.

    Attributes:
        element: the form of the items.
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
        """Return the number of items.

        Raises:
            StagingError: if it is not known while staging.
        """
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
        """Return the list with rows that are added as needed.

        Raises:
            StagingError: if XLA is to compile the code, because it cannot compile that.
        """
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
            raise ListGrowthError("list.pop of an item in the middle of a list that grows in staged code")
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
        raise ValueNeededError("the items of a staged list are needed while staging")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise ListGrowthError(f"list.{name} of a list that grows in staged code")

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
        """Return the row of an item.

        Raises:
            IndexError: if there certainly is no such item.
        """
        if not is_weak(index) and not isinstance(index, np.integer) and type(index) is not scalar:
            raise ListGrowthError(f"a staged list is indexed with {type(index).__name__}")
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
    """Return items over which Python iterates while staging.

    Raises:
        StagingError: if there are many, because each would become a part of the graph.
    """
    if len(items) > _MAX_ITEMS:
        raise ListGrowthError(f"{len(items)} items of a list are gone through while staging")
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
