"""Functions that np2tf knows without translating: builtins, the standard library, NumPy's functions, number
types and assertions.
"""

from __future__ import annotations

import builtins
import enum
import functools
import math
import operator
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from np2tf import tnp
from np2tf.arrays.array.ndarray import is_array
from np2tf.arrays.dispatch.placement import has_tensor
from np2tf.arrays.front.numpy_functions import FUNCTIONS, Function, universal_function
from np2tf.arrays.functions.creation import asarray
from np2tf.arrays.operands.differentiated_values import is_followed
from np2tf.arrays.tensors.violations import record_violation
from np2tf.core.errors import CalleeError
from np2tf.core.operators import OPERATORS, staging_operator

# -- known callees -------------------------------------------------------------------------------------------
# Known functions that np2tf does not translate: builtins, the standard library, NumPy's own.

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


# -- assertions ----------------------------------------------------------------------------------------------
# The assertions of `numpy.testing` in staged code. If an assertion fails, the host repeats the call, and
# NumPy reports.
#
# See https://numpy.org/doc/stable/reference/routines.testing.html.


def counterpart_of_assertion(callee: Any) -> Callable[..., None] | None:
    """Return the function to trace in the place of a NumPy assertion; None for any other function."""
    name = getattr(callee, "__name__", "")
    # A function of `tnp` is equal to NumPy's function.
    return _ASSERTIONS[name] if name in _ASSERTIONS and callee == getattr(np.testing, name) else None


def _hold(x: Any, y: Any, compare: Callable[[Any, Any], Any]) -> None:
    """Compare elementwise. If the comparison fails, NumPy itself decides in the repeated call.

    Raises:
        StagingError: if the comparison certainly fails, or the values are no numbers and arrays.
    """
    if not all(
        is_array(operand) or isinstance(operand, (np.ndarray, np.generic, int, float)) for operand in (x, y)
    ):
        raise CalleeError("asserts something about a value that is not an array")
    x, y = tnp.asarray(x), tnp.asarray(y)
    if x.shape != y.shape and x.ndim and y.ndim:
        raise CalleeError("asserts something about arrays of different shapes")
    holds = tnp.all(compare(x, y))
    if is_array(holds):
        record_violation(~holds.tensor)
    elif not holds:
        raise CalleeError("an assertion of numpy.testing fails")


def _equal(x: Any, y: Any) -> Any:
    both_nan = (x != x) & (y != y)
    return (x == y) | both_nan


def _equal_numbers(x: Any, y: Any) -> Any:
    """Return whether numbers are equal; NumPy distinguishes zeros of different signs in numbers."""
    return _equal(x, y) & ((x != 0) | (tnp.copysign(1.0, x) == tnp.copysign(1.0, y)))


def _assert_array_equal(actual: Any, desired: Any, err_msg: str = "", verbose: bool = True) -> None:
    _hold(actual, desired, _equal)


def _assert_equal(actual: Any, desired: Any, err_msg: str = "", verbose: bool = True) -> None:
    if _is_plain(actual) and _is_plain(desired):
        np.testing.assert_equal(actual, desired, err_msg, verbose)
    else:
        _hold(actual, desired, _equal if np.ndim(actual) or np.ndim(desired) else _equal_numbers)


def _is_plain(value: Any) -> bool:
    """Return whether a value has no staged parts, such as a number, a string or a shape."""
    if isinstance(value, (list, tuple)):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, (int, float, complex, str, bytes, np.generic))


def _assert_allclose(
    actual: Any,
    desired: Any,
    rtol: float = 1e-07,
    atol: float = 0,
    equal_nan: bool = True,
    err_msg: str = "",
    verbose: bool = True,
) -> None:
    _hold(actual, desired, lambda x, y: tnp.isclose(x, y, rtol=rtol, atol=atol, equal_nan=equal_nan))


def _assert_array_less(x: Any, y: Any, err_msg: str = "", verbose: bool = True) -> None:
    _hold(x, y, lambda x, y: x < y)


#: name -> the assertion in staged code
_ASSERTIONS: dict[str, Callable[..., None]] = {
    "assert_allclose": _assert_allclose,
    "assert_array_equal": _assert_array_equal,
    "assert_equal": _assert_equal,
    "assert_array_less": _assert_array_less,
}


# -- number types --------------------------------------------------------------------------------------------
# NumPy's number types as functions: ``np.float64(x)`` of an array on TensorFlow stays on TensorFlow.


def number_type(kind: type[np.generic]) -> Callable[..., Any]:
    """Return the function to call in the place of a type of NumPy's; other types than numbers' stay.

    See https://numpy.org/doc/stable/reference/arrays.scalars.html.
    """
    if not issubclass(kind, (np.number, np.bool_)):
        return kind

    def convert(*args: Any, **kwargs: Any) -> Any:
        if len(args) != 1 or kwargs or not has_tensor(args):
            return kind(*args, **kwargs)
        array: Any = asarray(args[0], kind)
        return array[()]

    return convert


# -- vectorized functions ------------------------------------------------------------------------------------
# ``np.vectorize(f)(x)`` in a function that a transform runs: derivatives go through the calls of f.


def map_elements(original: np.vectorize, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call `original`, whose function is `function`, for each element of the broadcast arguments.

    As in NumPy, the first result gives the dtype, unless `otypes` gives it.

    See https://numpy.org/doc/stable/reference/generated/numpy.vectorize.html.
    """
    if kwargs or not any(map(is_followed, args)):
        return original(*args, **kwargs)
    arrays = tnp.broadcast_arrays(*args)
    results = [function(*elements) for elements in zip(*(array.ravel() for array in arrays), strict=True)]
    if not results:
        return original(*args)
    is_tuple = isinstance(results[0], tuple)
    outputs = zip(*results, strict=True) if is_tuple else [results]
    parts = tuple(
        _join(output, arrays[0].shape, dtype)
        for output, dtype in zip(outputs, original.otypes or _dtypes(results[0]), strict=True)
    )
    return parts if is_tuple else parts[0]


def _dtypes(result: Any) -> list[Any]:
    return [tnp.asarray(part).dtype for part in (result if isinstance(result, tuple) else (result,))]


def _join(numbers: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    return tnp.stack([tnp.asarray(number) for number in numbers]).astype(dtype).reshape(shape)
