"""Process-wide flags that let an operation skip the full check of where it runs.

The full check (`residency.eager_on_host`) reads the settings, the staging of this thread, and TensorFlow's
own mode. Nearly always no thread stages code, and then the flags have the answer.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from np2tf.config import config


class _FastFlags:
    """The flags.

    Attributes:
        host: whether NumPy runs operations on host operands: ``np2tf.config.eager`` is "auto", floats are
            NumPy's, no thread stages anything, and no call is intercepted.
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
_lock = threading.Lock()
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
    with _lock:
        _scopes += change
        has_changed = _update()
    if has_changed:
        _tell()


def count_interceptors(change: int) -> None:
    """Count an interceptor of the calls of the op library: 1 adds an interceptor, -1 removes it."""
    global _interceptors
    with _lock:
        _interceptors += change
        has_changed = _update()
    if has_changed:
        _tell()


def _follow(name: str, value: str) -> None:
    with _lock:
        _settings[name] = value
        has_changed = _update()
    if has_changed:
        _tell()


config.follow("eager", lambda value: _follow("eager", value))
config.follow("floats", lambda value: _follow("floats", value))
