"""Arguments of the functions of this folder, as arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from np2tf import tnp


def inexact(x: Any) -> Any:
    """Return an array of floats or complex numbers; integers and booleans become float64."""
    array = tnp.asarray(x)
    return array if np.issubdtype(np.dtype(array.dtype), np.inexact) else array.astype(np.float64)


def dtype_of(x: Any) -> np.dtype[Any]:
    """Return the dtype of an array of either kind, as NumPy's."""
    return np.dtype(x.dtype)


def lowest(dtype: np.dtype[Any]) -> Any:
    """Return the least value of a dtype: minus infinity for floats."""
    if np.issubdtype(dtype, np.inexact):
        return dtype.type(-np.inf)
    return False if dtype == np.bool_ else np.iinfo(dtype).min


def highest(dtype: np.dtype[Any]) -> Any:
    """Return the greatest value of a dtype: infinity for floats."""
    if np.issubdtype(dtype, np.inexact):
        return dtype.type(np.inf)
    return True if dtype == np.bool_ else np.iinfo(dtype).max


__all__ = ["dtype_of", "highest", "inexact", "lowest"]
