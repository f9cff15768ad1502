"""`tnp.fft`: numpy.fft.

Its modules may import the levels of `tnp` below the chapters, `linalg` and `products`; this file only the
front. Functions of scipy.fft stay out.
"""

from __future__ import annotations

import numpy as _numpy

from np2tf.arrays.front.namespace import missing_names as _missing_names
from np2tf.arrays.front.namespace import public_names as _public_names

__all__ = list(_numpy.fft.__all__)
__getattr__ = _missing_names(globals(), "numpy.fft")
__dir__ = _public_names("numpy.fft", globals())
