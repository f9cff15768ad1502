"""A function of NumPy lives in the folder that has the name of its rules' file."""

from __future__ import annotations

import importlib
import inspect
import operator
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

from np2tf.arrays.array.ndarray import ndarray
from np2tf.arrays.dispatch.op import OPS
from np2tf.arrays.entry import routing
from np2tf.arrays.functions.ufuncs.tensor_ufunc import UFUNCS, Ufunc
from np2tf.core import rules

#: The files of rules whose functions do not live in `_chapters/STEM`, and the folders that have them.
ELSEWHERE = {
    "linalg": ("linalg",),
    "fft": ("fft",),
    "polynomial": ("polynomial",),
    # The ufuncs themselves are below the chapters, which are made of them; their methods are above.
    "ufuncs": ("_ufuncs", "_chapters.ufuncs"),
    # The methods that the chapter of the function of the same name does not attach.
    "methods": ("_methods", "_array"),
}
RULES = {
    name: rule
    for name, rule in rules.rules().items()
    # A removed name is another name of a function that has a rule.
    if rule.kind == "native" and not rule.removed and not rule.owner and rule.exists_in(np.__version__)
}


def exports() -> dict[str, str]:
    """NumPy's qualified names, and the module that exports each to the routing."""
    found = {}
    modules = {"numpy": routing._CHAPTERS} | {f"numpy.{k}": v for k, v in routing._SUBMODULES.items()}
    for package, names in modules.items():
        for name in names:
            module = f"np2tf.tnp.{name}"
            public = getattr(importlib.import_module(module), "__all__", ())
            found.update({f"{package}.{name}": module for name in public})
    return found


EXPORTS = exports()


def folders(rule: rules.Rule) -> tuple[str, ...]:
    """The modules and folders in which the object of a rule may be defined."""
    names = ELSEWHERE.get(rule.chapter, (f"_chapters.{rule.chapter}",))
    return tuple(f"np2tf.tnp.{name}" for name in names)


def is_below(module: str, homes: Iterable[str]) -> bool:
    return any(module == home or module.startswith(f"{home}.") for home in homes)


def definition(value: Any) -> str:
    """The module that defines a function, or the class of any other object; "" for NumPy's own objects."""
    module = getattr(value, "__module__", None) or type(value).__module__
    return module if module.startswith("np2tf.") else ""


def attached(name: str) -> Callable[..., Any]:
    """The function behind an attribute or a method of the array class."""
    value = vars(ndarray)[name]
    if isinstance(value, property):
        value = value.fget
    within = inspect.getclosurevars(value).nonlocals
    return within.get("function", within.get("get", value))


def modules(name: str, rule: rules.Rule) -> set[str]:
    """The modules that define and export the object of a native name; none for an object of NumPy's own."""
    if rule.chapter == "methods":
        return {definition(attached(name.rpartition(".")[2]))}
    path = name.removeprefix("numpy.")
    numpys = operator.attrgetter(path)(np)
    if rule.ufunc:
        return {type(UFUNCS[numpys]).__module__, EXPORTS[name]}
    if name not in EXPORTS:
        # A dtype, an exception, a function of dtypes: NumPy's serves, unless something takes its place.
        return {definition(OPS[numpys])} if callable(numpys) and numpys in OPS else set()
    return {EXPORTS[name], definition(routing.IMPLEMENTATIONS[name])} - {""}


def homes(name: str, rule: rules.Rule) -> set[str]:
    """Where the object of a native name may be defined."""
    found = set(folders(rule))
    if rule.chapter == "methods":
        namesake = RULES.get(f"numpy.{name.rpartition('.')[2]}")
        return found | set(folders(namesake) if namesake is not None else ())
    # An alias lives where the function of its other name does: `linalg.matrix_transpose`.
    implementation = routing.IMPLEMENTATIONS.get(name)
    for other_name, other_rule in RULES.items():
        if implementation is not None and routing.IMPLEMENTATIONS.get(other_name) is implementation:
            found |= set(folders(other_rule))
    return found


@pytest.mark.parametrize("stem", sorted({rule.chapter for rule in RULES.values()}))
def test_a_function_lives_in_the_folder_of_its_rules_stem(stem: str) -> None:
    """Of every native name: where it is defined, and which module hands it to the routing."""
    strangers = {
        name: found
        for name, rule in RULES.items()
        if rule.chapter == stem
        for found in [modules(name, rule)]
        if not all(is_below(module, homes(name, rule)) for module in found)
    }
    assert strangers == {}


def test_most_names_are_looked_at() -> None:
    """The test above is about functions of np2tf, not only about NumPy's own objects."""
    assert sum(1 for name, rule in RULES.items() if modules(name, rule)) > 400


def test_an_export_is_in_the_folder_of_its_rules_stem() -> None:
    """An alias too: the module that exports `linalg.matrix_transpose` is one of `linalg`."""
    wrong = {
        name: module
        for name, module in EXPORTS.items()
        if name in RULES and not is_below(module, folders(RULES[name]))
    }
    assert wrong == {}


def test_methods_of_ufuncs_live_in_the_folder_of_ufuncs() -> None:
    """`reduce`, `accumulate`, `reduceat` and `at`; sums and the like are functions of their chapter."""
    methods = [Ufunc.scatter, Ufunc.segments, Ufunc.reducers["gcd"], Ufunc.accumulators["add"]]
    assert {definition(function).rpartition(".")[0] for function in methods} == {"np2tf.arrays.functions"}
    assert definition(Ufunc.at) == "np2tf.arrays.functions.ufuncs.tensor_ufunc"
