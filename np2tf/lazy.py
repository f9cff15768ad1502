"""Modules that are imported at the first use of one of their attributes.

The modules that every user of `tnp` loads name TensorFlow, and the TensorFlow half of np2tf, through these;
the modules of that half import tensorflow themselves.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any


class LazyModule:
    """A module's attributes; each is kept once it has been read, so that reading it again costs no more."""

    def __init__(self, name: str) -> None:
        self.__dict__["__name__"] = name

    def __getattr__(self, name: str) -> Any:
        value = getattr(importlib.import_module(self.__dict__["__name__"]), name)
        self.__dict__[name] = value
        return value


if TYPE_CHECKING:
    import tensorflow as tf
else:
    tf = LazyModule("tensorflow")

__all__ = ["LazyModule", "tf"]
