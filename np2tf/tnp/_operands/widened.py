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

from np2tf.staging import StagingError
from np2tf.tnp._array.ndarray import array_over, cell_of, ndarray, path_of
from np2tf.tnp._operands.promotion import promotion_kind, ufunc_loop
from np2tf.tnp._tensor.index_bounds import record_violation
from np2tf.tnp._tensor.storage import Cell


class WidenedCell(Cell):
    """The cell of an array with a common dtype. Reading it is a violation if NumPy's array has another dtype.

    Attributes:
        widened: a boolean tensor, true if NumPy's array has the other dtype.
        dtype: the other dtype.
    """

    __slots__ = ("dtype", "widened")

    def __init__(self, of: Cell, widened: tf.Tensor, dtype: np.dtype[Any]) -> None:
        super().__init__(of._value)
        self.order = of.order
        self.widened = widened
        self.dtype = dtype

    @property
    def value(self) -> tf.Tensor:
        """Return the current tensor. Reading it discards the call if NumPy's array has the other dtype."""
        record_violation(self.widened)
        return super().value

    def write(self, value: tf.Tensor) -> None:
        """Replace the tensor. This discards the call if NumPy would convert the values to the other dtype."""
        record_violation(self.widened)
        super().write(value)


def as_carried(array: Any) -> Any:
    """Return an array with the common dtype, which can be inspected without counting as a read."""
    cell = cell_of(array)
    if not isinstance(cell, WidenedCell):
        return array
    plain = Cell(cell._value)
    plain.order = cell.order
    return array_over(plain, path_of(array))


def read_all(values: Iterable[Any]) -> None:
    """Read the arrays of `WidenedCell`s among `values`: carrying them out of a loop or branch reads them."""
    for one in values:
        if type(one) is ndarray and isinstance(cell_of(one), WidenedCell):
            _ = one.tensor


def of_either_dtype(ufunc: np.ufunc, operands: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the operands, readable without a violation if `ufunc` computes the same with both dtypes."""
    cells = [cell_of(one) if type(one) is ndarray else None for one in operands]
    if not any(isinstance(cell, WidenedCell) for cell in cells):
        return operands
    wide = tuple(one if cell is None else as_carried(one) for one, cell in zip(operands, cells, strict=True))
    try:
        kinds = [
            (kind, cell.dtype) if isinstance(cell, WidenedCell) else (kind,)
            for kind, cell in zip(map(promotion_kind, wide), cells, strict=True)
        ]
        loops = {ufunc_loop(ufunc, given) for given in itertools.product(*kinds)}
    except (StagingError, TypeError):
        return operands
    return wide if len(loops) == 1 else operands
