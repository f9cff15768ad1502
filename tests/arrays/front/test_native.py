"""The rules say of every name what the op library really does, and the most used names are native."""

from __future__ import annotations

import csv
import functools
import importlib
import operator
import pickle
import sys
from pathlib import Path
from types import CodeType
from typing import Any

import numpy as np
import pytest

from np2tf import tnp
from np2tf.arrays.array.ndarray import ndarray
from np2tf.arrays.dispatch.host_fallback import refuse as _refuse
from np2tf.arrays.entry import routing
from np2tf.arrays.front import random_generators
from np2tf.arrays.front.namespace import HostModule
from np2tf.arrays.functions.ufuncs.tensor_ufunc import UFUNCS
from np2tf.arrays.operands.promotion import has_tf_dtype
from np2tf.core import rules

#: NumPy computes these, also while staging: their operands are numbers, dtypes or functions, never arrays.
FROM_NUMBERS = {
    *("bartlett", "blackman", "hamming", "hanning", "kaiser", "broadcast_shapes"),
    *("diag_indices", "mask_indices", "tril_indices", "triu_indices"),
    *("isdtype", "issubdtype", "min_scalar_type"),
}
#: NumPy's own objects, which work on arrays of ours or on numbers as they are.
AS_THEY_ARE = {"dtype", "finfo", "iinfo", "s_", "index_exp", "ndindex", "newaxis", "linalg.LinAlgError"}
#: The op library has them for tensors, and yet a function that uses them is not staged.
HOST_ON_PURPOSE = {
    "ndarray.ctypes": "pointers are to a copy on the host",
    "ndarray.data": "the memory itself is on the host",
    "ndarray.tobytes": "bytes are made on the host, in the order of NumPy's memory",
    "ndarray.setflags": "the flags of a caller's array are not carried out of a graph",
    "isnat": "dates are on the host",
    "nditer": "NumPy's own iterator; only what it writes is carried back",
}
#: Classes that keep to the host.
_CLASSES = (random_generators.Generator, random_generators.RandomState)

RULES = {
    name: rule
    for name, rule in rules.rules().items()
    if rule.chapter != "removed" and not (rule.chapter == "ufuncs" and name.endswith(".at"))
}
FREQUENCY = Path(__file__).with_name("most_used.csv")


def _on_host_only(value: Any) -> bool:
    """True if the function only hands its calls to NumPy."""
    code: CodeType | None = getattr(value, "__code__", None)
    where = code.co_filename if code is not None else ""
    read_only = where.endswith("arrays/methods/methods.py") and getattr(value, "__name__", "") in _READ_ONLY
    return read_only or where.endswith(
        ("arrays/dispatch/host_fallback.py", "arrays/functions/random_draws.py")
    )


#: Methods that hand a copy to NumPy.
_READ_ONLY = {"tobytes", "tofile", "dump", "dumps", "getfield"}


def provided(name: str) -> str:
    """How `tnp` provides a name: "native" or "host"."""
    path = name.removeprefix("numpy.")
    if path in FROM_NUMBERS or path in AS_THEY_ARE:
        return "native"
    if path.startswith("ndarray."):
        value = vars(ndarray).get(path[8:])
        return "host" if value is None or path in HOST_ON_PURPOSE or _on_host_only(value) else "native"
    if not hasattr(np, path) and "." not in path:
        return "host"
    value, numpys = operator.attrgetter(path)(tnp), operator.attrgetter(path)(np)
    if isinstance(numpys, np.ufunc):
        return "host" if numpys not in UFUNCS or path in HOST_ON_PURPOSE else "native"
    if value is numpys:
        return "native" if _is_known_to_tensorflow(value) else "host"
    if isinstance(value, HostModule) or value in _CLASSES:
        return "host"
    if hasattr(value, "qualified_name"):
        value = implementation(value)
    return "host" if path in HOST_ON_PURPOSE or _on_host_only(value) else "native"


def implementation(entry: Any) -> Any:
    """The implementation of a name of `tnp` for tensors."""
    return routing.implementation(entry.numpy, entry.qualified_name)


def _is_known_to_tensorflow(value: Any) -> bool:
    """Constants, dtypes that TensorFlow has, and the abstract types of numbers."""
    if isinstance(value, type) and issubclass(value, np.generic):
        abstract = (np.number, np.integer, np.signedinteger, np.unsignedinteger)
        also = (np.inexact, np.floating, np.complexfloating, np.generic)
        return value in (*abstract, *also) or (
            value not in (np.character, np.flexible) and has_tf_dtype(np.dtype(value))
        )
    return isinstance(value, (bool, int, float, np.bool_))


@pytest.mark.parametrize("chapter", sorted({rule.chapter for rule in RULES.values()}))
def test_rules_and_library_agree(chapter: str) -> None:
    """A name is native in the rules if and only if it is in the library."""
    of_chapter = {
        name: rule.kind
        for name, rule in RULES.items()
        if rule.chapter == chapter and rule.exists_in(np.__version__)
    }
    wrong = {name: kind for name, kind in of_chapter.items() if kind != "no" and provided(name) != kind}
    assert wrong == {}


def test_exceptions_are_not_stale() -> None:
    """Every name of the lists above would be judged otherwise without the lists."""
    for path in FROM_NUMBERS:
        assert _on_host_only(implementation(getattr(tnp, path))), path
    for path in AS_THEY_ARE:
        value = operator.attrgetter(path)(tnp)
        assert value is operator.attrgetter(path)(np), path
        assert not _is_known_to_tensorflow(value), path
    for path in HOST_ON_PURPOSE:
        tnp_object = vars(ndarray).get(path[8:]) or getattr(tnp, path, None)
        assert tnp_object is not None, path
        assert getattr(tnp_object, "implementation", None) is not _refuse, path


def test_native_names_have_examples() -> None:
    """Every native name has examples, and no other name has any."""
    native = {name for name, rule in RULES.items() if rule.kind == "native"}
    assert native - set(rules.examples()) == set()
    assert set(rules.examples()) - native == set()


#: Names among the most used that are not native, and why.
NOT_NUMERICAL = {
    "loadtxt": "reads a file",
    "load": "reads a file",
    "ndarray.dump": "writes a file",
    "ndarray.dumps": "makes bytes of an array",
    "ndarray.tobytes": "makes bytes of an array",
}
WANTED = 150


def most_used() -> list[str]:
    """Functions, ufuncs, methods and submodules' functions by how many published packages use them."""
    with FREQUENCY.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["packages"]) for row in rows] == sorted((int(r["packages"]) for r in rows), reverse=True)
    return [row["name"] for row in rows]


def test_the_most_used_functions_are_native() -> None:
    """The first 150, and nearly all that follow."""
    names = most_used()
    kinds = {name: rules.rules()[f"numpy.{name}"].kind for name in names}
    not_native = {name for name, kind in kinds.items() if kind != "native"}
    assert not_native == set(NOT_NUMERICAL) & set(names) == set(NOT_NUMERICAL)
    numerical = [name for name in names if name not in NOT_NUMERICAL]
    assert len(numerical) >= WANTED
    assert all(provided(f"numpy.{name}") == "native" for name in numerical[:WANTED])


def test_a_loop_over_the_loaded_modules_loads_none() -> None:
    """Programs ask each loaded module for a name, and a module of `tnp` loads NumPy's to answer."""
    modules = [module for module in sys.modules.values() if isinstance(module, HostModule)]
    assert modules
    assert [module for module in modules if vars(module)["_numpy_name"] not in sys.modules] == []


@pytest.mark.parametrize("name", ["ma", "char", "testing", "lib.stride_tricks", "emath", "random.mtrand"])
def test_modules_without_a_file_are_imported(name: str) -> None:
    """By name, as NumPy's are."""
    module = importlib.import_module(f"np2tf.tnp.{name}")
    assert sys.modules[f"np2tf.tnp.{name}"] is module
    assert pickle.loads(pickle.dumps(module)) is module
    assert functools.reduce(getattr, name.split("."), tnp) is module
