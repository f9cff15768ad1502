"""Which NumPy is installed, for what NumPy answers otherwise since a version of it."""

from __future__ import annotations

import numpy as np

__all__ = ["NUMPY"]

#: The first two numbers of the version, like ``(2, 4)``: later ones bring no changes of what is answered.
NUMPY: tuple[int, ...] = tuple(int(part) for part in np.__version__.split(".")[:2])
