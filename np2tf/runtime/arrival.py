"""When the program imports TensorFlow and Keras: what np2tf does as soon as a part of them is there.

Nothing here imports either.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

_when_begun: list[Callable[[], None]] = []
#: Modules, what in them is waited for, and what is to be done with it.
_waiting: list[tuple[str, str, Callable[[Any], None]]] = []


def when_begun(callback: Callable[[], None]) -> None:
    """Call `callback` when the program begins to import TensorFlow, if it has not."""
    if callback not in _when_begun:
        _when_begun.append(callback)
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


class _Watch:
    """Finds no module, but sees TensorFlow and its modules coming."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if name == "tensorflow":
            while _when_begun:
                _when_begun.pop()()
        elif _waiting and name.startswith(("tensorflow.", "keras.")):
            look()


def _watch() -> None:
    if not any(isinstance(one, _Watch) for one in sys.meta_path):
        sys.meta_path.insert(0, _Watch())
