"""Sets that jitted functions read: constants of compiled code, whose results are NumPy's whatever is done."""

from __future__ import annotations

import copy
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import np2tf
from np2tf.staging.objects.user_code import is_of_library

KINDS = frozenset({"mean", "sum", ("a", 1.0)})
MUTABLE = {1, 2.5, "x"}
EMPTY: set[str] = set()
X = np.arange(1.0, 5.0)


class Holder:
    """An object with a set."""

    def __init__(self) -> None:
        self.kinds = {"q", "r"}

    def scaled(self, x: Any, kind: str) -> Any:
        """Read the set of the object."""
        return x * (2.0 if kind in self.kinds else 3.0)


def by_name(x: Any, kind: str) -> Any:
    """Read a frozenset that is a global."""
    if kind not in KINDS:
        raise ValueError(kind)
    return x * len(KINDS)


def by_number(x: Any, n: Any) -> Any:
    """Look a number up."""
    return x * 2.0 if n in MUTABLE else x * 3.0


def in_order(x: Any, kinds: Any) -> Any:
    """Iterate: the sum depends on the order."""
    s = x * 0.0
    for kind in kinds:
        s = s * 0.5 + x * kind
    return s


def of_object(holder: Holder, x: Any, kind: str) -> Any:
    """Read an attribute, in a method."""
    return holder.scaled(x, kind)


def adding(x: Any, kinds: Any) -> Any:
    """Change what was given."""
    kinds.add("z")
    return x * len(kinds)


def merging(x: Any, kinds: Any) -> Any:
    """Change what was given, and call nothing."""
    kinds |= {"y"}
    return x * len(kinds)


def returning(x: Any, kinds: Any) -> Any:
    """Return what was given."""
    return x * 2.0, kinds


def keeping(holder: Holder, x: Any, kinds: Any) -> Any:
    """Keep what was given."""
    holder.kinds = kinds
    return x * 2.0


#: Functions, the arguments of several calls, and whether some are compiled.
CASES: dict[str, tuple[Callable[..., Any], list[tuple[Any, ...]], bool]] = {
    "a frozenset by name": (by_name, [(X, "mean"), (X, "sum"), (X, "other")], True),
    "numbers in a set": (by_number, [(X, 1), (X, 2.5), (X, True), (X, 3), (X, np.int64(1))], True),
    "the order of a set": (in_order, [(X, {1, 9, 17}), (X, {17, 9, 1}), (X, {8, 0}), (X, {0, 8})], True),
    "equal sets of other types": (in_order, [(X, {1, 2}), (X, {1.0, 2.0}), (X, {True}), (X, set())], True),
    "a set of an object": (of_object, [(Holder(), X, "q"), (Holder(), X, "a")], True),
    "a set is added to": (adding, [(X, {"a"}), (X, {"b", "c"}), (X, {"z"})], False),
    "a set is merged into": (merging, [(X, {"a"}), (X, {"b", "c"})], False),
    "a set is returned": (returning, [(X, {"a"}), (X, {"a"})], False),
    "a set is kept": (keeping, [(Holder(), X, {"a"}), (Holder(), X, {"a"})], False),
    "a set of objects": (in_order, [(X, {np.float64(2.0), 3}), (X, {(1, 2)})], True),
}


def _outcome(function: Callable[..., Any], args: tuple[Any, ...]) -> tuple[Any, ...]:
    try:
        result = function(*args)
    except Exception as error:
        return type(error), str(error)
    first = result[0] if isinstance(result, tuple) else result
    identities = [result[1] is args[1]] if isinstance(result, tuple) else []
    if function in (keeping,) or getattr(function, "__wrapped__", None) is keeping:
        identities.append(args[0].kinds is args[2])
    left = [list(vars(argument).values()) if isinstance(argument, Holder) else argument for argument in args]
    return np.asarray(first).tolist(), identities, repr(left)


@pytest.mark.filterwarnings("ignore::np2tf.staging.host.jit.UnjittedWarning")
@pytest.mark.parametrize("name", CASES)
def test_calls(name: str) -> None:
    function, calls, is_compiled = CASES[name]
    jitted = np2tf.jit(function, tier="compile")
    for _ in range(2):
        for args in calls:
            jitted_args, plain_args = copy.deepcopy((args, args))
            assert _outcome(jitted, jitted_args) == _outcome(function, plain_args)
    assert (jitted.compiled_count + jitted.graph_count > 0) is is_compiled


def test_a_global_set_that_changes() -> None:
    jitted = np2tf.jit(by_number, tier="compile")
    assert jitted(X, 7)[0] == 3.0
    MUTABLE.add(7)
    try:
        assert jitted(X, 7)[0] == 2.0
    finally:
        MUTABLE.discard(7)
    assert jitted(X, 7)[0] == 3.0
    assert jitted.compiled_count == 3


@pytest.mark.parametrize(
    ("folder", "is_installed"),
    [
        ("/home/me/.local/lib/python3.11/site-packages/lib", True),
        ("/usr/lib/python3/dist-packages/lib", True),
        ("/home/me/site-packages-of-mine/lib", False),
        ("/home/me/project", False),
    ],
)
def test_installed_packages_are_found_wherever_they_are(
    folder: str, is_installed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also packages of an environment's base, of the user and of the system: their globals are no inputs."""
    module = types.ModuleType("lib_of_others")
    exec(compile("def f(x): return x", str(Path(folder, "m.py")), "exec"), vars(module))
    monkeypatch.setitem(__import__("sys").modules, "lib_of_others", module)
    assert is_of_library(module.f) is is_installed
