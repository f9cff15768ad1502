"""Arrays with the common dtype of a branch's sides, if NumPy's array has another dtype on one side.

If a call takes that side and reads the array, the call is discarded, unless the reader computes the same with
both dtypes. For example, the sum of integers and floats is computed in floats.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.arrays.array.ndarray import array_over, chain_of, ndarray, storage_of
from np2tf.arrays.operands.promotion import promotion_kind, ufunc_loop
from np2tf.arrays.tensors.storage import Storage
from np2tf.arrays.tensors.violations import record_violation
from np2tf.core.errors import StagingError


class WidenedStorage(Storage):
    """The storage of an array with a common dtype.

    Reading the storage is a violation if NumPy's array has another dtype.

    Attributes:
        is_wide: a boolean tensor, true if NumPy's array has the other dtype.
        dtype: the other dtype.
    """

    __slots__ = ("dtype", "is_wide")

    def __init__(self, of: Storage, is_wide: tf.Tensor, dtype: np.dtype[Any]) -> None:
        super().__init__(of._value)
        self.order = of.order
        self.is_wide = is_wide
        self.dtype = dtype

    @property
    def value(self) -> tf.Tensor:
        """Return the current tensor. Reading it discards the call if NumPy's array has the other dtype."""
        record_violation(self.is_wide)
        return super().value

    def write(self, value: tf.Tensor) -> None:
        """Replace the tensor. This discards the call if NumPy would convert the values to the other dtype."""
        record_violation(self.is_wide)
        super().write(value)


def unguarded_array(array: Any) -> Any:
    """Return an array with the common dtype, which can be inspected without counting as a read."""
    storage = storage_of(array)
    if not isinstance(storage, WidenedStorage):
        return array
    plain = Storage(storage._value)
    plain.order = storage.order
    return array_over(plain, chain_of(array))


def read_widened(values: Iterable[Any]) -> None:
    """Read the arrays with `WidenedStorage` in `values`: carrying them out of a loop or branch reads them."""
    for value in values:
        if type(value) is ndarray and isinstance(storage_of(value), WidenedStorage):
            _ = value.tensor


def accept_either_dtype(ufunc: np.ufunc, operands: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the operands, readable without a violation if `ufunc` computes the same with both dtypes."""
    storages = [storage_of(operand) if type(operand) is ndarray else None for operand in operands]
    if not any(isinstance(storage, WidenedStorage) for storage in storages):
        return operands
    wide = tuple(
        operand if storage is None else unguarded_array(operand)
        for operand, storage in zip(operands, storages, strict=True)
    )
    try:
        kinds = [
            (kind, storage.dtype) if isinstance(storage, WidenedStorage) else (kind,)
            for kind, storage in zip(map(promotion_kind, wide), storages, strict=True)
        ]
        loops = {ufunc_loop(ufunc, choice) for choice in itertools.product(*kinds)}
    except (StagingError, TypeError):
        return operands
    return wide if len(loops) == 1 else operands
