"""SciPy's functions: SciPy's own on host operands; which function of np2tf replaces an object of SciPy."""

from __future__ import annotations

import importlib
import operator
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from np2tf.arrays.front import tensorflow_loading
from np2tf.arrays.front.numpy_functions import Function, universal_function
from np2tf.core import late, rules

# -- front ---------------------------------------------------------------------------------------------------
# The functions that programs call: they run SciPy on host operands, and `np2tf.arrays.scipy` on
# tensors.

#: SciPy's qualified name -> np2tf's function for it, which is made at the first use.
_functions: dict[str, Any] = {}


def scipys(qualified_name: str) -> Any:
    """Return SciPy's own object of a qualified name, such as "scipy.stats.norm.pdf".

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


def implementation_of(qualified_name: str) -> Any:
    """Return the np2tf function that replaces a function of SciPy: it runs SciPy's own on host operands.

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
    tensorflow_loading.when_loaded(lambda: late.arrays.load_scipy_chapter(stem))
    return function


def provider(stem: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` for the module of one chapter of rules/scipy/, such as "special"."""
    module = f"np2tf.scipy.{stem}"

    def native_names() -> dict[str, str]:
        prefix = rules.read_table(f"scipy/{stem}")["prefix"]
        full_names = [name for name, rule in rules.scipy().items() if rule.chapter == f"scipy/{stem}"]
        return {name.removeprefix(f"{prefix}."): name for name in full_names}

    def getattribute(name: str) -> Any:
        names = {} if name.startswith("__") else native_names()
        if name in names:
            return implementation_of(names[name])
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
        return implementation_of(self._methods[name])

    def __dir__(self) -> list[str]:
        return sorted(self._methods)


# -- lookup --------------------------------------------------------------------------------------------------
# Find the np2tf function that replaces an object of SciPy, without importing SciPy or TensorFlow.

#: The name of a module of SciPy's -> the names in it that have a TensorFlow version.
_chapters: dict[str, tuple[str, ...]] = {}
#: SciPy's object -> its qualified name; filled, module by module, when the program has imported the module.
_names: dict[Any, str] = {}
_loaded_prefixes: set[str] = set()


def native(scipy_object: Any) -> str | None:
    """Return the qualified name of a function of SciPy that has a TensorFlow version, else None.

    Methods of SciPy's own objects (`scipy.stats.norm.pdf`) are found too. Methods of a distribution that
    the program has frozen (`scipy.stats.norm(1, 2).pdf`) are not.
    """
    if "scipy" not in sys.modules:
        return None
    _look()
    try:
        return _names.get(scipy_object)
    except TypeError:  # the object cannot be hashed
        return None


def _look() -> None:
    """Register the functions of SciPy's modules that the program has imported since the last call."""
    if not _chapters:
        groups: dict[str, list[str]] = {}
        for name, rule in rules.scipy().items():
            prefix = rules.read_table(rule.chapter)["prefix"] if rule.chapter not in groups else ""
            groups.setdefault(rule.chapter, [prefix]).append(name)
        _chapters.update({prefix: tuple(names) for prefix, *names in groups.values()})
    for prefix, names in _chapters.items():
        module = sys.modules.get(prefix)
        if module is None or prefix in _loaded_prefixes:
            continue
        try:
            pairs = [(_resolve(module, name.removeprefix(f"{prefix}.")), name) for name in names]
        except AttributeError:  # its import has only begun
            continue
        _names.update({value: name for value, name in pairs if value is not None})
        _loaded_prefixes.add(prefix)


def _resolve(module: Any, name: str) -> Any:
    """Return the object of a dotted name in `module`; None if the installed SciPy lacks it.

    Raises:
        AttributeError: the module is still being imported.
    """
    try:
        return operator.attrgetter(name)(module)
    except AttributeError:
        if getattr(getattr(module, "__spec__", None), "_initializing", False):
            raise
        return None
