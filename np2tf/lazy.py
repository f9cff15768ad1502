"""Modules that are imported at the first use of one of their attributes.

The modules that every user of `tnp` loads refer to TensorFlow, and to the TensorFlow half of np2tf, through
lazy modules. The modules of the TensorFlow half import tensorflow themselves.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from np2tf.installation import installation


class LazyModule:
    """A module whose import happens when an attribute is read first. Each attribute is stored when it has
    been read, so that reading it again is cheap.
    """

    def __init__(self, name: str) -> None:
        self.__dict__["__name__"] = name

    def __getattr__(self, name: str) -> Any:
        if name == "__wrapped__":  # asked of whatever stands in a module: no module has it
            raise AttributeError(f"module {self.__dict__['__name__']!r} has no attribute {name!r}")
        with installation.needed():
            value = getattr(importlib.import_module(self.__dict__["__name__"]), name)
        self.__dict__[name] = value
        return value


if TYPE_CHECKING:
    import tensorflow as tf
else:
    tf = LazyModule("tensorflow")

__all__ = ["LazyModule", "tf"]
