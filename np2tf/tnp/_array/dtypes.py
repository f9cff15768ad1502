"""The dtypes that TensorFlow lacks."""

from __future__ import annotations

from typing import Any

import numpy as np


def is_unsupported_dtype(dtype: np.dtype[Any]) -> bool:
    """Return whether TensorFlow lacks a dtype (objects, strings, records, dates, long doubles)."""
    if dtype.kind in "biufc":
        return dtype.char in "gG"
    return dtype.kind != "V" or dtype.char == "V" or "int" in dtype.name
