"""The functions that tnp shows: NumPy's own on host operands, the TensorFlow half for all others."""

from __future__ import annotations

import functools
import sys
import weakref
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

import numpy as np

from np2tf.arrays.front.flags import fast_flags, uses_numpy_rules
from np2tf.arrays.front.residency import (
    HOST,
    are_host,
    is_host,
    new_arrays_are_tensors,
    operands_in,
    without_tensors,
)
from np2tf.core import late, operators
from np2tf.core.late import LazyModule

# -- tracing type --------------------------------------------------------------------------------------------
# How `tf.function` takes a function of np2tf that is an argument or a default: as this object itself.
#
# For an object that has `__wrapped__`, TensorFlow calls the function inside in its place: NumPy's own, or a
# function without its `np2tf.jit`.

_default_types: Any = LazyModule("tensorflow.core.function.trace_type.default_types")


def by_identity(self: Any, context: Any) -> Any:
    """Return the type of an argument that stands for one object (`__tf_tracing_type__`).

    See https://www.tensorflow.org/api_docs/python/tf/types/experimental/SupportsTracingProtocol.
    """
    return _default_types.Weakref(weakref.ref(self))


# -- front ---------------------------------------------------------------------------------------------------
# The functions that `tnp` shows: NumPy's own on host operands, the TensorFlow half for all other operands.
#
# Every callable name of NumPy gets such a function, made from NumPy's function alone, so that nothing here
# needs TensorFlow. If all operands are on the host, the function calls NumPy at once. All other calls go to
# `np2tf.arrays.entry.routing`, which the first such call imports.

# A global name is faster than an attribute, and every call reads it.
_modules = sys.modules

FUNCTIONS = (
    *(FunctionType, BuiltinFunctionType, MethodType),
    *(type(np.concatenate), type(np.random.default_rng)),
)
#: Functions that write to a parameter -> the parameter, which np2tf's version returns. (Reading the rules
#: takes 10 ms.)
WRITES = {
    "numpy.copyto": "dst",
    "numpy.fill_diagonal": "a",
    "numpy.place": "arr",
    "numpy.put": "a",
    "numpy.put_along_axis": "arr",
    "numpy.putmask": "a",
    "numpy.random.shuffle": "x",
}
#: Functions that make new arrays, which are tensors if new arrays are tensors.
CREATES = frozenset(
    {
        *("array", "copy", "asarray", "asanyarray", "ascontiguousarray", "asfortranarray", "require"),
        *("zeros", "ones", "empty", "full", "zeros_like", "ones_like", "empty_like", "full_like"),
        *("eye", "identity", "tri", "indices", "fromfunction", "asarray_chkfinite", "from_dlpack"),
        *("arange", "linspace", "logspace", "geomspace", "mgrid", "ogrid", "fft.fftfreq", "fft.rfftfreq"),
        *("frombuffer", "fromiter", "fromstring", "bartlett", "blackman", "hamming", "hanning", "kaiser"),
    }
)
#: np.testing functions that call a user's callback: pass its arguments unconverted.
_AS_GIVEN = frozenset({"assert_raises", "assert_raises_regex", "assert_warns", "assert_no_warnings"})
#: Functions whose results follow the rules of promotion, which are a setting.
_ASK_THE_RULES = frozenset({"numpy.promote_types", "numpy.result_type"})
#: The prefix of the names of functions that draw random numbers.
_RANDOM = "numpy.random."


@without_tensors
class _Absent:
    """The type of an argument that was not given."""


_ABSENT: Any = _Absent()
HOST.add(_Absent)


def _route_by_operands(
    function: Callable[..., Any],
    creates: bool,
    writes: str | None,
    otherwise: Callable[[tuple[Any, ...], dict[str, Any]], Any],
) -> Callable[..., Any]:
    """Return a function that calls NumPy if all operands are on the host, else `otherwise`.

    Every small operation of a program calls it. Three positional parameters are faster than a tuple of them.
    If TensorFlow has not been imported, all operands are on the host.
    """

    def call(a: Any = _ABSENT, b: Any = _ABSENT, c: Any = _ABSENT, /, *operands: Any, **kwargs: Any) -> Any:
        if fast_flags.host and (
            "tensorflow" not in _modules
            or (
                (type(a) in HOST or is_host(a))
                and (b is _ABSENT or type(b) in HOST or is_host(b))
                and (c is _ABSENT or type(c) in HOST or is_host(c))
                and (not operands or are_host(operands))
                and (not kwargs or are_host(kwargs.values()))
                and not (creates and new_arrays_are_tensors())
            )
        ):
            if writes is None:
                if kwargs:
                    if b is _ABSENT:
                        return function(**kwargs) if a is _ABSENT else function(a, **kwargs)
                    return (
                        function(a, b, **kwargs) if c is _ABSENT else function(a, b, c, *operands, **kwargs)
                    )
                if b is _ABSENT:
                    return function() if a is _ABSENT else function(a)
                if c is _ABSENT:
                    return function(a, b)
                return function(a, b, c, *operands) if operands else function(a, b, c)
            function(*_given_arguments(a, b, c, *operands), **kwargs)
            return kwargs[writes] if a is _ABSENT else a
        return otherwise(_given_arguments(a, b, c, *operands), kwargs)

    call.autograph_info__ = {}  # type: ignore[attr-defined]  # AutoGraph leaves it alone
    return call


def _route_by_promotion(
    function: Callable[..., Any], otherwise: Callable[[tuple[Any, ...], dict[str, Any]], Any]
) -> Callable[..., Any]:
    """Return a function that calls NumPy if NumPy's rules of promotion are in force, else `otherwise`."""
    return lambda *args, **kwargs: (
        function(*args, **kwargs) if uses_numpy_rules() else otherwise(args, kwargs)
    )


def _given_arguments(*args: Any) -> tuple[Any, ...]:
    """Return the arguments that were given."""
    return tuple([arg for arg in args if arg is not _ABSENT])


@without_tensors
class Function(functools.partial):  # type: ignore[type-arg]
    """A function of NumPy over arrays of every kind. If it writes to a parameter, it returns that parameter.

    It is another object than NumPy's own function and not equal to it: caches that are keyed by functions
    keep them apart. `np2tf.numpy_function` tells which function of NumPy it is. The object is a partial
    application of no arguments, because Python calls such an object without a detour through its class.

    Attributes:
        numpy: NumPy's function.
        qualified_name: its name in the rules.
    """

    numpy: Any
    qualified_name: str
    __name__: str

    def __new__(cls, function: Callable[..., Any], qualified_name: str) -> Function:
        creates = qualified_name.removeprefix("numpy.") in CREATES or qualified_name.startswith(_RANDOM)

        def otherwise(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            return late.arrays.route(instance, args, kwargs)

        host = _route_by_promotion(function, otherwise) if qualified_name in _ASK_THE_RULES else function
        call = _route_by_operands(host, creates, WRITES.get(qualified_name), otherwise)
        instance = super().__new__(cls, functools.update_wrapper(call, function))
        functools.update_wrapper(instance, function)
        within = getattr(function, "__wrapped__", None)
        if isinstance(within, BuiltinFunctionType):
            instance.__wrapped__ = within  # type: ignore[attr-defined]  # as NumPy's has it, with the signature as text
        instance.numpy = function
        instance.qualified_name = qualified_name
        # for pickle
        instance.__module__ = "np2tf.tnp" + qualified_name.removeprefix("numpy").rpartition(".")[0]
        return instance

    __tf_tracing_type__ = by_identity

    def __getattr__(self, name: str) -> Any:
        """Return NumPy's attribute of a name not defined here, such as `nin` and `_implementation`."""
        if name == "numpy":
            raise AttributeError(name)
        return getattr(self.numpy, name)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """Bind to an instance if NumPy's function would: Python functions bind, C functions do not."""
        binds = instance is not None and hasattr(type(self.numpy), "__get__")
        return MethodType(self, instance) if binds else self

    def __repr__(self) -> str:
        return repr(self.numpy)

    def __reduce__(self) -> str:  # type: ignore[override]
        return self.__name__


@without_tensors
class UniversalFunction(Function):
    """A universal function over arrays of every kind.

    See https://numpy.org/doc/stable/reference/ufuncs.html.
    """

    numpy: np.ufunc

    def __new__(cls, function: np.ufunc) -> UniversalFunction:
        call = _route_by_operands(
            function, False, None, lambda *operands: late.arrays.route_ufunc(instance, "__call__", *operands)
        )
        instance = functools.partial.__new__(cls, call)
        instance.numpy = function
        instance.qualified_name = f"numpy.{function.__name__}"
        instance.__name__ = function.__name__
        instance.__module__ = "np2tf.tnp"  # pickle looks for the function there
        instance.__doc__ = function.__doc__
        return instance

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """Return np.ufunc for ``isinstance``, because code that is not translated checks for it."""
        return np.ufunc

    def __reduce__(self) -> Any:
        """Return the name for pickle; for a ufunc without a name here, a call that makes it again."""
        named = getattr(np, self.__name__, None) is self.numpy
        return self.__name__ if named else (universal_function, (self.numpy,))

    def reduce(self, *args: Any, **kwargs: Any) -> Any:
        """Reduce an array by applying the ufunc between its elements along an axis.

        Args:
            *args: the array, and NumPy's further arguments such as `axis` (default 0).
            **kwargs: NumPy's arguments by name.

        See https://numpy.org/doc/stable/reference/generated/numpy.ufunc.reduce.html.
        """
        return self._method("reduce", args, kwargs)

    def accumulate(self, *args: Any, **kwargs: Any) -> Any:
        """Return the running results of the ufunc along an axis.

        Args:
            *args: the array, and NumPy's further arguments such as `axis` (default 0).
            **kwargs: NumPy's arguments by name.

        See https://numpy.org/doc/stable/reference/generated/numpy.ufunc.accumulate.html.
        """
        return self._method("accumulate", args, kwargs)

    def reduceat(self, *args: Any, **kwargs: Any) -> Any:
        """Reduce the slices of an array that start at given indices.

        Args:
            *args: the array, the indices, and NumPy's further arguments.
            **kwargs: NumPy's arguments by name.

        See https://numpy.org/doc/stable/reference/generated/numpy.ufunc.reduceat.html.
        """
        return self._method("reduceat", args, kwargs)

    def outer(self, *args: Any, **kwargs: Any) -> Any:
        """Apply the ufunc to all pairs of elements of two arrays.

        Args:
            *args: the two arrays, and NumPy's further arguments.
            **kwargs: NumPy's arguments by name.

        Returns:
            An array of the shape ``a.shape + b.shape``.

        See https://numpy.org/doc/stable/reference/generated/numpy.ufunc.outer.html.
        """
        return self._method("outer", args, kwargs)

    def at(self, array: Any, indices: Any, *operands: Any) -> Any:
        """Apply the ufunc in place, once for every index, also for repeated indices.

        Args:
            array: array to write into.
            indices: key of the elements.
            *operands: the second operand of a ufunc of two operands.

        Returns:
            `array`, or a new tensor if `array` is a tf.Tensor.

        See https://numpy.org/doc/stable/reference/generated/numpy.ufunc.at.html.
        """
        if fast_flags.host and are_host((array, indices, *operands)):
            self.numpy.at(array, indices, *operands)
            return array
        return late.arrays.route_ufunc(self, "at", (array, indices, *operands), {})

    def _method(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if fast_flags.host and are_host(args) and are_host(kwargs.values()):
            return getattr(self.numpy, name)(*args, **kwargs)
        return late.arrays.route_ufunc(self, name, args, kwargs)


@without_tensors
class Indexer:
    """An object of NumPy that makes arrays by being indexed: ``c_``, ``r_``, ``mgrid``, ``ogrid``."""

    def __init__(self, numpy: Any, qualified_name: str) -> None:
        self.numpy = numpy
        self.qualified_name = qualified_name
        self.__doc__ = numpy.__doc__

    def __len__(self) -> int:
        return len(self.numpy)

    def __getitem__(self, key: Any) -> Any:
        if fast_flags.host and are_host(operands_in(key)) and not new_arrays_are_tensors():
            return self.numpy[key]
        return late.arrays.route_indexer(self, key)


operators.numpy_functions = (Function, Indexer)
#: NumPy's ufunc -> np2tf's, which is one object for all names of the ufunc.
_UFUNCS: dict[np.ufunc, UniversalFunction] = {}


def universal_function(function: np.ufunc) -> UniversalFunction:
    """Return the universal function that replaces NumPy's; the same object for every call."""
    replacement = _UFUNCS.get(function)
    return (
        replacement if replacement is not None else _UFUNCS.setdefault(function, UniversalFunction(function))
    )


def provide(value: Any, qualified_name: str) -> Any:
    """Return the object of `tnp` that replaces NumPy's `value`; classes and constants replace themselves."""
    if isinstance(value, np.ufunc):
        return universal_function(value)
    if (isinstance(value, FUNCTIONS) or value is np.nditer) and qualified_name.rpartition(".")[
        2
    ] not in _AS_GIVEN:
        return Function(value, qualified_name)
    if type(value).__name__ in ("CClass", "RClass", "MGridClass", "OGridClass"):
        return Indexer(value, qualified_name)
    return value
