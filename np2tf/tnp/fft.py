"""`tnp.fft`: numpy.fft."""

from __future__ import annotations

from np2tf.tnp.host import missing_names, public_names

__getattr__ = missing_names(globals(), "numpy.fft")
__dir__ = public_names("numpy.fft", globals())
