"""The functions that programs call: they run SciPy on host operands, and `np2tf.scipy.kernels` on tensors."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from np2tf import lazy, rules
from np2tf.tnp._front import loading
from np2tf.tnp._front.front import Function, universal_function

#: SciPy's qualified name -> np2tf's function for it, which is made at the first use.
_functions: dict[str, Any] = {}


def scipys(qualified_name: str) -> Any:
    """Return SciPy's own object of a qualified name.

    Args:
        qualified_name: the name, such as "scipy.stats.norm.pdf".

    Raises:
        ImportError: SciPy is not installed.
        AttributeError: the installed SciPy has no such name.
    """
    chapter = rules.scipy()[qualified_name].chapter
    prefix = rules.read_table(chapter)["prefix"]
    value = importlib.import_module(prefix)
    for part in qualified_name.removeprefix(f"{prefix}.").split("."):
        value = getattr(value, part)
    return value


def implementation(qualified_name: str) -> Any:
    """Return the np2tf function that replaces a function of SciPy.

    Args:
        qualified_name: the name of SciPy's function, such as "scipy.special.erf".

    Raises:
        KeyError: the function has no TensorFlow version.
        ImportError: SciPy is not installed.
        AttributeError: the installed SciPy has no such function.
    """
    function = _functions.get(qualified_name)
    return function if function is not None else _functions.setdefault(qualified_name, _make(qualified_name))


def _make(qualified_name: str) -> Any:
    """Make the function of np2tf that replaces a function of SciPy."""
    numpy = scipys(qualified_name)
    function = universal_function(numpy) if isinstance(numpy, np.ufunc) else Function(numpy, qualified_name)
    function.qualified_name = qualified_name
    stem = rules.scipy()[qualified_name].chapter.rpartition("/")[2]
    function.__module__ = f"np2tf.scipy.{stem}"  # pickle looks for the function there
    loading.when_loaded(lambda: lazy.arrays.load_scipy_chapter(stem))
    return function


def provider(stem: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` for the module of one chapter of rules/scipy/.

    Args:
        stem: the name of the chapter and of the module, such as "special".
    """
    module = f"np2tf.scipy.{stem}"

    def native_names() -> dict[str, str]:
        prefix = rules.read_table(f"scipy/{stem}")["prefix"]
        full_names = [name for name, rule in rules.scipy().items() if rule.chapter == f"scipy/{stem}"]
        return {name.removeprefix(f"{prefix}."): name for name in full_names}

    def getattribute(name: str) -> Any:
        names = {} if name.startswith("__") else native_names()
        if name in names:
            return implementation(names[name])
        below = {
            name_below.partition(".")[2]: full
            for name_below, full in names.items()
            if name_below.startswith(f"{name}.")
        }
        if below:
            return _Methods(f"{module}.{name}", below)
        raise AttributeError(f"module {module!r} has no attribute {name!r}")

    return getattribute, lambda: sorted({name.partition(".")[0] for name in native_names()})


class _Methods:
    """The methods of an object of SciPy that has several, such as `norm.pdf` and `norm.cdf`.

    Args:
        name: the qualified name of the object.
        methods: name of a method -> SciPy's qualified name.
    """

    def __init__(self, name: str, methods: dict[str, str]) -> None:
        self._name = name
        self._methods = methods

    def __getattr__(self, name: str) -> Any:
        if name not in self._methods:
            raise AttributeError(f"{self._name!r} has no attribute {name!r}")
        return implementation(self._methods[name])

    def __dir__(self) -> list[str]:
        return sorted(self._methods)
