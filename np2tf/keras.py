"""`np2tf.keras`: NumPy functions as layers and optimisers of Keras.

Losses, activations and metrics need no class: Keras takes functions that `np2tf.translate` or `np2tf.jit` has
made.
"""

from __future__ import annotations

from np2tf.integrations.keras import Layer as Layer
from np2tf.integrations.keras import Optimizer as Optimizer
