"""`tnp.random`: numpy.random."""

from __future__ import annotations

import numpy as _numpy

from np2tf.arrays.front.namespace import missing_names as _missing_names
from np2tf.arrays.front.namespace import public_names as _public_names
from np2tf.arrays.front.random_generators import Generator as Generator
from np2tf.arrays.front.random_generators import RandomState as RandomState

__all__ = list(_numpy.random.__all__)
__getattr__ = _missing_names(globals(), "numpy.random")
__dir__ = _public_names("numpy.random", globals())
