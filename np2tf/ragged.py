"""`np2tf.ragged`: NumPy's object arrays of arrays with different lengths, as ragged tensors of TensorFlow.

Functions that get a ragged tensor see an object array of its rows. `np2tf.vmap` makes batches over rows.
"""

from __future__ import annotations

from np2tf.arrays.ragged import from_numpy as from_numpy
from np2tf.arrays.ragged import to_numpy as to_numpy
