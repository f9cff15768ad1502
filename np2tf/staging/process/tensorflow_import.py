"""Callbacks for the moments when the program imports TensorFlow and Keras, or a part of them.

This module imports neither of them.
"""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from types import FrameType
from typing import Any

from np2tf.arrays.front.flags import fast_flags
from np2tf.arrays.front.tensorflow_loading import importing_package, when_loaded, when_program_has_tensors
from np2tf.core.faults import note_fault
from np2tf.core.settings import config

_when_programs: list[Callable[[], None]] = []
#: Modules, the awaited names in them, and the functions to call with their values.
_callbacks: list[tuple[str, str, Callable[[Any], None]]] = []
#: Packages whose imports of TensorFlow are not the program's.
_OWN_PACKAGES = frozenset({"np2tf", "tensorflow"})


class _Program:
    """True if the program itself has imported TensorFlow, or requested an array on it."""

    has_tensorflow = "tensorflow" in sys.modules


program = _Program()


def when_programs(callback: Callable[[], None]) -> None:
    """Call `callback` when the program begins to import TensorFlow. Imports by np2tf do not count."""
    if callback not in _when_programs:
        _when_programs.append(callback)
    _watch()


def when_there(module: str, name: str, callback: Callable[[Any], None]) -> None:
    """Call `callback` with the value of `name` in a module of TensorFlow or Keras, as soon as it exists."""
    _callbacks.append((module, name, callback))
    _watch()
    look()


def look() -> None:
    """Call the callbacks whose names exist."""
    for entry in list(_callbacks):
        module, name, callback = entry
        value = getattr(sys.modules.get(module), name, None)
        if value is not None and entry in _callbacks:
            _callbacks.remove(entry)
            try:
                callback(value)
            except Exception as error:  # within an import of the program
                note_fault(error)


def _tell() -> None:
    program.has_tensorflow = True
    while _when_programs:
        try:
            _when_programs.pop()()
        except Exception as error:  # within an import of the program
            note_fault(error)


def _tell_if_programs(frame: FrameType) -> None:
    """Tell of an import, unless a package of `_OWN_PACKAGES` has begun it."""
    if not program.has_tensorflow and importing_package(frame) not in _OWN_PACKAGES:
        _tell()


class _Watch:
    """A finder that finds no module, but notices imports of TensorFlow and its modules."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if name == "tensorflow" or (fast_flags.tensors and name.startswith("tensorflow.")):
            _tell_if_programs(sys._getframe(1))
        if _callbacks and name.startswith(("tensorflow.", "keras.")):
            look()


def _watch() -> None:
    if not any(isinstance(finder, _Watch) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Watch())


# -- imports of what np2tf has imported already --------------------------------------------------------------


class _WatchedSpec(ModuleSpec):
    """The spec of an imported module that notices when the program imports the module again.

    An import statement asks the spec of a module in sys.modules whether the module is still initializing.
    """

    @property
    def _initializing(self) -> bool:
        _tell_if_programs(sys._getframe(1))
        return False

    @_initializing.setter
    def _initializing(self, value: bool) -> None:
        """Ignore the end of an import."""


def _watch_again() -> None:
    """Watch for imports of TensorFlow by the program, after np2tf's own import."""
    if program.has_tensorflow:
        return
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in ("tensorflow", "keras") and type(module.__spec__) is ModuleSpec:
            module.__spec__.__class__ = _WatchedSpec
    if sys.version_info < (3, 11):
        _watch_import_module()


def _watch_import_module() -> None:
    """Watch `importlib.import_module`, which asks no spec on Python 3.10."""
    machinery: Any = importlib._bootstrap  # type: ignore[attr-defined]
    import_by_name = machinery._gcd_import

    @functools.wraps(import_by_name)
    def watched_import(name: str, *where: Any) -> Any:
        if name.partition(".")[0] in ("tensorflow", "keras"):
            _tell_if_programs(sys._getframe(1))
        return import_by_name(name, *where)

    machinery._gcd_import = watched_import


when_loaded(_watch_again)
when_program_has_tensors(_tell)
# Under these settings new arrays are tensors, which the program still has when it changes them back.
config.follow("eager", lambda value: _tell() if value != "auto" else None)
config.follow("floats", lambda value: _tell() if value != "float64" else None)
