"""The version of the installed NumPy, for functions whose results differ between versions."""

from __future__ import annotations

import numpy as np

__all__ = ["NUMPY"]

#: The first two numbers of the version, such as ``(2, 4)``. The third number does not change results.
NUMPY: tuple[int, ...] = tuple(int(part) for part in np.__version__.split(".")[:2])
