"""View transforms: how a view reads from the tensor that it is a view of, and writes back into it.

A view is a storage and a chain of view transforms. Reading applies `get` from the base outwards; writing
applies `put` from the view inwards. (Functional programming calls such a pair a lens.) The few view
transforms here make up every view that NumPy can make.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
import tensorflow as tf

from np2tf.arrays.array import slice_spec, slicing
from np2tf.arrays.tensors.axis_reductions import reduce_any, reduce_prod
from np2tf.arrays.tensors.storage import staging_for_xla
from np2tf.arrays.tensors.symbolic_integers import Int, SymInt
from np2tf.arrays.tensors.violations import record_violation
from np2tf.core.errors import NoGraphFormError, ReturnedViewError


class ViewTransform(Protocol):
    """One step from an array to a view of it."""

    #: True if the view of an array in C order is in C order, too, apart from axes of length 1.
    keeps_order: ClassVar[bool]

    def get(self, base: tf.Tensor) -> tf.Tensor:
        """Return the view's value."""

    def put(self, base: tf.Tensor, value: tf.Tensor) -> tf.Tensor:
        """Return `base` with the view replaced by `value`, which has the view's shape and dtype."""


@dataclass(frozen=True, eq=False)
class BasicIndexing:
    """Basic indexing: integers, slices and newaxis. An ellipsis has been expanded already."""

    key: slice_spec.BasicKey
    keeps_order: ClassVar[bool] = True

    def get(self, base: tf.Tensor) -> tf.Tensor:
        return slicing.read(base, self.key)

    def put(self, base: tf.Tensor, value: tf.Tensor) -> tf.Tensor:
        return slicing.write(base, self.key, value)


@dataclass(frozen=True, eq=False)
class Transpose:
    """A permutation of the axes."""

    permutation: tuple[int, ...]
    keeps_order: ClassVar[bool] = False

    def get(self, base: tf.Tensor) -> tf.Tensor:
        return tf.transpose(base, self.permutation)

    def put(self, base: tf.Tensor, value: tf.Tensor) -> tf.Tensor:
        return tf.transpose(value, np.argsort(self.permutation))


@dataclass(frozen=True, eq=False)
class Reshape:
    """Another shape over the same elements in C order. `shape` has no -1 unless the size is unknown.

    Attributes:
        shape: the lengths.
        target: the lengths as a tensor, if TensorFlow must not assume that the elements fit.
    """

    shape: Any
    target: tf.Tensor | None = None
    keeps_order: ClassVar[bool] = True

    def get(self, base: tf.Tensor) -> tf.Tensor:
        if self.target is None:
            return tf.reshape(base, self.shape)
        result = tf.reshape(base, self.target)
        result.set_shape([None if n < 0 else n for n in self.shape])
        return result

    def put(self, base: tf.Tensor, value: tf.Tensor) -> tf.Tensor:
        shape = base.shape if base.shape.is_fully_defined() else tf.shape(base)
        return tf.reshape(value, shape)


@dataclass(frozen=True, eq=False)
class ComplexPart:
    """The real or the imaginary part of a complex array."""

    imaginary: bool
    keeps_order: ClassVar[bool] = True

    def get(self, base: tf.Tensor) -> tf.Tensor:
        return tf.math.imag(base) if self.imaginary else tf.math.real(base)

    def put(self, base: tf.Tensor, value: tf.Tensor) -> tf.Tensor:
        if self.imaginary:
            return tf.complex(tf.math.real(base), value)
        return tf.complex(value, tf.math.imag(base))


@dataclass(frozen=True, eq=False)
class Diagonal:
    """The diagonal at `offset` of the last two axes, as the last axis."""

    offset: int
    keeps_order: ClassVar[bool] = False

    def get(self, base: tf.Tensor) -> tf.Tensor:
        if self._may_be_outside(base):
            shape = tf.shape(base)
            rows, columns = shape[-2], shape[-1]
            length = tf.maximum(tf.minimum(rows + min(self.offset, 0), columns - max(self.offset, 0)), 0)
            first = max(-self.offset, 0) * columns + max(self.offset, 0)
            flat = tf.reshape(base, tf.concat([shape[:-2], [rows * columns]], 0))
            return tf.gather(flat, first + tf.range(length) * (columns + 1), axis=-1)
        if self._is_outside(base):
            stack_shape = base.shape[:-2] if base.shape.is_fully_defined() else tf.shape(base)[:-2]
            return tf.zeros(tf.concat([stack_shape, [0]], 0), base.dtype)
        return tf.linalg.diag_part(base, k=self.offset)

    def _is_outside(self, base: tf.Tensor) -> bool:
        rows, columns = base.shape.as_list()[-2:]
        return rows is not None and columns is not None and not -rows < self.offset < columns

    def _may_be_outside(self, base: tf.Tensor) -> bool:
        """Return whether the existence of the diagonal depends on lengths known only at run time."""
        return self.offset != 0 and None in base.shape.as_list()[-2:] and not staging_for_xla()

    def put(self, base: tf.Tensor, value: tf.Tensor) -> tf.Tensor:
        if self._is_outside(base):
            return base
        return tf.linalg.set_diag(base, value, k=self.offset)


@dataclass(frozen=True, eq=False)
class BroadcastTo:
    """A broadcast view, which as in NumPy can never be written to."""

    shape: Any
    keeps_order: ClassVar[bool] = False

    def get(self, base: tf.Tensor) -> tf.Tensor:
        return tf.broadcast_to(base, self.shape)

    def put(self, base: tf.Tensor, value: tf.Tensor) -> tf.Tensor:
        raise ValueError("assignment destination is read-only")


@dataclass(frozen=True, eq=False)
class Windows:
    """The windows of one width that slide over an axis, as a new last axis. They overlap."""

    axis: int
    width: int
    keeps_order: ClassVar[bool] = False

    def _places(self, base: tf.Tensor) -> tf.Tensor:
        """Return the place along the axis of each element of each window."""
        length = tf.shape(base)[self.axis] if base.shape[self.axis] is None else base.shape[self.axis]
        return tf.range(length - self.width + 1)[:, None] + tf.range(self.width)

    def get(self, base: tf.Tensor) -> tf.Tensor:
        windows = tf.gather(base, self._places(base), axis=self.axis)
        rank = windows.shape.rank
        return tf.transpose(windows, [*(k for k in range(rank) if k != self.axis + 1), self.axis + 1])

    def put(self, base: tf.Tensor, value: tf.Tensor) -> tf.Tensor:
        return self.put_where(base, value, tf.ones_like(value, tf.bool))

    def put_where(self, base: tf.Tensor, value: tf.Tensor, written: tf.Tensor) -> tf.Tensor:
        """Return `base` with the elements of windows that are `written`; of several the last one counts."""
        if self.width == 0:
            return base
        last_axis = base.shape.rank
        others = [k for k in range(last_axis) if k != self.axis]
        places = tf.reshape(self._places(base), [-1])

        def in_lanes(windows: tf.Tensor) -> tf.Tensor:
            return tf.reshape(
                tf.transpose(windows, [self.axis, last_axis, *others]), tf.stack([tf.size(places), lanes])
            )

        moved = tf.transpose(base, [self.axis, *others])
        length = tf.shape(moved)[0]
        lanes = reduce_prod(tf.shape(moved)[1:])
        writers = tf.where(in_lanes(written), tf.range(tf.size(places))[:, None], -1)
        last = tf.math.unsorted_segment_max(writers, places, length)
        values = tf.gather(tf.reshape(in_lanes(value), [-1]), tf.maximum(last, 0) * lanes + tf.range(lanes))
        result = tf.where(last >= 0, values, tf.reshape(moved, tf.stack([length, lanes])))
        result = tf.transpose(tf.reshape(result, tf.shape(moved)), np.argsort([self.axis, *others]))
        return tf.ensure_shape(result, base.shape)


@dataclass(frozen=True, eq=False)
class ReadOnlyFlag:
    """A view of all elements that can never be made writable."""

    keeps_order: ClassVar[bool] = True

    def get(self, base: tf.Tensor) -> tf.Tensor:
        return base

    def put(self, base: tf.Tensor, value: tf.Tensor) -> tf.Tensor:
        raise ValueError("assignment destination is read-only")


@dataclass(frozen=True, eq=False)
class Bitcast:
    """The bytes of an array as elements of another dtype.

    If the item sizes differ, the length of the last axis changes.
    """

    dtype: np.dtype[Any]
    keeps_order: ClassVar[bool] = True

    def get(self, base: tf.Tensor) -> tf.Tensor:
        return _bitcast(base, tf.as_dtype(self.dtype))

    def put(self, base: tf.Tensor, value: tf.Tensor) -> tf.Tensor:
        return _bitcast(value, base.dtype)


def _bitcast(tensor: tf.Tensor, dtype: tf.DType) -> tf.Tensor:
    if tensor.dtype == dtype:
        return tensor
    if tensor.dtype == tf.bool:
        return _bitcast(tf.cast(tensor, tf.uint8), dtype)
    if dtype == tf.bool:
        return _truth(_bitcast(tensor, tf.uint8))
    # XLA has no bitcast of complex numbers, so that their parts are converted one by one.
    if tensor.shape.rank == 0 and (tensor.dtype.is_complex or dtype.is_complex):
        return tf.reshape(_bitcast(tf.reshape(tensor, [1]), dtype), [])
    if tensor.dtype.is_complex:
        parts = tf.stack([tf.math.real(tensor), tf.math.imag(tensor)], -1)
        return _bitcast(_merge_last_axes(parts), dtype)
    if dtype.is_complex:
        parts = _bitcast(tensor, dtype.real_dtype)
        return tf.complex(parts[..., ::2], parts[..., 1::2])
    if tensor.dtype.size == dtype.size:
        return tf.bitcast(tensor, dtype)
    if tensor.dtype.size > dtype.size:
        return _merge_last_axes(tf.bitcast(tensor, dtype))
    ratio = dtype.size // tensor.dtype.size
    if None not in tensor.shape.as_list():
        *outer_lengths, length = tensor.shape.as_list()
        return tf.bitcast(tf.reshape(tensor, (*outer_lengths, length // ratio, ratio)), dtype)
    shape = tf.shape(tensor)
    return tf.bitcast(tf.reshape(tensor, tf.concat([shape[:-1], [-1, ratio]], 0)), dtype)


def _truth(tensor: tf.Tensor) -> tf.Tensor:
    """Return bytes as booleans.

    Raises:
        StagingError: a byte is neither 0 nor 1, which TensorFlow's booleans cannot hold.
    """
    is_beyond_one = reduce_any(tensor > 1)
    if tf.executing_eagerly() and bool(is_beyond_one):
        raise NoGraphFormError("a byte other than 0 and 1 is written into a boolean")
    record_violation(is_beyond_one)
    return tf.not_equal(tensor, 0)


def _merge_last_axes(tensor: tf.Tensor) -> tf.Tensor:
    """Return a tensor with its last two axes merged into one."""
    if None not in tensor.shape.as_list():
        *outer_lengths, rows, columns = tensor.shape.as_list()
        return tf.reshape(tensor, (*outer_lengths, rows * columns))
    return tf.reshape(tensor, tf.concat([tf.shape(tensor)[:-2], [-1]], 0))


def is_read_only(chain: Sequence[ViewTransform]) -> bool:
    """Return whether writing through `chain` is forbidden."""
    return any(isinstance(transform, (BroadcastTo, ReadOnlyFlag)) for transform in chain)


def overlaps(chain: Sequence[ViewTransform]) -> bool:
    """Return whether elements of the view may share memory, so that it matters which of them are written."""
    return any(isinstance(transform, Windows) for transform in chain)


def read_chain(base: tf.Tensor, chain: Sequence[ViewTransform]) -> tf.Tensor:
    """Return the value seen through all of `chain`."""
    for transform in _compose_steps(chain):
        base = transform.get(base)
    return base


def lengths(base: tf.Tensor, chain: Sequence[ViewTransform]) -> list[Int] | None:
    """Return the lengths of the view through `chain` with their known bounds; None if its value's shape tells
    them.
    """
    last = chain[-1] if chain else None
    return (
        slice_spec.lengths(read_chain(base, chain[:-1]), last.key)
        if isinstance(last, BasicIndexing)
        else None
    )


def write_chain(base: tf.Tensor, chain: Sequence[ViewTransform], value: tf.Tensor) -> tf.Tensor:
    """Return `base` with the view through `chain` replaced by `value`."""
    return _write(base, _compose_steps(chain), value)


def _write(base: tf.Tensor, chain: Sequence[ViewTransform], value: tf.Tensor) -> tf.Tensor:
    if not chain:
        return value
    first, inner_chain = chain[0], chain[1:]
    if isinstance(first, Windows) and inner_chain:
        windows = first.get(base)
        written = _write(tf.zeros_like(windows, tf.bool), inner_chain, tf.ones_like(value, tf.bool))
        return first.put_where(base, _write(windows, inner_chain, value), written)
    return first.put(base, _write(first.get(base), inner_chain, value) if inner_chain else value)


def _compose_steps(chain: Sequence[ViewTransform]) -> Sequence[ViewTransform]:
    """Return the chain with an element of a row as one step, because XLA would copy the row to write it."""
    if len(chain) < 2 or not staging_for_xla():
        return chain
    steps = [chain[0]]
    for transform in chain[1:]:
        before = steps[-1]
        key = (
            _compose_keys(before.key, transform.key)
            if isinstance(before, BasicIndexing) and isinstance(transform, BasicIndexing)
            else None
        )
        if key is None:
            steps.append(transform)
        else:
            steps[-1] = BasicIndexing(key)
    return steps


def _compose_keys(first: slice_spec.BasicKey, second: slice_spec.BasicKey) -> slice_spec.BasicKey | None:
    """Return a key that equals `first` followed by `second`; None if `first` has more than integers and whole
    axes.
    """
    remaining_items, key = list(second), list[Any]()
    for item in first:
        if item is None or (isinstance(item, slice) and any(end is not None for end in _ends(item))):
            return None
        if not isinstance(item, slice):
            key.append(item)
            continue
        while remaining_items and remaining_items[0] is None:
            key.append(remaining_items.pop(0))
        key.append(remaining_items.pop(0))
    return (*key, *remaining_items)


def view_on_host(buffer: np.ndarray, chain: Sequence[ViewTransform]) -> np.ndarray:
    """Return the NumPy view of `buffer` through `chain`, which must not depend on unknown values."""
    check_host_view(chain)
    for transform in chain:
        if isinstance(transform, BasicIndexing):
            # With an ellipsis, a key that leaves no axes gives a view, and not a number.
            buffer = buffer[(*transform.key, ...)]  # type: ignore[arg-type]
        elif isinstance(transform, Transpose):
            buffer = buffer.transpose(transform.permutation)
        elif isinstance(transform, Reshape):
            buffer = buffer.reshape(transform.shape)
        elif isinstance(transform, ComplexPart):
            buffer = buffer.imag if transform.imaginary else buffer.real
        elif isinstance(transform, Diagonal):
            buffer = np.diagonal(buffer, transform.offset, -2, -1)
        elif isinstance(transform, Bitcast):
            buffer = buffer.view(transform.dtype)
        elif isinstance(transform, BroadcastTo):
            buffer = np.broadcast_to(buffer, transform.shape)
        elif isinstance(transform, Windows):
            buffer = np.lib.stride_tricks.sliding_window_view(
                buffer, transform.width, transform.axis, writeable=buffer.flags.writeable
            )
        else:
            buffer = buffer.view()
            buffer.flags.writeable = False
    return buffer


def run_time_ends(chain: Sequence[ViewTransform]) -> list[SymInt]:
    """Return the integers in the keys of a chain that are known only at run time, in their order."""
    keys = [transform.key for transform in chain if isinstance(transform, BasicIndexing)]
    return [end for key in keys for item in key for end in _ends(item) if isinstance(end, SymInt)]


def replace_ends(chain: Sequence[ViewTransform], values: Sequence[int]) -> tuple[ViewTransform, ...]:
    """Return the chain with its run-time integers replaced by `values`, in order."""
    remaining_values = iter(values)

    def next_end(end: Any) -> Any:
        return next(remaining_values) if isinstance(end, SymInt) else end

    def item_of(item: Any) -> Any:
        return slice(*map(next_end, _ends(item))) if isinstance(item, slice) else next_end(item)

    return tuple(
        BasicIndexing(tuple(map(item_of, transform.key)))
        if isinstance(transform, BasicIndexing)
        else transform
        for transform in chain
    )


_ON_HOST = (
    BasicIndexing,
    Transpose,
    Reshape,
    ComplexPart,
    Diagonal,
    Bitcast,
    BroadcastTo,
    Windows,
    ReadOnlyFlag,
)


def check_host_view(chain: Sequence[ViewTransform]) -> None:
    """Refuse views that NumPy cannot make of a buffer on the host after the code has run.

    Raises:
        StagingError: the view is of an unknown kind, or its shape is known only at run time.
    """
    for transform in chain:
        shape = transform.shape if isinstance(transform, (Reshape, BroadcastTo)) else ()
        if not isinstance(shape, (tuple, list, tf.TensorShape)):
            raise ReturnedViewError("a view whose shape is known only at run time is returned")
        if any(isinstance(size, (tf.Tensor, SymInt)) for size in shape) or not isinstance(
            transform, _ON_HOST
        ):
            raise ReturnedViewError("a view of a kind that cannot be returned")


def _ends(item: Any) -> tuple[Any, ...]:
    return (item.start, item.stop, item.step) if isinstance(item, slice) else (item,)
