"""Functions that NumPy lets array libraries override are native; the exceptions are listed with a reason."""

from __future__ import annotations

import importlib
import operator
from types import BuiltinFunctionType
from typing import Any

import numpy as np
import pytest
from numpy.testing import overrides

from np2tf import tnp
from np2tf.arrays.dispatch.host_fallback import refuse as _refuse
from np2tf.arrays.entry import routing
from np2tf.arrays.functions.ufuncs.tensor_ufunc import UFUNCS, Ufunc
from np2tf.core import rules
from tests.helpers.numpy_names import names

importlib.import_module("numpy.lib.recfunctions")  # its functions are overridable, too

TEXT = "works on arrays of strings, which TensorFlow has with variable lengths only: they are on the host"
CALENDAR = "works on dates, which TensorFlow has no dtype for"
PRINTING = "makes text of an array"
FILES = "reads or writes files, text, bytes or an iterator"
FIELDS = "works on structured dtypes, which TensorFlow has none of"
BY_VALUES = "the dtype of its result depends on values: complex where a real result does not exist"
#: Overridable functions that are not native, and why.
NOT_NATIVE = {
    **dict.fromkeys(("array2string", "array_repr", "array_str"), PRINTING),
    **dict.fromkeys(
        ("busday_count", "busday_offset", "is_busday", "datetime_as_string", "isnat"),
        CALENDAR,
    ),
    **dict.fromkeys(
        (
            *("fromfile", "fromiter", "fromstring", "genfromtxt", "loadtxt"),
            *("save", "savetxt", "savez", "savez_compressed"),
        ),
        FILES,
    ),
    "roots": "how many roots there are, and whether they are complex, depends on values",
}
#: Where the functions of some modules are found; some versions of NumPy say so themselves.
HOMES = {"numpy.lib._npyio_impl": "numpy", "numpy.lib._scimath_impl": "numpy.lib.scimath"}
#: Modules whose functions are not native, and why.
MODULES_NOT_NATIVE = {
    "numpy.char": TEXT,
    "numpy.strings": TEXT,
    "numpy.lib.recfunctions": FIELDS,
    "numpy.lib.scimath": BY_VALUES,
}
#: Native functions that NumPy's lists leave out: they make arrays, or have no array argument.
ALSO_NATIVE = (
    *("arange", "array", "asarray", "asanyarray", "ascontiguousarray", "asfortranarray", "asarray_chkfinite"),
    *(
        "bartlett",
        "blackman",
        "hamming",
        "hanning",
        "kaiser",
        "empty",
        "zeros",
        "ones",
        "full",
        "eye",
        "identity",
    ),
    *("tri", "indices", "fromfunction", "diag_indices", "tril_indices", "triu_indices", "mask_indices"),
    *("from_dlpack", "require", "ix_", "r_", "c_", "s_", "mgrid", "ogrid", "index_exp", "broadcast_shapes"),
    *("promote_types", "result_type", "can_cast", "min_scalar_type", "issubdtype", "isdtype", "ndindex"),
)
#: Universal functions without a name in the main namespace, which functions of the same name call.
OF_FUNCTIONS = {"clip", "real", "imag"}
#: Names of linalg and fft that are no functions of arrays.
NO_FUNCTIONS = {"numpy.linalg.test", "numpy.fft.test"}
WANTED = 320


def functions() -> set[str]:
    """The qualified names of NumPy's public overridable functions."""
    found = set()
    for function in overrides.get_overridable_numpy_array_functions():
        module = HOMES.get(function.__module__, function.__module__)
        if not function.__name__.startswith("_"):
            found.add(f"{module}.{function.__name__}")
    return found


def ufuncs() -> set[str]:
    """The qualified names of NumPy's public universal functions of numbers and dates."""
    named = {name: getattr(np, name) for name in np.__all__}
    listed = overrides.get_overridable_numpy_ufuncs()
    return {
        f"numpy.{name}" for name, ufunc in named.items() if isinstance(ufunc, np.ufunc) and ufunc in listed
    }


def kind(name: str) -> str:
    """The kind of a name in the rules."""
    rule = rules.find(name) or rules.kept_names()[name]
    return rule.kind


def excepted(name: str) -> str | None:
    """Why a name need not be native."""
    module, _, last = name.rpartition(".")
    return NOT_NATIVE.get(last) if module == "numpy" else MODULES_NOT_NATIVE.get(module)


def implementation(name: str) -> Any:
    """The op library's implementation of a name."""
    entry = operator.attrgetter(name.removeprefix("numpy."))(tnp)
    if isinstance(entry, np.ufunc):
        return UFUNCS[entry.numpy]
    return routing.implementation(entry.numpy, entry.qualified_name)


def test_overridable_functions_are_native() -> None:
    """All but the exceptions, and they are about 320."""
    every = functions() | ufuncs()
    assert {name for name in every if excepted(name) is None and kind(name) != "native"} == set()
    of_numbers = {name for name in every if excepted(name) is None}
    assert len(of_numbers) >= WANTED


def test_every_ufunc_of_the_list_is_known() -> None:
    """The list has the ufuncs of the main namespace, ufuncs of strings, and private ufuncs."""
    listed = overrides.get_overridable_numpy_ufuncs()
    public = {name for name in np.__all__ if isinstance(getattr(np, name), np.ufunc)}
    other_names = {ufunc.__name__ for ufunc in listed} - public - set(np.strings.__all__) - OF_FUNCTIONS
    assert {name for name in other_names if not name.startswith("_")} == set()


def test_exceptions_are_not_stale() -> None:
    """Each is about a name of the list that is not native."""
    every = functions() | ufuncs()
    for name in NOT_NATIVE:
        # Some versions do not list functions that are written in C.
        assert f"numpy.{name}" in every or isinstance(getattr(np, name), BuiltinFunctionType), name
        assert kind(f"numpy.{name}") == "host", name
    for module in MODULES_NOT_NATIVE:
        of_module = {name for name in every if name.rpartition(".")[0] == module}
        # Functions of numpy.strings cannot be overridden in every version.
        numpys = importlib.import_module(module)
        own_functions = [getattr(numpys, name) for name in numpys.__all__]
        assert bool(of_module) == any(hasattr(function, "_implementation") for function in own_functions), (
            module
        )
        known = {**rules.rules(), **rules.kept_names()}
        assert not [name for name in of_module if name in known and known[name].kind == "native"], module


@pytest.mark.parametrize("name", ALSO_NATIVE)
def test_makers_are_native(name: str) -> None:
    """Also what the lists leave out."""
    assert kind(f"numpy.{name}") == "native"


@pytest.mark.parametrize("module", ["linalg", "fft"])
def test_linalg_and_fft_are_native(module: str) -> None:
    """All of both."""
    listed = {f"numpy.{module}.{name}" for name in names(f"numpy.{module}")}
    assert {name for name in listed if kind(name) != "native"} <= NO_FUNCTIONS


def test_native_ones_have_an_implementation() -> None:
    """They are no function that hands its arguments to NumPy."""
    for name in functions() | ufuncs():
        if excepted(name) is None:
            implementation_of_name = implementation(name)
            assert (
                not getattr(implementation_of_name, "host_only", False)
                or name.rpartition(".")[2] in ALSO_NATIVE
            ), name
            assert not (
                isinstance(implementation_of_name, Ufunc) and implementation_of_name.implementation is _refuse
            ), name
