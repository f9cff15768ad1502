"""The exponential of a matrix."""

from __future__ import annotations

import tensorflow as tf

from np2tf.scipy.kernels.declare import native
from np2tf.scipy.kernels.linalg.matrices import a_matrix, computable
from np2tf.tnp._dispatch.argument_types import Array


@native("scipy.linalg.expm")
def expm(A: Array) -> tf.Tensor:
    """The exponential of square matrices.

    See https://docs.scipy.org/doc/scipy/reference/generated/scipy.linalg.expm.html.
    """
    a_matrix("expm", A, square=True, stacked=True)
    return tf.linalg.expm(*computable("expm", A))
