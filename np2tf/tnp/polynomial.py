"""`tnp.polynomial`: numpy.polynomial."""

from __future__ import annotations

import numpy as _numpy

from np2tf.arrays.front.namespace import missing_names as _missing_names
from np2tf.arrays.front.namespace import public_names as _public_names

__all__ = list(_numpy.polynomial.__all__)
__getattr__ = _missing_names(globals(), "numpy.polynomial")
__dir__ = _public_names("numpy.polynomial", globals())
