"""Functions of NumPy over tensors live in `arrays/functions`, and those of submodules under their names."""

from __future__ import annotations

import importlib

import numpy as np

from np2tf.arrays.entry import routing
from np2tf.core import rules

FUNCTIONS = "np2tf.arrays.functions"
#: NumPy's submodule -> where its functions live.
SUBMODULES = {
    "numpy.linalg": f"{FUNCTIONS}.linalg",
    "numpy.fft": f"{FUNCTIONS}.fft",
    "numpy.random": f"{FUNCTIONS}.random_draws",
}


def exports() -> dict[str, str]:
    """NumPy's qualified names, and the module that exports each to the routing."""
    found = {}
    modules = {"numpy": routing._CHAPTERS} | {f"numpy.{k}": v for k, v in routing._SUBMODULES.items()}
    for package, names in modules.items():
        for name in names:
            module = f"np2tf.arrays.{name}"
            public = getattr(importlib.import_module(module), "__all__", ())
            found.update({f"{package}.{name}": module for name in public})
    return found


def test_functions_live_where_one_looks_for_them() -> None:
    """The module that exports a name is in the folder of functions, or in that of the submodule."""
    wrong = {
        name: module
        for name, module in exports().items()
        if not module.startswith(SUBMODULES.get(name.rpartition(".")[0], FUNCTIONS))
    }
    assert wrong == {}


def test_native_functions_are_exported() -> None:
    """A function that a rule calls native has an implementation over tensors, which some file exports."""
    found = exports()
    native = {
        name
        for name, rule in rules.rules().items()
        if rule.kind == "native" and not rule.removed and not rule.owner and rule.exists_in(np.__version__)
    }
    assert len(native & found.keys()) > 400
    assert {name for name in native & found.keys() if name not in routing.IMPLEMENTATIONS} == set()
