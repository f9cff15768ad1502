"""NumPy's constants, which are the same objects."""

from __future__ import annotations

import numpy as np

__all__ = ["False_", "True_", "e", "euler_gamma", "inf", "little_endian", "nan", "newaxis", "pi"]

e = np.e
euler_gamma = np.euler_gamma
inf = np.inf
little_endian = np.little_endian
nan = np.nan
newaxis = None
pi = np.pi
False_ = np.False_
True_ = np.True_
