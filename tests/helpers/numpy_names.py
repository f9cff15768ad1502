"""The public names of the installed NumPy, with which the rules are compared."""

from __future__ import annotations

import importlib
import operator
import warnings
from types import ModuleType
from typing import Any

import numpy as np

#: An object of each class, because some names exist only to report that they are removed.
_OBJECTS = {
    "numpy.ndarray": np.zeros((1, 1)),
    "numpy.generic": np.float64(1.0),
    "numpy.ufunc": np.add,
    "numpy.random.Generator": np.random.default_rng(),
    "numpy.random.RandomState": np.random.RandomState(),
    "numpy.random.SeedSequence": np.random.SeedSequence(),
    "numpy.random.BitGenerator": np.random.PCG64(),
    "numpy.polynomial.Polynomial": np.polynomial.Polynomial([1.0]),
}
CLASSES = tuple(_OBJECTS)


def reached(path: str) -> Any:
    """Return NumPy's module, or an object of its class, of this name."""
    if path in _OBJECTS:
        return _OBJECTS[path]
    try:
        return importlib.import_module(path)
    except ModuleNotFoundError:
        return operator.attrgetter(path.partition(".")[2])(np)


def has(qualified: str) -> bool:
    """Return whether NumPy has a name; looking up a name that NumPy is about to remove warns."""
    owner, _, last = qualified.rpartition(".")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return hasattr(reached(owner), last)
        except ImportError:  # `BitGenerator.cffi` exists, but needs another package
            return True
        except AttributeError:  # names that NumPy does not have
            return False


def names(path: str) -> set[str]:
    """Return the public names of a module or class: names of objects that are no submodules, and exported
    names.
    """
    owner = reached(path)
    if not isinstance(owner, ModuleType):
        of_class = dir(operator.attrgetter(path.partition(".")[2])(np))
        return {name for name in of_class if not name.startswith("_") and has(f"{path}.{name}")}
    # A submodule becomes a name when it is imported, and some modules list names of other modules.
    held = {name for name, value in vars(owner).items() if not isinstance(value, ModuleType)}
    return {name for name in held if not name.startswith("_")} | set(getattr(owner, "__all__", ()))
