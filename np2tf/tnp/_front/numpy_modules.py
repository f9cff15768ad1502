"""NumPy's modules as modules of `tnp`: every public name under the same path, made at the first access."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from np2tf.tnp._front import front
from np2tf.tnp._front.rebound_names import StandsForNumPys, rebound, value_of, watch

#: Name -> module, for all modules of np2tf that replace one of NumPy and have no file.
_modules: dict[str, HostModule] = {}


def provide(value: Any, qualified_name: str) -> Any:
    """Return the object of `tnp` that replaces an object of NumPy, which may be a module."""
    if isinstance(value, ModuleType) and value.__name__.partition(".")[0] == "numpy":
        return host_module(value.__name__, qualified_name.replace("numpy", "np2tf.tnp", 1))
    return front.provide(value, qualified_name)


def program_binding(qualified_name: str) -> Any:
    """Return the object that the program has bound to a name of NumPy; for a function of NumPy, `tnp`'s
    version.

    Raises:
        AttributeError: the program has deleted the name.
        StagingError: the object is not NumPy's own, and the code that reads it is being staged.
    """
    value = value_of(qualified_name)
    place, name = getattr(value, "__module__", None) or "", getattr(value, "__name__", "")
    if isinstance(value, ModuleType) or getattr(sys.modules.get(place), name, None) is not value:
        return value
    return provide(value, f"{place}.{name}") if place.partition(".")[0] == "numpy" else value


class HostModule(StandsForNumPys):
    """A module that replaces a module of NumPy, which is loaded on first use."""

    def __init__(self, numpy_name: str, name: str) -> None:
        super().__init__(name)
        self.__dict__["_numpy_name"] = numpy_name
        self.__spec__ = ModuleSpec(name, None, is_package=True)
        self.__package__ = name
        self.__path__: list[str] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name != "__all__":
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        module = importlib.import_module(self.__dict__["_numpy_name"])
        sys.modules.setdefault(self.__name__, self)
        watch(module, self)
        if f"{module.__name__}.{name}" in rebound.values:
            return program_binding(f"{module.__name__}.{name}")
        if name == "__all__":
            return getattr(module, "__all__", [key for key in dir(module) if not key.startswith("_")])
        submodule = _modules.get(f"{self.__name__}.{name}")
        value = submodule or provide(getattr(module, name), f"{module.__name__}.{name}")
        self.__dict__[name] = value
        return value

    def __dir__(self) -> list[str]:
        return sorted({*dir(importlib.import_module(self.__dict__["_numpy_name"])), *self.__dict__})


def host_module(numpy_name: str, name: str) -> ModuleType:
    """Return the module `name` of np2tf that replaces NumPy's `numpy_name`, and make it importable.

    The module is not in `sys.modules` before NumPy's module is: a program that asks each module there for a
    name, in a loop over `sys.modules`, would load NumPy's module in the middle of the loop.
    """
    if name in sys.modules:
        return sys.modules[name]
    module = _modules.get(name)
    if module is None:
        module = _modules[name] = HostModule(numpy_name, name)
        if numpy_name in sys.modules:
            sys.modules[name] = module
    return module


class _Finder(MetaPathFinder, Loader):
    """Imports the modules that have no file."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        return ModuleSpec(fullname, self, is_package=True) if fullname in _modules else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _modules[spec.name]

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: the names are made at the first access."""


sys.meta_path.append(_Finder())


def missing_names(namespace: dict[str, Any], numpy_name: str) -> Callable[[str], Any]:
    """Return a module's `__getattr__` that provides the names of NumPy's module that `namespace` lacks."""
    watch(importlib.import_module(numpy_name), sys.modules[namespace["__name__"]])

    def getattribute(name: str) -> Any:
        if f"{numpy_name}.{name}" in rebound.values:
            return program_binding(f"{numpy_name}.{name}")
        if name.startswith("_"):
            raise AttributeError(f"module {namespace['__name__']!r} has no attribute {name!r}")
        value = provide(getattr(importlib.import_module(numpy_name), name), f"{numpy_name}.{name}")
        namespace[name] = value
        return value

    return getattribute


def public_names(numpy_name: str, namespace: dict[str, Any]) -> Callable[[], list[str]]:
    """Return a module's `__dir__`, which lists NumPy's names and its own."""
    return lambda: sorted({*dir(importlib.import_module(numpy_name)), *namespace})
