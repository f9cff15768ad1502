"""What is loaded only when it is needed: TensorFlow, if it can be used at all, and the heavy halves of
np2tf, by slots.
"""

from __future__ import annotations

import gc
import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any

from np2tf.core.own_warnings import program_place, warn_at
from np2tf.core.signals import handlers_deferred, pass_on

__all__ = [
    "LazyModule",
    "arrays",
    "compiler",
    "patches",
    "staging",
    "tf",
    "translator",
]


# -- garbage -------------------------------------------------------------------------------------------------
# Pauses Python's garbage collector where very many objects are made that stay.


@contextmanager
def not_collecting(objects_stay: bool = False) -> Iterator[None]:
    """Collect no cyclic garbage within the block.

    A translation, a trace, and the import of TensorFlow make so many objects that the oldest generation is
    collected several times. Each collection walks up to half a million objects, which takes a quarter of the
    time of tracing, and a fifth of the time of the import.

    Args:
        objects_stay: whether nearly all objects that are made stay as long as the process: they become old at
            once, and the first collections after the block, of young objects, do not walk them all.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if objects_stay:
            gc.freeze()
            gc.unfreeze()  # puts all into the oldest generation
        if was_enabled:
            gc.enable()


# -- installation --------------------------------------------------------------------------------------------
# Whether TensorFlow can be used. Where it cannot, programs run on NumPy, with one warning.
#
# It may be missing or half installed, its import may fail for any reason, or its version may not fit np2tf.

REMEDY = "pip install 'np2tf[tf]'"


class TensorFlowMissingError(ImportError):
    """Raised if something needs TensorFlow that cannot do without it, and TensorFlow cannot be imported."""


class TensorFlowWarning(UserWarning):
    """Warns that TensorFlow cannot be imported, so that a program runs on NumPy."""


class Installation:
    """The TensorFlow of this process; `problem` says why it cannot be used, once that is known."""

    def __init__(self) -> None:
        self.problem = ""
        self._has_warned = False

    @property
    def may_have_tensorflow(self) -> bool:
        """Return whether the process has begun to import TensorFlow, and nothing is known against it."""
        return "tensorflow" in sys.modules and not self.problem

    def note(self, error: Exception) -> None:
        """Record that importing TensorFlow, or the half of np2tf that needs it, has failed."""
        pass_on(error)
        if not self.problem:
            lines = str(error).splitlines() or [""]
            self.problem = f"{type(error).__name__}: {lines[0]}"

    def warn(self) -> None:
        """Warn once that the program runs on NumPy."""
        if not self._has_warned:
            self._has_warned = True
            text = f"TensorFlow cannot be imported ({self.problem}), so the program runs on NumPy: {REMEDY}"
            warn_at(text, TensorFlowWarning, *program_place())

    @contextmanager
    def needed(self) -> Iterator[None]:
        """Raise TensorFlowMissingError if an import within the with block fails because of TensorFlow."""
        try:
            with handlers_deferred():
                yield
        except TensorFlowMissingError:
            raise
        except Exception as error:
            if not _is_of_tensorflow(error):
                raise
            self.note(error)
            raise TensorFlowMissingError(
                f"TensorFlow cannot be imported ({self.problem}): {REMEDY}", name="tensorflow"
            ) from error


def _is_of_tensorflow(error: Exception) -> bool:
    """Return whether an exception arose in TensorFlow, or because a part of it is missing."""
    owner = getattr(getattr(error, "obj", None), "__name__", None)  # of an attribute that a version lacks
    names = [getattr(error, "name", None), owner, *_modules_of(error.__traceback__)]
    return any(str(name).partition(".")[0] in ("tensorflow", "keras") for name in names)


def _modules_of(traceback: TracebackType | None) -> Iterator[str]:
    while traceback is not None:
        yield str(traceback.tb_frame.f_globals.get("__name__", ""))
        traceback = traceback.tb_next


installation = Installation()


# -- lazy ----------------------------------------------------------------------------------------------------
# Modules that are imported at the first use of one of their attributes.
#
# The modules that every user of `tnp` loads refer to TensorFlow, and to the TensorFlow half of np2tf,
# through lazy modules. The modules of the TensorFlow half import tensorflow themselves.
#
# Where one part of np2tf needs another that it must not name, it asks a slot. `np2tf/__init__.py`, which
# knows all parts, tells each slot its module.
#
# | slot | who asks | for what |
# |---|---|---|
# | arrays | the functions of `tnp` on the host, at the first tensor | the implementations over tensors |
# | compiler | `np2tf.jit`, at the first call that is worth compiling | the compiler of a function or a loop |
# | translator | a trace, at a callee without translation; functions that wait | staged and eager versions |


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

#: The slots; `Any`, since their modules are not to be imported here, not even for types.
arrays: Any
compiler: Any
translator: Any
#: The package that holds the meanings of operators for staged values, and the module that makes TensorFlow
#: and Keras know arrays.
staging = patches = ""
