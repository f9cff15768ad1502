"""Advice for `tf.GradientTape.watch` of an array on the host: the error names the remedies.

Loaded as soon as a function of `tnp` finds that TensorFlow is imported. All other patches of TensorFlow are
in `np2tf.arrays.methods.tensorflow_protocols`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
import tensorflow as tf


class NotWatchedError(TypeError, ValueError):
    """A gradient tape cannot watch an array on the host. (TensorFlow's own error is a ValueError, too.)"""


def _advise(watch: Callable[..., None]) -> Callable[..., None]:
    @wraps(watch)
    def watch_or_advise(tape: tf.GradientTape, tensor: Any) -> None:
        try:
            watch(tape, tensor)
        except ValueError as error:
            if not any(isinstance(leaf, np.ndarray) for leaf in tf.nest.flatten(tensor)):
                raise
            raise NotWatchedError(
                "a gradient tape cannot watch a NumPy array: move it with np2tf.device_put(x), or "
                'set np2tf.config.eager = "tensorflow" before the array is made'
            ) from error

    return watch_or_advise


tf.GradientTape.watch = _advise(tf.GradientTape.watch)
