"""Known functions that np2tf does not translate: builtins, the standard library, NumPy's own."""

from __future__ import annotations

import builtins
import enum
import functools
import math
import operator
import types
from typing import Any

import numpy as np

from np2tf.operators.in_use import staging_operator
from np2tf.operators.table import OPERATORS
from np2tf.tnp._front.front import FUNCTIONS, Function, universal_function

#: Builtins that only compute, and need no counterpart, because their arguments are known while staging.
_PURE_BUILTINS = frozenset({
    abs, bytes, callable, chr, dict, divmod, enum.Enum, frozenset, getattr, hasattr, hash, id,
    isinstance, issubclass, list, object, ord, pow, set, slice, sorted, str, tuple, type,
})  # fmt: skip
#: Builtins for which np2tf has an operator.
BUILTINS: dict[Any, str] = {
    getattr(builtins, name): name
    for name in OPERATORS
    if isinstance(getattr(builtins, name, None), (type, types.BuiltinFunctionType))
}
#: Classes that can be called while staging.
CLASSES = frozenset(kind for kind in _PURE_BUILTINS if isinstance(kind, type)) - BUILTINS.keys() | {
    types.SimpleNamespace
}
#: Functions that call their first argument.
HIGHER_ORDER = (map, filter, functools.reduce)
#: Functions of `operator` that change or call their argument.
_IMPURE_OPERATORS = frozenset({
    "call", "delitem", "iadd", "iand", "iconcat", "ifloordiv", "ilshift", "imatmul", "imod", "imul", "ior",
    "ipow", "irshift", "isub", "itruediv", "ixor", "setitem",
})  # fmt: skip
#: Methods by which lists and dicts change.
MUTATORS = frozenset(
    {"append", "clear", "extend", "insert", "pop", "popitem", "remove", "reverse", "setdefault", "update"}
)
#: Methods of Python's own types that change nothing.
_ACCESSORS: dict[type, frozenset[str] | None] = {
    **dict.fromkeys((str, bytes, bool, int, float, complex, tuple, frozenset, range)),
    list: frozenset({"index", "count", "copy"}),
    dict: frozenset({"get", "items", "keys", "values", "copy"}),
    set: frozenset({"union", "intersection", "difference", "issubset", "issuperset", "isdisjoint", "copy"}),
}  # fmt: skip


def counterpart(callee: Any) -> Any:
    """Return the function to trace in the place of a function known to compute, often itself; None for any
    other.
    """
    try:
        if callee in BUILTINS:
            return staging_operator(BUILTINS[callee])
        if callee in _PURE_BUILTINS or callee is functools.partial:
            return callee
    except TypeError:  # the callee cannot be hashed
        return None
    numpys = of_numpy(callee)
    if numpys is not None:
        return numpys
    if isinstance(callee, FUNCTIONS):
        return _of_module(callee) or _of_value(callee)
    return callee if isinstance(callee, _GETTERS) else None


#: Types of callables that only read.
_GETTERS = (operator.itemgetter, operator.attrgetter)


def _of_module(callee: Any) -> Any:
    module, name = getattr(callee, "__module__", None) or "", getattr(callee, "__name__", "")
    if module == "math" and getattr(math, name, None) is callee:
        return getattr(staging_operator("math"), name)
    top = module.partition(".")[0]
    if top == "_operator" and getattr(operator, name, None) is callee:
        return None if name in _IMPURE_OPERATORS else callee
    return None


def of_numpy(callee: Any) -> Any:
    """Return np2tf's function for a function of NumPy; None for any other callee."""
    if isinstance(callee, np.ufunc):
        return callee if isinstance(callee, Function) else universal_function(callee)
    if not isinstance(callee, FUNCTIONS):
        return None
    module, name = getattr(callee, "__module__", None) or "", getattr(callee, "__name__", "")
    if module.partition(".")[0] != "numpy":
        return None
    from np2tf import tnp

    for path in dict.fromkeys((module.partition(".")[2], "", "linalg", "fft", "random")):
        place: Any = tnp
        for part in filter(None, path.split(".")):
            place = getattr(place, part, None)
        candidate = getattr(place, name, None)
        if getattr(candidate, "numpy", None) is callee:
            return candidate
    return None


def _of_value(callee: Any) -> Any:
    """Return a method of a Python value if it changes nothing; None otherwise."""
    owner = getattr(callee, "__self__", None)
    if owner is None or isinstance(owner, types.ModuleType):
        return None
    if type(owner) in _ACCESSORS:
        methods = _ACCESSORS[type(owner)]
        return callee if methods is None or callee.__name__ in methods else None
    return None
