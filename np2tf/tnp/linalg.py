"""`tnp.linalg`: numpy.linalg."""

from __future__ import annotations

import numpy as _numpy
from numpy.linalg import LinAlgError as LinAlgError

from np2tf.arrays.front.namespace import missing_names as _missing_names
from np2tf.arrays.front.namespace import public_names as _public_names

__all__ = list(_numpy.linalg.__all__)
__getattr__ = _missing_names(globals(), "numpy.linalg")
__dir__ = _public_names("numpy.linalg", globals())
