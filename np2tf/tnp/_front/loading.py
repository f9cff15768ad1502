"""When the TensorFlow half of `tnp` is loaded, or the program has tensors, others have something to do."""

from __future__ import annotations

from collections.abc import Callable

from np2tf.tnp._front.fast_flags import quick

_waiting: list[Callable[[], None]] = []
_waiting_for_tensors: list[Callable[[], None]] = []


def when_loaded(callback: Callable[[], None]) -> None:
    """Call `callback` once the TensorFlow half has been loaded; at once, if it has been."""
    if quick.tensors:
        callback()
    else:
        _waiting.append(callback)


def announce() -> None:
    """Tell everybody who waits. (Arrays of ours are told from others by their types from now on.)"""
    quick.tensors = True
    while _waiting:
        _waiting.pop()()


def load() -> None:
    """Load the TensorFlow half now: what the first tensor would do."""
    import np2tf.tnp._entry.routing  # noqa: F401


def when_program_has_tensors(callback: Callable[[], None]) -> None:
    """Call `callback` every time that the program asks for an array on TensorFlow by hand."""
    _waiting_for_tensors.append(callback)


def announce_programs_tensors() -> None:
    """Tell everybody who waits for that."""
    for callback in _waiting_for_tensors:
        callback()
