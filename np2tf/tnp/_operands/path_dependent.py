"""Numbers that are Python's on one path and NumPy's on another.

Such is `s` after ``s = 0.0`` and a loop of ``s += x[i]`` that may not run at all. The two promote as they do:
``float32_array * s`` is of float32 with Python's float, and of float64 with NumPy's. So such a number knows
at run time which of them it is. Where both lead to the same type nothing comes of it; where they do not,
numbers are computed both ways, and arrays are refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.staging import StagingError
from np2tf.tnp._array.ndarray import scalar, tensor_scalar

#: The dtypes that hold Python's numbers.
WIDE = {int: np.dtype(np.int64), float: np.dtype(np.float64), complex: np.dtype(np.complex128)}


@dataclass(frozen=True)
class Undecided:
    """The type that a number has on the paths on which it is Python's, and its dtype on the others."""

    weak: type
    dtype: np.dtype[Any]

    @property
    def narrow(self) -> bool:
        """Whether not all of Python's numbers can be NumPy's."""
        return self.dtype != WIDE[self.weak]

    @property
    def wide(self) -> np.dtype[Any]:
        """The dtype of the tensor, which holds both."""
        return WIDE[self.weak]


def undecided_scalar(tensor: tf.Tensor, kinds: Undecided, python: tf.Tensor) -> scalar:
    """A number of one or the other kind; `python` says at run time whether it is Python's."""
    number = tensor_scalar(tensor)
    number.undecided, number.python = kinds, python
    return number


def decided(kind: Any) -> Any:
    """A kind of operand for those who do not promote: the dtype of an undecided one.

    Raises:
        StagingError: its values are not all of that dtype.
    """
    if not isinstance(kind, Undecided):
        return kind
    if kind.narrow:
        raise refused(kind)
    return kind.dtype


def refused(kind: Undecided) -> StagingError:
    """What to raise where an undecided number leads to different types."""
    return StagingError(
        f"a number is Python's {kind.weak.__name__} on one path and NumPy's {kind.dtype} on another, "
        "and what is computed of it has another type on each",
        "NP2TF534",
    )
