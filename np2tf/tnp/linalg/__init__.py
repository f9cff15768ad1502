"""`tnp.linalg`: numpy.linalg."""

from __future__ import annotations

import numpy as _numpy
from numpy.linalg import LinAlgError as LinAlgError

from np2tf.tnp.linalg.arrays import *  # noqa: F403
from np2tf.tnp.linalg.factoring import *  # noqa: F403
from np2tf.tnp.linalg.norms import *  # noqa: F403
from np2tf.tnp.linalg.solving import *  # noqa: F403

# The submodule `linalg.linalg` is NumPy's own name for itself.
__all__ = list(_numpy.linalg.__all__)
