"""The line of the user's code from which np2tf was called."""

from __future__ import annotations

import os
import sys
from functools import cache
from types import FrameType

import numpy as np
import tensorflow as tf

_INNER = tuple(
    os.path.dirname(os.path.abspath(path)) + os.sep
    for path in (os.path.dirname(os.path.dirname(__file__)), np.__file__, tf.__file__)
)


@cache
def is_inner(path: str) -> bool:
    """Return whether a file belongs to np2tf, NumPy, TensorFlow or Python's frozen modules."""
    return path.startswith(_INNER) or path.startswith("<frozen")


def user_location() -> tuple[str, int]:
    """Return file and line of the innermost frame that is the user's."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if not is_inner(frame.f_code.co_filename):
            return frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back
    return "<unknown>", 0
