"""Where calls enter the op library: the functions and methods that translated code calls.

They can be replaced for a while, each by a function around it: that is how a report times them without
costing anything when nobody has asked for one, and how new arrays become float32 by default.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from types import FunctionType, ModuleType
from typing import Any

from np2tf.tnp import host, operators
from np2tf.tnp.at import _Place
from np2tf.tnp.ndarray import ndarray
from np2tf.tnp.ufunc import Ufunc

#: (name to show, function) -> what takes its place.
Make = Callable[[str, Callable[..., Any]], Callable[..., Any]]

_MODULES = ("", "linalg", "fft", "random", "polynomial")
#: Methods of arrays that are no operations.
_NO_OPERATIONS = frozenset({"storage", "store", "view_through", "numpy", "tobytes", "setflags"})
_DUNDERS = frozenset(
    {
        *(f"__{prefix}{name}__" for name in operators._BINARY for prefix in ("", "r", "i")),
        *(f"__{name}__" for name in (*operators._COMPARISON, *operators._UNARY, "getitem", "setitem")),
    }
)
_UFUNC_METHODS = ("__call__", "reduce", "accumulate", "outer", "at", "reduceat")


def _classes() -> Iterator[tuple[type, str, str]]:
    """(class, attribute, name to show) of every method that enters; a ufunc's own name is not known here."""
    for name in _UFUNC_METHODS:
        if name in vars(Ufunc):
            yield Ufunc, name, "" if name == "__call__" else f".{name}"
    for name in vars(ndarray):
        if name in _DUNDERS or not (name.startswith("_") or name in _NO_OPERATIONS):
            yield ndarray, name, f"ndarray.{name}"
    random = sys.modules["np2tf.tnp.random"]
    for owner in (random.Generator, random.RandomState):
        for name in vars(owner):
            if not name.startswith("_"):
                yield owner, name, f"{owner.__name__}.{name}"
    for name in vars(_Place):
        if not name.startswith("_"):
            yield _Place, name, f"at[].{name}"


def _functions() -> Iterator[tuple[ModuleType, str, str]]:
    """(module, attribute, name to show) of every function of the public modules, host fallbacks too."""
    for short in _MODULES:
        module = importlib.import_module(f"np2tf.tnp.{short}".rstrip("."))
        for name in dir(module) if short else module.__all__:
            if not name.startswith("_") and isinstance(getattr(module, name, None), FunctionType):
                yield module, name, f"{short}.{name}".lstrip(".")


def replace(make: Make) -> Callable[[], None]:
    """Put `make(name, function)` in the place of every function that is entered; returns what undoes it.

    Functions that other modules have imported by name already are replaced there, too.
    """
    before: list[tuple[Any, str, Any]] = []
    made: dict[int, Callable[..., Any]] = {}

    def put(owner: Any, attribute: str, value: Any) -> None:
        before.append((owner, attribute, vars(owner)[attribute]))
        setattr(owner, attribute, value)

    for owner, attribute, name in list(_classes()):
        function = vars(owner)[attribute]
        if isinstance(function, FunctionType):
            put(owner, attribute, make(name, function))
    originals = []
    for module, attribute, name in list(_functions()):
        function = getattr(module, attribute)
        if id(function) not in made:
            made[id(function)] = make(name, function)
            originals.append(function)  # an id is good for as long as the object lives
    for module in [*sys.modules.values()]:
        if isinstance(module, ModuleType) and _sees_entries(module):
            for attribute, value in [*vars(module).items()]:
                if type(value) is FunctionType and id(value) in made:
                    put(module, attribute, made[id(value)])
    fallback = host.fallback
    put(host, "fallback", lambda function, qualified: make(_short(qualified), fallback(function, qualified)))

    def undo() -> None:
        while before:
            setattr(*before.pop())

    return undo


def _short(qualified: str) -> str:
    return qualified.removeprefix("numpy.")


def _sees_entries(module: ModuleType) -> bool:
    """The public modules, and everything outside the op library: inside, calls are steps of operations."""
    name = getattr(module, "__name__", "")
    if name in {f"np2tf.tnp.{short}".rstrip(".") for short in _MODULES}:
        return True
    return not name.startswith(("np2tf.", "numpy.", "tensorflow.", "keras."))
