"""When the program imports TensorFlow and Keras: what np2tf does as soon as a part of them is there.

Nothing here imports either.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from types import FrameType
from typing import Any

from np2tf.tnp._front.loading import when_loaded, when_program_has_tensors

_when_programs: list[Callable[[], None]] = []
#: Modules, what in them is waited for, and what is to be done with it.
_waiting: list[tuple[str, str, Callable[[Any], None]]] = []
#: Packages that import TensorFlow for np2tf's sake.
_OURS = frozenset({"np2tf", "tensorflow"})


class _Program:
    """Whether the program itself has imported TensorFlow, or asked for an array on it."""

    has_tensorflow = "tensorflow" in sys.modules


program = _Program()


def when_programs(callback: Callable[[], None]) -> None:
    """Call `callback` when the program begins to import TensorFlow, if it has not; np2tf does not count."""
    if callback not in _when_programs:
        _when_programs.append(callback)
    _watch()


def when_there(module: str, name: str, callback: Callable[[Any], None]) -> None:
    """Call `callback` with what `name` is in a module of TensorFlow or Keras, once it is there."""
    _waiting.append((module, name, callback))
    _watch()
    look()


def look() -> None:
    """See what is there."""
    for each in list(_waiting):
        module, name, callback = each
        found = getattr(sys.modules.get(module), name, None)
        if found is not None and each in _waiting:
            _waiting.remove(each)
            callback(found)


def _tell() -> None:
    program.has_tensorflow = True
    while _when_programs:
        _when_programs.pop()()


class _Watch:
    """Finds no module, but sees TensorFlow and its modules coming."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if name == "tensorflow":
            if not _is_ours(sys._getframe(1)):
                _tell()
        elif _waiting and name.startswith(("tensorflow.", "keras.")):
            look()


def _watch() -> None:
    if not any(isinstance(one, _Watch) for one in sys.meta_path):
        sys.meta_path.insert(0, _Watch())


# -- imports of what np2tf has imported already --------------------------------------------------------------


class _WatchedSpec(ModuleSpec):
    """The spec of a module that has been imported, which sees the program importing it again.

    An import statement asks the spec of a module in sys.modules whether the module is still initializing.
    """

    @property
    def _initializing(self) -> bool:
        if not program.has_tensorflow and not _is_ours(sys._getframe(1)):
            _tell()
        return False

    @_initializing.setter
    def _initializing(self, value: bool) -> None:
        """Importing it is over."""


def _watch_again() -> None:
    """Watch for imports of TensorFlow by the program, after np2tf's own."""
    if program.has_tensorflow:
        return
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in ("tensorflow", "keras") and type(module.__spec__) is ModuleSpec:
            module.__spec__.__class__ = _WatchedSpec


def _is_ours(frame: FrameType | None) -> bool:
    """Whether an import that has led to a frame was begun by np2tf, or by TensorFlow."""
    while frame is not None:
        package = frame.f_globals.get("__name__", "").partition(".")[0]
        if package != "importlib":
            return package in _OURS
        frame = frame.f_back
    return False


when_loaded(_watch_again)
when_program_has_tensors(_tell)
