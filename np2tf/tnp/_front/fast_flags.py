"""The settings and states that decide where an operation runs, as flags that cost nothing to read.

The full answer (`residency.eager_on_host`) asks for the settings, for what this thread stages, and for
TensorFlow's own mode. Nearly always nothing is being staged in any thread, and then the flags say so.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from np2tf.config import config


class _Quick:
    """The flags.

    Attributes:
        host: True where an operation on host operands is NumPy's: ``np2tf.config.eager`` is "auto", floats
            are NumPy's, no thread stages anything, and nobody intercepts calls.
        numpy: the same, whether or not calls are intercepted.
        unstaged: True where no thread stages anything.
        tensors: True once the TensorFlow half of `tnp` has been loaded; until then no array is a tensor.
    """

    __slots__ = ("host", "numpy", "tensors", "unstaged")

    host: bool
    numpy: bool
    unstaged: bool
    tensors: bool


quick = _Quick()
quick.tensors = quick.host = quick.numpy = False
_lock = threading.Lock()
_regions = 0
_interceptors = 0
_when_host_changes: list[Callable[[], None]] = []
_settings = {"eager": "auto", "floats": "float64"}


def _update() -> bool:
    """Set the flags; whether `host` is another one now."""
    before = quick.host
    quick.unstaged = _regions == 0
    on_numpy = _settings["eager"] == "auto" and _settings["floats"] == "float64"
    quick.numpy = on_numpy and quick.unstaged
    quick.host = quick.numpy and not _interceptors
    return quick.host is not before


def _tell() -> None:
    for callback in _when_host_changes:
        callback()


def when_host_changes(callback: Callable[[], None]) -> None:
    """Call `callback` every time that `quick.host` has changed."""
    _when_host_changes.append(callback)


def count_regions(change: int) -> None:
    """Note that a region of staged code has been entered (1) or left (-1)."""
    global _regions
    with _lock:
        _regions += change
        changed = _update()
    if changed:
        _tell()


def count_interceptors(change: int) -> None:
    """Note that somebody intercepts the calls of the op library (1), or does not any more (-1)."""
    global _interceptors
    with _lock:
        _interceptors += change
        changed = _update()
    if changed:
        _tell()


def _follow(name: str, value: str) -> None:
    with _lock:
        _settings[name] = value
        changed = _update()
    if changed:
        _tell()


config.follow("eager", lambda value: _follow("eager", value))
config.follow("floats", lambda value: _follow("floats", value))
