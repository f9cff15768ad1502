"""Modules that are imported at the first use of one of their attributes.

The modules that every user of `tnp` loads refer to TensorFlow, and to the TensorFlow half of np2tf, through
lazy modules. The modules of the TensorFlow half import tensorflow themselves.

Where one part of np2tf needs another that it must not name, it asks a slot. `np2tf/__init__.py`, which knows
all parts, tells each slot its module.

| slot | who asks | for what |
|---|---|---|
| arrays | the functions of `tnp` on the host, at the first tensor | the implementations over tensors |
| compiler | `np2tf.jit`, at the first call that is worth compiling | the compiler of a function or a loop |
| translator | a trace, at a callee that is not translated | staged and eager versions of functions |
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from np2tf.installation import installation


class LazyModule:
    """A module whose import happens when an attribute is read first. Each attribute is stored when it has
    been read, so that reading it again is cheap.
    """

    def __init__(self, name: str = "") -> None:
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

#: The slots; `Any`, since their modules are not to be imported here, not even for types.
arrays: Any = LazyModule()
compiler: Any = LazyModule()
translator: Any = LazyModule()


#: The package that holds the meanings of operators for staged values, and the module that makes TensorFlow
#: and Keras know arrays.
staging = patches = ""


def fill(slot: Any, name: str) -> None:
    """Tell a slot the module that it stands for."""
    slot.__dict__["__name__"] = name


__all__ = ["LazyModule", "arrays", "compiler", "fill", "patches", "staging", "tf", "translator"]
