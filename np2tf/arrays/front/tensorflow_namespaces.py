"""TensorFlow's import without what np2tf seldom needs: Keras, and most of the public namespaces (`tf.lite`).

`import tensorflow` imports all namespaces, and they import half of TensorFlow's modules, JAX and more. In
np2tf's own import they are modules that wait until something is done with an attribute of theirs. They load
then, so that a program that uses them has the same objects as ever. Using `tf.keras` imports Keras.
"""

from __future__ import annotations

import copy
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
from typing import Any

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


class _Loader:
    """Loads a waiting module, which is an ordinary module from then on."""

    def __init__(self, module: ModuleType, unnoticed: Callable[[], AbstractContextManager[None]]) -> None:
        self._module, self._unnoticed = module, unnoticed
        self._spec: Any = module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the module that waits."""
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        """Execute the module, with its own spec again."""
        with self._unnoticed():
            self._spec.loader.exec_module(module)
        module.__spec__ = self._spec
        module.__class__ = ModuleType
        del _waiting[module.__name__]


class _FindsWaiting:
    """A finder for the waiting modules."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return the spec that loads a waiting module; otherwise None."""
        return _waiting.get(name)


sys.meta_path.insert(0, _FindsWaiting())  # type: ignore[arg-type]


# -- own import ----------------------------------------------------------------------------------------------


@contextmanager
def namespaces_waiting(unnoticed: Callable[[], AbstractContextManager[None]]) -> Iterator[None]:
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

    def __init__(self, unnoticed: Callable[[], AbstractContextManager[None]]) -> None:
        self._unnoticed, self._thread = unnoticed, threading.get_ident()

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return the spec of one of the two; otherwise None."""
        if name not in (_PACKAGE, "keras") or threading.get_ident() != self._thread:
            return None
        spec = PathFinder.find_spec(name, path)
        if spec is not None:  # TensorFlow asks the spec where Keras is
            spec.loader.exec_module = _fail if name == "keras" else self._exec_package  # type: ignore[union-attr,method-assign]
        return spec

    def _exec_package(self, package: ModuleType) -> None:
        """Add the namespaces to their package, which is empty. Importing them finds them there."""
        for info in pkgutil.iter_modules(package.__path__, f"{_PACKAGE}."):
            spec = PathFinder.find_spec(info.name, package.__path__)
            if info.ispkg and spec is not None and info.name not in _IN_ORDER:
                module = importlib.util.module_from_spec(spec)
                module.__class__ = _Waiting
                waiting = copy.copy(spec)
                waiting.loader = _Loader(module, self._unnoticed)  # type: ignore[assignment]
                _waiting[info.name] = waiting
                setattr(package, info.name.rpartition(".")[2], module)
        for name in _IN_ORDER:
            with suppress(ModuleNotFoundError):  # in another version of TensorFlow
                importlib.import_module(name)


def _fail(module: ModuleType) -> None:
    """Raise ModuleNotFoundError, after which TensorFlow does without Keras's registrations."""
    raise ModuleNotFoundError(f"No module named {module.__name__!r}", name=module.__name__)
