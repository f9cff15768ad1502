"""`tnp.linalg`: numpy.linalg.

Its modules may import the levels of `tnp` below the chapters, and the chapters `products`, `reductions` and
`manipulation.views`; this file only the front. Products of the main namespace belong to `products`.
"""

from __future__ import annotations

import numpy as _numpy
from numpy.linalg import LinAlgError as LinAlgError

from np2tf.arrays.front.namespace import missing_names as _missing_names
from np2tf.arrays.front.namespace import public_names as _public_names

__all__ = list(_numpy.linalg.__all__)
__getattr__ = _missing_names(globals(), "numpy.linalg")
__dir__ = _public_names("numpy.linalg", globals())
