"""`tnp.linalg`: numpy.linalg."""

from __future__ import annotations

from np2tf.tnp.host import missing_names, public_names

__getattr__ = missing_names(globals(), "numpy.linalg")
__dir__ = public_names("numpy.linalg", globals())
