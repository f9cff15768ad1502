"""What is true of nearly every eager operation, as two flags that cost nothing to read.

The full answer (`residence.eager_on_host`) asks for the setting, for what this thread stages, and for
TensorFlow's own mode. Nearly always nothing is being staged in any thread, and then the flags say so.
"""

from __future__ import annotations

import threading

from np2tf.config import config


class _Quick:
    """The flags.

    Attributes:
        host: True where ``np2tf.config.eager`` is "auto" and no thread stages anything: an operation on
            host arrays is NumPy's.
        unstaged: True where no thread stages anything, and tensors are worked on by TensorFlow.
    """

    __slots__ = ("host", "unstaged")

    host: bool
    unstaged: bool


quick = _Quick()
_lock = threading.Lock()
_regions = 0
_setting = "auto"


def _update() -> None:
    quick.host = _setting == "auto" and _regions == 0
    quick.unstaged = _setting != "numpy" and _regions == 0


def count_regions(change: int) -> None:
    """Note that a region of staged code has been entered (1) or left (-1)."""
    global _regions
    with _lock:
        _regions += change
        _update()


def _follow(value: str) -> None:
    global _setting
    with _lock:
        _setting = value
        _update()


config.follow("eager", _follow)
