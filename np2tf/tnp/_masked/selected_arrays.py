"""Arrays over selections: their storages, and the selection behind an operand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import tensorflow as tf
from tensorflow.python.eager import record

from np2tf.tnp._array.ndarray import (
    array_over,
    chain_of,
    is_array,
    ndarray,
    storage_of,
    tensor_array,
)
from np2tf.tnp._masked.selection import Selection, is_dynamic, reverse_selection, same_parts, slice_selection
from np2tf.tnp._slicing import slice_spec
from np2tf.tnp._slicing.view_transforms import BasicIndexing, ViewTransform, read_chain
from np2tf.tnp._tensor.reductions_of_axes import reduce_any
from np2tf.tnp._tensor.storage import Storage, current_scope, staging_for_xla
from np2tf.tnp._tensor.symint import SymInt

#: An array whose length is known only at run time takes the memory of its greatest length, if that is at most
#: so many elements.
MOST_BOUNDED = 2**24
#: The slice that takes a whole axis, and the slice that reverses it.
_WHOLE = (slice(None), slice(None, None, -1))


class SelectedStorage(Storage):
    """The storage of an array that stays a selection until its value is read or it is written to."""

    __slots__ = ("selection",)

    def __init__(self, selection: Selection) -> None:
        super().__init__(None)  # type: ignore[arg-type]
        self.selection: Selection | None = selection

    @property
    def value(self) -> tf.Tensor:
        """Return the array of dynamic shape."""
        if self._value is None:
            assert self.selection is not None
            self._value = self.selection.compress()
        return super().value

    def write(self, value: tf.Tensor) -> None:
        """Replace the contents. The storage is then no selection any more."""
        _ = self.value
        self.selection = None
        super().write(value)


class PartStorage(Storage):
    """The storage, with the source of the elements, of an array of which an interval of each axis counts."""

    __slots__ = ("made_as",)

    def __init__(self, selection: Selection) -> None:
        super().__init__(selection.whole)
        self.made_as = selection


def selected_array(selection: Selection) -> ndarray:
    """Return an array over a selection.

    A selection of intervals alone becomes a slice of an array that has no other reference.
    """
    if all(part is None or part.interval is not None for part in selection.parts):
        key = tuple(
            slice(None) if part is None else slice(*(part.interval or ())) for part in selection.parts
        )
        return _owner(PartStorage(selection), BasicIndexing(key))
    array = tensor_array(selection.whole)
    array.move_to(SelectedStorage(selection))
    return array


def part_of_whole(whole: ndarray, lengths: Sequence[Any]) -> ndarray:
    """Return the part of a new array that begins at its first element and has the given lengths."""
    key = tuple(slice(0, n) if isinstance(n, SymInt) else slice(None) for n in lengths)
    return _owner(storage_of(whole), BasicIndexing(key))


def _owner(storage: Storage, transform: BasicIndexing) -> ndarray:
    """Return an array that sees a part of a storage through `transform`; no other array sees the storage.

    To the program the array owns its memory, and is not a view.
    """
    storage.owner_chain = (transform,)
    return array_over(storage, (transform,))


def selection_of(operand: Any) -> Selection | None:
    """Return the selection behind an operand; None if there is none, or if code is not staged for XLA."""
    if not is_array(operand) or not staging_for_xla():
        return None
    return _selection(storage_of(operand), chain_of(operand))


def _selection(storage: Storage, chain: tuple[ViewTransform, ...]) -> Selection | None:
    last = chain[-1] if chain else None
    if isinstance(last, BasicIndexing) and all(item in _WHOLE for item in last.key):
        selection = _selection(storage, chain[:-1])
        return selection and reverse_selection(
            selection, [k for k, item in enumerate(last.key) if item == _WHOLE[1]]
        )
    if type(storage) is SelectedStorage:
        return storage.selection if not chain else None
    if not isinstance(last, BasicIndexing) or not any(is_dynamic(item) for item in last.key):
        return None
    if (
        type(storage) is PartStorage
        and chain == storage.owner_chain
        and storage.value is storage.made_as.whole
    ):
        return storage.made_as
    base = read_chain(storage.value, chain[:-1])
    selection = slice_selection(base, last.key, slice_spec.axes_of(base, last.key))
    return selection and guard_gradient(selection)


def guard_gradient(selection: Selection) -> Selection:
    """Return `selection` with a guard that keeps its gradients right, if a gradient tape may need them.

    Unselected elements take part in the computation, and may have an infinite derivative; 0 times infinity is
    NaN. So each of them is replaced by one of the selected elements, whose derivative is harmless.
    """
    scope = current_scope()
    trace = None if scope is None else scope.trace
    if trace is None or not (selection.whole.dtype.is_floating or selection.whole.dtype.is_complex):
        return selection
    if not trace.gradients and not record.could_possibly_record():
        trace.has_gaps = True
        return selection
    whole = selection.whole
    for k, part in enumerate(selection.parts):
        if part is not None and part.mask.shape[0]:
            element = tf.gather(whole, [tf.argmax(tf.cast(part.mask, tf.int32))], axis=k)
            element = tf.where(reduce_any(part.mask), tf.stop_gradient(element), tf.ones_like(element))
            whole = tf.where(selection.broadcast_mask(k), whole, element)
    # Selections whose elements are read in rounds have no guard.
    return replace(selection, whole=whole, source=None)


def have_same_parts(a: Any, b: Any) -> bool:
    """Return whether two arrays are selections of the same parts, with the same shape."""
    selection_a, selection_b = selection_of(a), selection_of(b)
    if selection_a is None or selection_b is None or selection_a.whole.shape != selection_b.whole.shape:
        return False
    return same_parts(selection_a.parts, selection_b.parts)
