"""NumPy's warnings about values: told eagerly, as NumPy tells them; staged code has no way to."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

_HERE = str(Path(__file__).parent.parent)
EMPTY_MEAN = "Mean of empty slice"
TOO_FEW = "Degrees of freedom <= 0 for slice."
_ARITHMETIC = {
    "divide": "divide by zero",
    "over": "overflow",
    "under": "underflow",
    "invalid": "invalid value",
}
ALL_NAN = "All-NaN slice encountered"


def warn_where(condition: Any, message: str, category: type[Warning] = RuntimeWarning) -> None:
    """Warn if `condition` (a truth value or a tensor of them) is true anywhere and known."""
    if isinstance(condition, tf.Tensor):
        if not tf.executing_eagerly():
            return
        condition = bool(np.any(condition.numpy()))
    if condition:
        warnings.warn(message, category, stacklevel=_callers_level())


def warn_arithmetic(kind: str, condition: tf.Tensor, name: str) -> None:
    """What NumPy warns of under ``np.errstate(kind="warn")``, in the ufunc `name`."""
    if tf.executing_eagerly() and bool(np.any(condition.numpy())) and dict(np.geterr())[kind] == "warn":
        warn_where(True, f"{_ARITHMETIC[kind]} encountered in {name}")


def warn_cast(tensor: tf.Tensor, wanted: np.dtype[Any]) -> None:
    """What NumPy warns of when it converts to another dtype: imaginary parts and numbers that do not fit."""
    if tensor.dtype.is_complex and wanted.kind not in "cb":
        message = "Casting complex values to real discards the imaginary part"
        warn_where(True, message, np.exceptions.ComplexWarning)
        tensor = tf.math.real(tensor) if wanted.kind in "iu" else tensor
    if wanted.kind in "iu" and tensor.dtype.is_floating and tf.executing_eagerly():
        wide = tf.cast(tensor, tf.float64)
        low, high = _convertible(wanted)
        warn_arithmetic("invalid", ~(tf.greater(wide, low) & tf.less(wide, high)), "cast")


def _convertible(wanted: np.dtype[Any]) -> tuple[float, float]:
    """Between which numbers a processor converts to integers without complaint: to 32 or 64 bits."""
    bits = 32 if wanted.itemsize < 4 or wanted == np.int32 else 64
    low = -(2.0 ** (bits - 1)) - 1 if bits == 32 else float(np.nextafter(-(2.0**63), -np.inf))
    return low, 2.0**64 if wanted == np.uint64 else 2.0 ** (bits - 1)


def _callers_level() -> int:
    """How far up the code is that called the op library."""
    level = 1
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_HERE):
        frame = frame.f_back
        level += 1
    return level
