"""If-conversion: where that is faster under XLA, both sides of a branch are computed, and results chosen."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from np2tf.runtime.control_flow.partial_updates import SliceUpdate, apply_update, updates_between
from np2tf.tnp._array.write_ordering import pin_before_write
from np2tf.tnp._slicing.slice_updates import slice_under_xla
from np2tf.tnp._tensor.storage import Storage, staged_device

_CHEAP_OPS = 150
#: So many elements count as few: an accelerator computes many in the time in which a branch makes it wait for
#: the host (some 10 µs).
_FEW, _FEW_ON_ACCELERATORS = 4, 2**18
_PURE = frozenset({"Const", "Pack", "AddV2", "Sub", "Mul", "Cast"})
_BLOCKS = frozenset(
    {"While", "StatelessWhile", "If", "StatelessIf", "PartitionedCall", "StatefulPartitionedCall"}
)


def is_cheap(ops: Sequence[tf.Operation | None]) -> bool:
    """Return whether XLA should compute both sides and choose: few ops, on numbers or elements, or on
    an accelerator on arrays that are not large.
    """
    return len(ops) <= _CHEAP_OPS and all(map(_is_cheap_op, ops))


def _is_cheap_op(op: tf.Operation | None) -> bool:
    if op is None:  # a branch that is not made by choice
        return False
    if op.type in ("Placeholder", "Const"):
        return True
    if op.type == "XlaDynamicUpdateSlice":
        return is_small(op.inputs[1])
    return op.type not in _BLOCKS and all(map(is_small, op.outputs))


def is_small(tensor: tf.Tensor) -> bool:
    """Return whether a tensor has so few elements that both sides of a branch may compute it."""
    size = tensor.shape.num_elements() if tensor.shape.rank is not None else None
    return size is not None and size <= (_FEW if staged_device() == "cpu" else _FEW_ON_ACCELERATORS)


def choose(
    test: tf.Tensor, yes: list[tf.Tensor], no: list[tf.Tensor], storages: list[Storage]
) -> list[tf.Tensor]:
    """Return the results of one of two sides that have both been computed, and perform the writes of that
    side (if-conversion).
    """
    count = len(yes) - len(storages)
    for storage, after_yes, after_no in zip(storages, yes[count:], no[count:], strict=True):
        if is_small(after_yes):
            storage.write(tf.where(test, after_yes, after_no))
        else:
            elements = [updates_between(after, storage.value) for after in (after_yes, after_no)]
            assert elements[0] is not None  # of a large array, a cheap side writes elements only
            assert elements[1] is not None
            _choose_elements(test, storage, elements[0], elements[1])
    return [tf.where(test, a, b) for a, b in zip(yes[:count], no[:count], strict=True)]


def _choose_elements(
    test: tf.Tensor, storage: Storage, yes: list[SliceUpdate], no: list[SliceUpdate]
) -> None:
    """Write the elements that the taken branch writes."""
    # The k-th writes of both sides become one write, to the place of the side that is taken.
    paired = len(yes) == len(no) and all(a.shape == b.shape for (_, a), (_, b) in zip(yes, no, strict=True))
    if paired:
        writes = [
            (_choose_start(test, a, b), tf.where(test, x, y), None)
            for (a, x), (b, y) in zip(yes, no, strict=True)
        ]
    else:
        writes = [(start, element, test) for start, element in yes]
        writes += [(start, element, tf.logical_not(test)) for start, element in no]
    elements = pin_before_write(storage, [element for _, element, _ in writes])
    for (start, _, condition), element in zip(writes, elements, strict=True):
        base = storage.value
        if condition is not None:
            element = tf.where(condition, element, slice_under_xla(base, start, element.shape.as_list()))
        storage.write(apply_update(base, (start, element)))


def _choose_start(test: tf.Tensor, a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    """Return one of two start vectors, chosen number by number, so that XLA need not build the vectors."""
    if _same_place(a, b):
        return a
    if a.op.type == b.op.type == "Pack":
        return tf.stack([_choose_start(test, m, n) for m, n in zip(a.op.inputs, b.op.inputs, strict=True)])
    return tf.where(test, a, b)


def _same_place(a: tf.Tensor, b: tf.Tensor) -> bool:
    """Return whether two start vectors are certainly equal: the same ops compute them from the same
    values.
    """
    if a is b:
        return True
    if a.op.type != b.op.type or a.op.type not in _PURE or len(a.op.inputs) != len(b.op.inputs):
        return False
    if a.op.type == "Const":
        return np.array_equal(tf.get_static_value(a), tf.get_static_value(b))
    return all(_same_place(m, n) for m, n in zip(a.op.inputs, b.op.inputs, strict=True))
