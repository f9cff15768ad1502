"""Processes made by `fork`, which have TensorFlow's state and none of its threads.

Whatever TensorFlow hands to a thread there, it waits for without end; a compiled function is handed to one.
So functions run as Python in such a process, on NumPy's arrays as fast as ever.
"""

from __future__ import annotations

import os
import sys

from np2tf.config import config


def _forget_in_child() -> None:
    context = sys.modules.get("tensorflow.python.eager.context")
    if context is not None and context.context().__dict__.get("_initialized"):
        config.jit = "off"


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_in_child)
