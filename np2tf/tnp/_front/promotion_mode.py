"""The rules of promotion in force: the setting of the process, or that of the jitted function that is
running.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, cast

from np2tf.config import config

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
_lock = threading.Lock()
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
    with _lock:
        _other_modes += change
        in_force.numpys = config.promotion == "numpy" and not _other_modes


config.follow("promotion", lambda _: _count(0))
