"""Arrays that a branch gives the common dtype of its sides, where NumPy's has another dtype on one of them.

A call that takes that side is discarded if the array is read, unless the reader does the same with both
dtypes: the sum of integers and floats is computed in floats.
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
    """The cell of such an array; reading it where it has another dtype in NumPy is a violation.

    Attributes:
        widened: whether it has.
        dtype: that one.
    """

    __slots__ = ("dtype", "widened")

    def __init__(self, of: Cell, widened: tf.Tensor, dtype: np.dtype[Any]) -> None:
        super().__init__(of._value)
        self.order = of.order
        self.widened = widened
        self.dtype = dtype

    @property
    def value(self) -> tf.Tensor:
        """The value; reading it in the other dtype discards the call."""
        record_violation(self.widened)
        return super().value

    def write(self, value: tf.Tensor) -> None:
        """Write: what is written would be converted to the other dtype."""
        record_violation(self.widened)
        super().write(value)


def as_carried(array: Any) -> Any:
    """An array of the common dtype, to be looked at and not read."""
    cell = cell_of(array)
    if not isinstance(cell, WidenedCell):
        return array
    plain = Cell(cell._value)
    plain.order = cell.order
    return array_over(plain, path_of(array))


def read_all(values: Iterable[Any]) -> None:
    """Read the arrays of the kind among `values`, as carrying them out of a loop or branch will."""
    for one in values:
        if type(one) is ndarray and isinstance(cell_of(one), WidenedCell):
            _ = one.tensor


def of_either_dtype(ufunc: np.ufunc, operands: tuple[Any, ...]) -> tuple[Any, ...]:
    """The operands, readable as they are if `ufunc` computes the same whichever dtypes they have."""
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
