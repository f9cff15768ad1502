"""TensorFlow's import without what np2tf seldom needs: Keras, and most of the public namespaces (`tf.lite`).

`import tensorflow` imports all namespaces, and they import half of TensorFlow's modules, JAX and more. In
np2tf's own import they are modules that wait until something is done with an attribute of theirs. They load
then, so that a program that uses them has the same objects as ever. Using `tf.keras` imports Keras.
"""

from __future__ import annotations

import copyreg
import importlib
import importlib.util
import pkgutil
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any, cast

_PACKAGE = "tensorflow._api.v2"
#: Modules to import before TensorFlow binds the names of its own module, in this order.
_IN_ORDER = (
    # The last one replaces functions of other modules, and adds methods to tensors. These have bound names.
    f"{_PACKAGE}.bitwise",
    "tensorflow.python.ops.ragged.ragged_operators",
    "tensorflow.python.ops.numpy_ops.np_config",
    # There are packages `tensorflow.distribute` and `tensorflow.lite` too. Importing them later binds
    # `tf.distribute` to the package, which this module reads there while it is imported.
    "tensorflow.python.distribute.experimental.rpc.rpc_ops",
    "tensorflow.lite",
)
_Context = Callable[[], AbstractContextManager[None]]
#: What the import system reads and writes.
_OF_IMPORTS = frozenset(
    ("__cached__", "__class__", "__file__", "__loader__", "__name__", "__package__", "__path__", "__spec__")
)


# -- waiting modules -----------------------------------------------------------------------------------------

_waiting: dict[str, ModuleSpec] = {}


def _loading(access: Callable[..., Any]) -> Callable[..., Any]:
    """Load the module before an access to an attribute. If another thread loads it, wait for that."""

    def load_and_access(module: ModuleType, name: str, *value: Any) -> Any:
        if name not in _OF_IMPORTS:
            importlib.import_module(module.__name__)
        return access(module, name, *value)

    return load_and_access


class _Waiting(ModuleType):
    """A module that is not loaded yet.

    It is not in `sys.modules`: a program that asks each module there for a name, in a loop over
    `sys.modules`, would load it in the middle of the loop.
    """

    __getattribute__ = _loading(ModuleType.__getattribute__)
    __setattr__ = _loading(ModuleType.__setattr__)
    __delattr__ = _loading(ModuleType.__delattr__)


def _reduce(module: ModuleType) -> Any:
    """Return the module by its name, for picklers such as cloudpickle that know modules by their type."""
    return importlib.import_module, (module.__name__,)


copyreg.pickle(_Waiting, _reduce)


def _wait(spec: ModuleSpec, unnoticed: _Context, module: Any = None) -> None:
    """Let the next import of a module find this spec, and execute it in a context.

    Args:
        spec: says where the module is.
        unnoticed: makes the context.
        module: the waiting module; None if the import is to make one.
    """
    loader: Any = spec.loader

    def execute(module: ModuleType) -> None:
        with unnoticed():
            type(loader).exec_module(loader, module)
        module.__class__ = ModuleType
        del loader.create_module, loader.exec_module, _waiting[spec.name]

    loader.create_module, loader.exec_module = lambda _: module, execute
    _waiting[spec.name] = spec


class _FindsWaiting:
    """A finder for the waiting modules."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return the spec that loads a waiting module; otherwise None."""
        return _waiting.get(name)


sys.meta_path.insert(0, _FindsWaiting())  # type: ignore[arg-type]


# -- own import ----------------------------------------------------------------------------------------------


@contextmanager
def namespaces_waiting(unnoticed: _Context) -> Iterator[None]:
    """Import TensorFlow's namespaces as waiting modules, and Keras not at all, in this thread in the block.

    Args:
        unnoticed: makes the context in which a namespace is loaded later.
    """
    finder: Any = _Finder(unnoticed)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


class _Finder:
    """A finder with other loaders for Keras and the namespaces' package, in the thread that has made it."""

    def __init__(self, unnoticed: _Context) -> None:
        self._unnoticed, self._thread = unnoticed, threading.get_ident()

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return the spec of one of the two; otherwise None."""
        if name not in (_PACKAGE, "keras") or threading.get_ident() != self._thread:
            return None
        spec = PathFinder.find_spec(name, path)
        loader: Any = getattr(spec, "loader", None)
        if loader is not None and name == _PACKAGE:
            loader.exec_module = self._exec_package
        elif loader is not None:  # TensorFlow asks the spec where Keras is
            loader.exec_module = _fail
            _wait(cast(ModuleSpec, PathFinder.find_spec(name, path)), self._unnoticed)
        return spec

    def _exec_package(self, package: ModuleType) -> None:
        """Add the namespaces to their package, which is empty. Importing them finds them there."""
        for info in pkgutil.iter_modules(package.__path__, f"{_PACKAGE}."):
            spec = PathFinder.find_spec(info.name, package.__path__)
            if info.ispkg and spec is not None and info.name not in _IN_ORDER:
                module = importlib.util.module_from_spec(spec)
                module.__class__ = _Waiting
                _wait(spec, self._unnoticed, module)
                setattr(package, info.name.rpartition(".")[2], module)
        for name in _IN_ORDER:
            with suppress(ModuleNotFoundError):  # in another version of TensorFlow
                importlib.import_module(name)


def _fail(module: ModuleType) -> None:
    """Raise ModuleNotFoundError, after which TensorFlow does without Keras's registrations."""
    raise ModuleNotFoundError(f"No module named {module.__name__!r}", name=module.__name__)
