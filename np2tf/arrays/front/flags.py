"""Flags that every operation reads: whether NumPy runs it, the depth of transforms, the rules of promotion in
force.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, cast

from np2tf.core.settings import config

# -- fast flags ----------------------------------------------------------------------------------------------
# Process-wide flags that let an operation skip the full check of where it runs.
#
# The full check (`residency.eager_on_host`) reads the settings, the staging of this thread, and
# TensorFlow's own mode. Nearly always no thread stages code, and then the flags have the answer.


class _FastFlags:
    """The flags.

    Attributes:
        host: whether NumPy runs operations on host operands: ``np2tf.config.eager`` is "auto", floats
            are NumPy's, no thread stages anything, and no call is intercepted.
        numpy: the same as `host`, whether or not calls are intercepted.
        is_unstaged: whether no thread stages anything.
        tensors: whether the TensorFlow half of `tnp` has been loaded; until then no array is a tensor.
    """

    __slots__ = ("host", "is_unstaged", "numpy", "tensors")

    host: bool
    numpy: bool
    is_unstaged: bool
    tensors: bool


fast_flags = _FastFlags()
fast_flags.tensors = fast_flags.host = fast_flags.numpy = False
_flags_lock = threading.Lock()
_scopes = 0
_interceptors = 0
_when_host_changes: list[Callable[[], None]] = []
_settings = {"eager": "auto", "floats": "float64"}


def _update() -> bool:
    """Set the flags, and return whether `host` has changed."""
    before = fast_flags.host
    fast_flags.is_unstaged = _scopes == 0
    on_numpy = _settings["eager"] == "auto" and _settings["floats"] == "float64"
    fast_flags.numpy = on_numpy and fast_flags.is_unstaged
    fast_flags.host = fast_flags.numpy and not _interceptors
    return fast_flags.host is not before


def _tell() -> None:
    for callback in _when_host_changes:
        callback()


def when_host_changes(callback: Callable[[], None]) -> None:
    """Call `callback` every time that `fast_flags.host` has changed."""
    _when_host_changes.append(callback)


def count_scopes(change: int) -> None:
    """Count the scopes of staged code: 1 when a scope is entered, -1 when it is left."""
    global _scopes
    with _flags_lock:
        _scopes += change
        has_changed = _update()
    if has_changed:
        _tell()


def count_interceptors(change: int) -> None:
    """Count an interceptor of the calls of the op library: 1 adds an interceptor, -1 removes it."""
    global _interceptors
    with _flags_lock:
        _interceptors += change
        has_changed = _update()
    if has_changed:
        _tell()


def _follow(name: str, value: str) -> None:
    with _flags_lock:
        _settings[name] = value
        has_changed = _update()
    if has_changed:
        _tell()


config.follow("eager", lambda value: _follow("eager", value))
config.follow("floats", lambda value: _follow("floats", value))


# -- transform depth -----------------------------------------------------------------------------------------
# The transforms (`np2tf.transforms`) whose functions this thread is running.


class _TransformDepth(threading.local):
    """The number of these transforms, one inside another."""

    depth = 0


transform_depth = _TransformDepth()


@contextmanager
def differentiate_block() -> Iterator[None]:
    """Run the block as a part of a function that is being differentiated.

    Jitted functions run operation by operation, callees are translated, and values that are being
    differentiated may not leave TensorFlow.
    """
    transform_depth.depth += 1
    try:
        yield
    finally:
        transform_depth.depth -= 1


# -- promotion mode ------------------------------------------------------------------------------------------
# The rules of promotion in force: the setting of the process, or that of the jitted function that is
# running.

F = TypeVar("F", bound=Callable[..., Any])


class _Flag:
    """A flag that is fast to read.

    Attributes:
        numpys: whether NumPy's rules are in force in every thread.
    """

    __slots__ = ("numpys",)

    numpys: bool


class _ThreadMode(threading.local):
    mode: str | None = None


in_force = _Flag()
_thread_mode = _ThreadMode()
_mode_lock = threading.Lock()
_other_modes = 0


def current_mode() -> str:
    """Return the mode in force in this thread: "numpy", "all", "safe" or "none"."""
    return _thread_mode.mode or config.promotion


def uses_numpy_rules() -> bool:
    """Return whether NumPy's rules are in force in this thread."""
    return in_force.numpys or current_mode() == "numpy"


@contextmanager
def promotion_scope(mode: str) -> Iterator[None]:
    """Set the mode of this thread for the `with` block."""
    before, _thread_mode.mode = _thread_mode.mode, mode
    _count(1)
    try:
        yield
    finally:
        _thread_mode.mode = before
        _count(-1)


def promote_in_any_mode(function: F) -> F:
    """Wrap `function` so that its own constants and intermediate results promote in every mode."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if in_force.numpys or current_mode() in ("numpy", "all"):
            return function(*args, **kwargs)
        with promotion_scope("all"):
            return function(*args, **kwargs)

    return cast(F, call)


def _count(change: int) -> None:
    global _other_modes
    with _mode_lock:
        _other_modes += change
        in_force.numpys = config.promotion == "numpy" and not _other_modes


config.follow("promotion", lambda _: _count(0))
