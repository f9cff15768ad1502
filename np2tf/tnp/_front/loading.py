"""Callbacks that run when the TensorFlow half of `tnp` is loaded, or when the program has tensors."""

from __future__ import annotations

from collections.abc import Callable

from np2tf import lazy
from np2tf.garbage import not_collecting
from np2tf.installation import installation
from np2tf.tnp._front import own_import as own_import  # wraps the import of TensorFlow
from np2tf.tnp._front.fast_flags import fast_flags

_callbacks: list[Callable[[], None]] = []
_waiting_for_tensors: list[Callable[[], None]] = []


def when_loaded(callback: Callable[[], None]) -> None:
    """Call `callback` once the TensorFlow half has been loaded; at once, if it has been."""
    if fast_flags.tensors:
        callback()
    else:
        _callbacks.append(callback)


def announce() -> None:
    """Run all waiting callbacks. From then on `fast_flags.tensors` says that arrays may be tensors."""
    fast_flags.tensors = True
    while _callbacks:
        _callbacks.pop()()


def load() -> None:
    """Load the TensorFlow half now, as the first tensor would.

    Raises:
        TensorFlowMissingError: if TensorFlow cannot be imported.
    """
    with installation.needed(), not_collecting():
        lazy.arrays.implementation  # noqa: B018  # reading a name loads the module


def when_program_has_tensors(callback: Callable[[], None]) -> None:
    """Call `callback` every time that the program itself asks for an array on TensorFlow."""
    _waiting_for_tensors.append(callback)


def announce_programs_tensors() -> None:
    """Run the callbacks of `when_program_has_tensors`."""
    for callback in _waiting_for_tensors:
        callback()
