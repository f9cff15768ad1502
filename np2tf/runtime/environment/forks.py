"""Processes made by `fork`, which inherit TensorFlow's state but none of its threads.

In such a process TensorFlow waits forever for work that it gives to a thread, and it gives a compiled
function to a thread. So functions run as Python there; on NumPy's arrays they are as fast as ever.
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
