"""`np2tf.tnp`: NumPy's API on TensorFlow."""

from __future__ import annotations

from np2tf.tnp import operators as operators
from np2tf.tnp import ufuncs as _ufuncs
from np2tf.tnp.at import at as at
from np2tf.tnp.ndarray import ndarray as ndarray

globals().update({name: getattr(_ufuncs, name) for name in _ufuncs._TABLE})
