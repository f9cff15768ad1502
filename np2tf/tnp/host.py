"""Host fallbacks: the public NumPy names that no chapter implements, made when first asked for.

A function's arguments are handed to NumPy as np.ndarray and what it returns is taken back as arrays. Values
that are not known while staging end the staging, and so do functions that act on more than their arguments.
"""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from np2tf.counts import counts
from np2tf.staging import StagingError
from np2tf.tnp.cells import current_region
from np2tf.tnp.conversion import to_numpy
from np2tf.tnp.normalize import OPS, write_back
from np2tf.tnp.residence import has_tensor, placed
from np2tf.tnp.ufunc import UFUNCS, Ufunc

_FUNCTIONS = (FunctionType, BuiltinFunctionType, MethodType, type(np.concatenate))
#: Those that write to a parameter, and to which. The rules say so too, but take 10 ms to read.
WRITES = {
    "numpy.copyto": "dst",
    "numpy.fill_diagonal": "a",
    "numpy.place": "arr",
    "numpy.put": "a",
    "numpy.put_along_axis": "arr",
    "numpy.putmask": "a",
    "numpy.random.shuffle": "x",
}
#: They call what they are given with arguments that are not theirs to change.
_AS_GIVEN = frozenset({"assert_raises", "assert_raises_regex", "assert_warns", "assert_no_warnings"})
#: They act on files or on settings: running them once, while staging, would be wrong.
_EFFECTS = frozenset(
    f"numpy.{name}"
    for name in (
        *("load", "save", "savez", "savez_compressed", "loadtxt", "savetxt", "genfromtxt", "fromfile"),
        *("fromregex", "set_printoptions", "seterr", "seterrcall", "setbufsize", "info", "show_config"),
    )
)
#: Modules that make random numbers or test: they run only when called, never while staging.
_EFFECT_PREFIXES = ("numpy.random.", "numpy.testing.")


def fallback(function: Callable[..., Any], qualified: str) -> Callable[..., Any]:
    """NumPy's `function` over our arrays; `qualified` is the name by which the rules know it."""
    if qualified in WRITES:
        return _writing(function, qualified, WRITES[qualified])

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        given, named = host_arguments(qualified, args, kwargs)
        result = function(*given, **named)
        if kwargs.get("out") is not None:
            return write_back(kwargs["out"], named["out"])
        return placed(result)

    call.__module__ = "np2tf.tnp"
    call.numpy = function  # type: ignore[attr-defined]
    call.host_only = True  # type: ignore[attr-defined]
    call.autograph_info__ = {}  # type: ignore[attr-defined]  # AutoGraph leaves it alone
    OPS.setdefault(function, call)
    return call


def _writing(function: Callable[..., Any], qualified: str, target: str) -> Callable[..., Any]:
    """A function that writes to its first parameter, called `target`: ours returns what was written to."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        given, named = host_arguments(qualified, args, kwargs)
        function(*given, **named)
        return write_back(args[0], given[0]) if args else write_back(kwargs[target], named[target])

    call.__module__ = "np2tf.tnp"
    call.numpy = function  # type: ignore[attr-defined]
    call.host_only = True  # type: ignore[attr-defined]
    OPS.setdefault(function, call)
    return call


def host_arguments(
    qualified: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments as NumPy takes them.

    Raises:
        StagingError: something is being staged, and the call depends on values known only at run time.
    """
    if current_region() is not None:
        if qualified in _EFFECTS or qualified.startswith(_EFFECT_PREFIXES):
            raise StagingError(f"{qualified} runs on the host only", "NP2TF503")
        if any(isinstance(value, np.ndarray) for value in (*args, *kwargs.values())):
            raise StagingError(f"{qualified} needs the values of an array while staging", "NP2TF503")
    if has_tensor(args) or has_tensor(kwargs.values()):
        counts.host += 1
    return tuple(map(to_numpy, args)), {name: to_numpy(value) for name, value in kwargs.items()}


class HostIndexer:
    """One of NumPy's objects that make arrays by being indexed: ``c_``, ``r_``, ``mgrid``, ``ogrid``."""

    def __init__(self, numpy: Any, qualified: str) -> None:
        self.numpy = numpy
        self.qualified = qualified
        self.__doc__ = numpy.__doc__

    def __getitem__(self, key: Any) -> Any:
        parts, _ = host_arguments(self.qualified, key if isinstance(key, tuple) else (key,), {})
        known = tuple(_known_slice(part) if isinstance(part, slice) else part for part in parts)
        return placed(self.numpy[known if isinstance(key, tuple) else known[0]])


def _known_slice(key: slice) -> slice:
    return slice(to_numpy(key.start), to_numpy(key.stop), to_numpy(key.step))


def _refuse(*operands: Any) -> Any:
    raise StagingError("this universal function runs on the host only", "NP2TF503")


def provide(value: Any, qualified: str) -> Any:
    """What stands for NumPy's `value`: functions are wrapped, classes and constants are NumPy's own."""
    if isinstance(value, np.ufunc):
        return UFUNCS.get(value) or Ufunc(value, _refuse)
    if isinstance(value, ModuleType):
        return host_module(value.__name__, qualified.replace("numpy", "np2tf.tnp", 1))
    if isinstance(value, _FUNCTIONS) and qualified.rpartition(".")[2] not in _AS_GIVEN:
        return OPS.get(value) or fallback(value, qualified)
    if type(value).__name__ in ("CClass", "RClass", "MGridClass", "OGridClass"):
        return HostIndexer(value, qualified)
    return value


class HostModule(ModuleType):
    """A module of NumPy's, its functions as host fallbacks. NumPy's module is loaded when first needed."""

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
        if name == "__all__":
            return getattr(module, "__all__", [key for key in dir(module) if not key.startswith("_")])
        own = sys.modules.get(f"{self.__name__}.{name}")
        value = own or provide(getattr(module, name), f"{module.__name__}.{name}")
        setattr(self, name, value)
        return value

    def __dir__(self) -> list[str]:
        return sorted({*dir(importlib.import_module(self.__dict__["_numpy_name"])), *self.__dict__})


def host_module(numpy_name: str, name: str) -> ModuleType:
    """The module `name` of ours that stands for NumPy's `numpy_name`, importable from now on."""
    module = sys.modules.get(name)
    if module is None:
        module = sys.modules[name] = HostModule(numpy_name, name)
    return module


def missing_names(namespace: dict[str, Any], numpy_name: str) -> Callable[[str], Any]:
    """A module's `__getattr__` that provides what NumPy's module has and `namespace` has not."""

    def getattribute(name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"module {namespace['__name__']!r} has no attribute {name!r}")
        value = provide(getattr(importlib.import_module(numpy_name), name), f"{numpy_name}.{name}")
        namespace[name] = value
        return value

    return getattribute


def public_names(numpy_name: str, namespace: dict[str, Any]) -> Callable[[], list[str]]:
    """A module's `__dir__`: NumPy's names and its own."""
    return lambda: sorted({*dir(importlib.import_module(numpy_name)), *namespace})
