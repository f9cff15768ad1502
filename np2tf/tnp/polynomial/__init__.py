"""`tnp.polynomial`: numpy.polynomial, on the host. (`classic` has functions of the main namespace.)"""

from __future__ import annotations

import numpy as _numpy

from np2tf.tnp.host import missing_names, public_names

__all__ = list(_numpy.polynomial.__all__)
__getattr__ = missing_names(globals(), "numpy.polynomial")
__dir__ = public_names("numpy.polynomial", globals())
