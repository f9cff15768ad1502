"""`tnp.fft`: numpy.fft."""

from __future__ import annotations

import numpy as _numpy

from np2tf.tnp.fft.helper import *  # noqa: F403
from np2tf.tnp.fft.many import *  # noqa: F403
from np2tf.tnp.fft.one import *  # noqa: F403

__all__ = list(_numpy.fft.__all__)
