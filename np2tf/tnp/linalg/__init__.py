"""`tnp.linalg`: numpy.linalg."""

from __future__ import annotations

import numpy as _numpy
from numpy.linalg import LinAlgError as LinAlgError

from np2tf.tnp.host import missing_names as _missing_names
from np2tf.tnp.host import public_names as _public_names
from np2tf.tnp.linalg.arrays import *  # noqa: F403
from np2tf.tnp.linalg.factoring import *  # noqa: F403
from np2tf.tnp.linalg.norms import *  # noqa: F403
from np2tf.tnp.linalg.solving import *  # noqa: F403

__all__ = list(_numpy.linalg.__all__)
__getattr__ = _missing_names(globals(), "numpy.linalg")
__dir__ = _public_names("numpy.linalg", globals())
