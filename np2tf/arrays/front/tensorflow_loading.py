"""Loading the TensorFlow half: the program must not notice np2tf's import of TensorFlow, and callbacks run
after it.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.abc
import random
import sys
import typing
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from importlib.machinery import ModuleSpec, PathFinder
from types import FrameType, ModuleType
from typing import Any

import numpy as np

from np2tf.arrays.front.flags import fast_flags
from np2tf.arrays.front.tensorflow_namespaces import namespaces_waiting
from np2tf.core import late
from np2tf.core.late import installation, not_collecting

# -- own import ----------------------------------------------------------------------------------------------
# Wraps np2tf's own import of TensorFlow, which the program has not asked for and must not notice.
#
# TensorFlow and the packages that it imports draw from the global random states of Python and NumPy while
# they are imported, and add filters for warnings. Without the wrapping, the program's later random numbers,
# and what becomes of its warnings, would depend on when np2tf imports TensorFlow. The garbage collector
# pauses meanwhile. The program's own import of TensorFlow is as without np2tf.


@contextlib.contextmanager
def preserved_random_states() -> Iterator[None]:
    """Restore the global random states of Python and NumPy at the end."""
    of_python, of_numpy = random.getstate(), np.random.get_state(legacy=False)
    try:
        yield
    finally:
        random.setstate(of_python)
        np.random.set_state(of_numpy)


@contextlib.contextmanager
def preserved_warning_filters() -> Iterator[None]:
    """Restore the filters for warnings at the end: packages that TensorFlow imports put theirs first."""
    before = list(warnings.filters)
    try:
        yield
    finally:
        if warnings.filters != before:
            warnings.filters[:] = before  # type: ignore[index]
            warnings._filters_mutated()  # type: ignore[attr-defined]


@contextlib.contextmanager
def _compiling_references_once() -> Iterator[None]:
    """Let `typing` compile equal forward references once: TensorFlow's operators have 16,000, of 70 texts."""
    names = vars(typing)
    names["compile"] = functools.cache(compile)
    try:
        yield
    finally:
        names.pop("compile", None)


@contextlib.contextmanager
def unnoticed() -> Iterator[None]:
    """Import modules of TensorFlow within the block as the program must not notice it."""
    with (
        not_collecting(),
        preserved_random_states(),
        preserved_warning_filters(),
        _compiling_references_once(),
    ):
        yield


#: Functions that make more contexts of the import, given TensorFlow's module; the last is the innermost.
contexts: list[Callable[[ModuleType], AbstractContextManager[None]]] = []

#: Functions that make the context of the first call of code that XLA compiles, which takes them off the list.
first_compilation_contexts: list[Callable[[], AbstractContextManager[None]]] = []


class _OwnImport(importlib.abc.MetaPathFinder):
    """Finds TensorFlow for np2tf's own imports, with a loader that executes the module in the contexts."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return the spec of TensorFlow with a changed loader if np2tf imports it; otherwise None."""
        if name != "tensorflow" or importing_package(sys._getframe(1)) != "np2tf":
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            _wrap(spec.loader)
        return spec


def importing_package(frame: FrameType | None) -> str:
    """Return the top package of the code that has begun the import that led to a frame; empty if unknown."""
    while frame is not None:
        package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if package != "importlib":
            return package
        frame = frame.f_back
    return ""


def _wrap(loader: Any) -> None:
    """Wrap the next import of one loader; later the loader is unchanged."""
    execute = loader.exec_module

    def exec_module(module: ModuleType) -> None:
        del loader.exec_module
        with contextlib.ExitStack() as stack:
            stack.enter_context(unnoticed())
            for context in contexts:
                stack.enter_context(context(module))
            with namespaces_waiting(unnoticed):
                execute(module)

    loader.exec_module = exec_module


sys.meta_path.insert(0, _OwnImport())


# -- loading -------------------------------------------------------------------------------------------------
# Callbacks that run when the TensorFlow half of `tnp` is loaded, or when the program has tensors.

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
    with installation.needed(), not_collecting(objects_stay=True):
        late.arrays.implementation  # noqa: B018  # reading a name loads the module


def when_program_has_tensors(callback: Callable[[], None]) -> None:
    """Call `callback` every time that the program itself asks for an array on TensorFlow."""
    _waiting_for_tensors.append(callback)


def announce_programs_tensors() -> None:
    """Run the callbacks of `when_program_has_tensors`."""
    for callback in _waiting_for_tensors:
        callback()
