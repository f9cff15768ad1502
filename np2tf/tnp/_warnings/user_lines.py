"""The line of the user's code from which np2tf was called."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from functools import cache
from types import FrameType

import numpy as np
import tensorflow as tf

_NP2TF, _NUMPY, _TENSORFLOW = (
    os.path.dirname(os.path.abspath(path)) + os.sep
    for path in (os.path.dirname(os.path.dirname(__file__)), str(np.__file__), str(tf.__file__))
)
_INNER = (_NP2TF, _NUMPY, _TENSORFLOW, "<frozen")

#: Matches the files of installed packages.
_PACKAGE_FILES = re.compile(r"[/\\](site|dist)-packages[/\\]")


@cache
def is_inner(path: str) -> bool:
    """Return whether a file belongs to np2tf, NumPy, TensorFlow or Python's frozen modules."""
    return path.startswith(_INNER)


def user_location() -> tuple[str, int]:
    """Return file and line of the innermost frame that is neither np2tf's, NumPy's nor TensorFlow's."""
    return _location(is_inner) or ("<unknown>", 0)


def program_location() -> tuple[str, int]:
    """Return file and line of the innermost frame outside of installed packages; if there is none, of the
    innermost frame that is neither np2tf's, NumPy's nor TensorFlow's.
    """
    return (
        _location(lambda path: is_inner(path) or _PACKAGE_FILES.search(path) is not None) or user_location()
    )


def called_package() -> str | None:
    """Return the name of the function of an installed package, or of NumPy's, that the program calls; None if
    it calls TensorFlow or np2tf alone.
    """
    frame: FrameType | None = sys._getframe(1)
    name = None
    while frame is not None:
        path = frame.f_code.co_filename
        if path.startswith(_NUMPY) or not is_inner(path):
            if not _PACKAGE_FILES.search(path):
                return name
            module = frame.f_globals.get("__name__", "").partition("._")[0]
            name = f"{module}.{_qualified_name(frame)}"
        frame = frame.f_back
    return name


def _qualified_name(frame: FrameType) -> str:
    """Return the name of a frame's function, with that of its class before it."""
    code = frame.f_code
    if sys.version_info >= (3, 11):
        return code.co_qualname
    # Python 3.10 knows no more of code than its name.
    if code.co_varnames[:1] == ("self",) and "self" in frame.f_locals:
        return f"{type(frame.f_locals['self']).__qualname__}.{code.co_name}"
    return code.co_name


def _location(is_passed_over: Callable[[str], bool]) -> tuple[str, int] | None:
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        if not is_passed_over(frame.f_code.co_filename):
            return frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back
    return None
