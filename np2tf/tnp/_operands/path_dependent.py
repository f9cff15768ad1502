"""Numbers that are Python's on one path through the program and NumPy's on another.

An example is `s` after ``s = 0.0`` and a loop of ``s += x[i]`` that may have no iteration. The two kinds
promote
differently: ``float32_array * s`` is float32 for a Python float, and float64 for a NumPy float. Such a number
knows at run time of which kind it is. If both kinds promote to the same dtype, nothing is done. Otherwise
scalars are computed both ways, and operations with arrays are refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.staging import StagingError
from np2tf.tnp._array.ndarray import scalar, tensor_scalar

#: Python's type -> the dtype that holds its numbers.
WIDE = {int: np.dtype(np.int64), float: np.dtype(np.float64), complex: np.dtype(np.complex128)}


@dataclass(frozen=True)
class Undecided:
    """The kind of a path-dependent number.

    Attributes:
        weak: the Python type, on the paths where the number is Python's.
        dtype: the NumPy dtype, on the other paths.
    """

    weak: type
    dtype: np.dtype[Any]

    @property
    def narrow(self) -> bool:
        """Return whether `dtype` cannot hold all of Python's numbers."""
        return self.dtype != WIDE[self.weak]

    @property
    def wide(self) -> np.dtype[Any]:
        """Return the dtype of the tensor, which holds the numbers of both kinds."""
        return WIDE[self.weak]


def undecided_scalar(tensor: tf.Tensor, kinds: Undecided, python: tf.Tensor) -> scalar:
    """Return a path-dependent number.

    Args:
        tensor: the value, a tensor without axes.
        kinds: the two kinds.
        python: a boolean tensor, true at run time if the number is Python's.
    """
    number = tensor_scalar(tensor)
    number.undecided, number.python = kinds, python
    return number


def decided(kind: Any) -> Any:
    """Return the kind of an operand for code that does not promote; for a path-dependent kind, its dtype.

    Raises:
        StagingError: the dtype cannot hold all values of the Python type.
    """
    if not isinstance(kind, Undecided):
        return kind
    if kind.narrow:
        raise refused(kind)
    return kind.dtype


def refused(kind: Undecided) -> StagingError:
    """Return the error to raise if a path-dependent number leads to different types."""
    return StagingError(
        f"a number is Python's {kind.weak.__name__} on one path and NumPy's {kind.dtype} on another, "
        "and what is computed of it has another type on each",
        "NP2TF534",
    )
