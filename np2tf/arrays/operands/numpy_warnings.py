"""NumPy's warnings, issued at the user's line."""

from __future__ import annotations

import functools
import os
import re
import sys
import warnings
from collections.abc import Callable
from functools import cache
from types import FrameType
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.core.own_warnings import PACKAGE_FOLDER

# -- user lines ----------------------------------------------------------------------------------------------
# The line of the user's code from which np2tf was called.

_NUMPY, _TENSORFLOW = (os.path.dirname(os.path.abspath(str(module.__file__))) + os.sep for module in (np, tf))
_INNER = (PACKAGE_FOLDER + os.sep, _NUMPY, _TENSORFLOW, "<frozen")

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


# -- value warnings ------------------------------------------------------------------------------------------
# NumPy's warnings about values. Eager code issues them as NumPy does; staged code cannot issue them.

EMPTY_MEAN = "Mean of empty slice"
TOO_FEW = "Degrees of freedom <= 0 for slice."
_ARITHMETIC = {
    "divide": "divide by zero",
    "over": "overflow",
    "under": "underflow",
    "invalid": "invalid value",
}
#: A kind of error -> the flag that the function set by np.seterrcall receives.
_FLAGS = {"divide": 1, "over": 2, "under": 4, "invalid": 8}
ALL_NAN = "All-NaN slice encountered"


def warn_where(condition: Any, message: str, category: type[Warning] = RuntimeWarning) -> None:
    """Warn if `condition` (a boolean or a boolean tensor) is known and true anywhere."""
    if isinstance(condition, tf.Tensor):
        if not tf.executing_eagerly():
            return
        condition = bool(np.any(condition.numpy()))
    if condition:
        warnings.warn(message, category, stacklevel=_callers_level())


def warn_arithmetic(kind: str, condition: tf.Tensor, name: str) -> None:
    """Report floating-point errors as ``np.errstate(kind=...)`` asks. Only eager code reports them.

    Raises:
        FloatingPointError: ``np.errstate`` asks for the error.
    """
    mode = np.geterr()[kind] if tf.executing_eagerly() else "ignore"  # type: ignore[literal-required]
    if mode == "ignore" or not bool(np.any(condition.numpy())):
        return
    message = f"{_ARITHMETIC[kind]} encountered in {name}"
    if mode == "warn":
        warn_where(True, message)
    elif mode == "raise":
        raise FloatingPointError(message)
    elif mode == "print":
        print(f"Warning: {message}", file=sys.stderr)
    elif mode == "log":
        np.geterrcall().write(f"Warning: {message}\n")  # type: ignore[union-attr]
    else:
        np.geterrcall()(_ARITHMETIC[kind], _FLAGS[kind])  # type: ignore[operator, misc]


def warn_cast(tensor: tf.Tensor, dtype: np.dtype[Any]) -> None:
    """Warn as NumPy does when it converts numbers: about imaginary parts, and about numbers that do not fit.

    Raises:
        FloatingPointError: a number does not fit, and ``np.errstate`` asks for the error.
    """
    have = tensor.dtype
    if have.is_complex and dtype.kind not in "cb":
        message = "Casting complex values to real discards the imaginary part"
        warn_where(True, message, np.exceptions.ComplexWarning)
        tensor = tf.math.real(tensor)
    if not tf.executing_eagerly():
        return
    if dtype.kind in "iu" and tensor.dtype.is_floating:
        wide = tf.cast(tensor, tf.float64)
        low, high = _convertible(dtype)
        warn_arithmetic("invalid", ~(tf.greater(wide, low) & tf.less(wide, high)), "cast")
    elif dtype.kind in "fc" and have in _GREATEST:
        greatest = _greatest_finite(dtype)
        if greatest < _GREATEST[have]:
            parts = [tf.math.real(tensor), tf.math.imag(tensor)] if tensor.dtype.is_complex else [tensor]
            sizes = [tf.abs(tf.cast(part, tf.float64)) for part in parts]
            overflows = [(size > greatest) & tf.math.is_finite(size) for size in sizes]
            warn_arithmetic("over", functools.reduce(tf.logical_or, overflows), "cast")


#: A dtype -> its greatest number, for dtypes whose numbers may be too great for another dtype.
_GREATEST = {
    **{
        tf.as_dtype(name): float(np.finfo(name).max)
        for name in ("float32", "float64", "complex64", "complex128")
    },
    **{
        tf.as_dtype(name): float(np.iinfo(name).max)
        for name in ("uint16", "int32", "uint32", "int64", "uint64")
    },
}


@functools.cache
def _greatest_finite(dtype: np.dtype[Any]) -> float:
    """Return the greatest number that stays finite when it is converted to this dtype."""
    limits = np.finfo(dtype)
    if limits.bits == 64:
        return float(limits.max)
    # Numbers that exceed the limit by less than half a unit in the last place are rounded down to it.
    unit = 2.0 ** (limits.maxexp - limits.nmant - 1)
    return float(np.nextafter(float(limits.max) + unit / 2, 0))


def _convertible(dtype: np.dtype[Any]) -> tuple[float, float]:
    """Return the interval of numbers that a CPU converts to 32-bit or 64-bit integers without complaint."""
    bits = 32 if dtype.itemsize < 4 or dtype == np.int32 else 64
    low = -(2.0 ** (bits - 1)) - 1 if bits == 32 else float(np.nextafter(-(2.0**63), -np.inf))
    return low, 2.0**64 if dtype == np.uint64 else 2.0 ** (bits - 1)


def _callers_level() -> int:
    """Return the number of frames between this function's caller and the code that called the op library."""
    level = 1
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE_FOLDER):
        frame = frame.f_back
        level += 1
    return level


# -- deprecations --------------------------------------------------------------------------------------------
# NumPy's warnings about the form of a call, such as deprecations, in NumPy's own words.


def ask_numpy(question: Callable[[], Any]) -> Any:
    """Return the result of `question`. NumPy's warnings in it are reported at the code that called tnp."""
    reports: dict[tuple[str, type[Warning]], None] = {}
    try:
        with warnings.catch_warnings(record=True) as records:
            warnings.simplefilter("always")
            try:
                return question()
            finally:
                reports = dict.fromkeys((str(record.message), record.category) for record in records)
    finally:
        for message, category in reports:
            warn_where(True, message, category)
