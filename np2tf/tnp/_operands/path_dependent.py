"""Numbers that are Python's on one path through the program and NumPy's on another.

An example is `s` after ``s = 0.0`` and a loop of ``s += x[i]`` that may have no iteration. The two kinds
promote differently: ``float32_array * s`` is float32 for a Python float, and float64 for a NumPy float. Such
a number knows at run time of which kind it is. If both kinds promote to the same dtype, nothing is done.
Otherwise scalars are computed both ways, and operations with arrays are refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.staging import PathTypeError, StagingError
from np2tf.tnp._array.ndarray import scalar, tensor_scalar

#: Python's type -> the dtype that holds its numbers.
WIDE = {int: np.dtype(np.int64), float: np.dtype(np.float64), complex: np.dtype(np.complex128)}


@dataclass(frozen=True)
class PathDependentKind:
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


def path_dependent_scalar(tensor: tf.Tensor, kinds: PathDependentKind, python: tf.Tensor) -> scalar:
    """Return a path-dependent number.

    Args:
        tensor: the value, a tensor without axes.
        kinds: the two kinds.
        python: a boolean tensor, true at run time if the number is Python's.
    """
    number = tensor_scalar(tensor)
    number.path_dependent, number.python = kinds, python
    return number


def single_kind(kind: Any) -> Any:
    """Return the kind of an operand for code that does not promote; for a chain-dependent kind, its dtype.

    Raises:
        StagingError: the dtype cannot hold all values of the Python type.
    """
    if not isinstance(kind, PathDependentKind):
        return kind
    if kind.narrow:
        raise path_dependence_error(kind)
    return kind.dtype


def path_dependence_error(kind: PathDependentKind) -> StagingError:
    """Return the error to raise if a path-dependent number leads to different types."""
    return PathTypeError(
        f"a number is Python's {kind.weak.__name__} on one path and NumPy's {kind.dtype} on another, "
        "and what is computed of it has another type on each",
    )
