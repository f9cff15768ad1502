"""The functions that `tnp` shows: NumPy's own on host operands, the TensorFlow half for everything else.

Every callable name of NumPy gets one of these, made from NumPy's function alone, so that nothing here needs
TensorFlow. An operation whose operands are all on the host is NumPy's, called without a look at anything
else; the rest is `np2tf.tnp.routing`'s, which is imported at the first such call.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

import numpy as np

from np2tf.lazy import LazyModule
from np2tf.tnp.operand_kinds import HOST, are_host, is_host, new_arrays_are_tensors
from np2tf.tnp.quick import quick

_routing: Any = LazyModule("np2tf.tnp.routing")

FUNCTIONS = (
    *(FunctionType, BuiltinFunctionType, MethodType),
    *(type(np.concatenate), type(np.random.default_rng)),
)
#: Those that write to a parameter, and to which; ours return it. (Reading the rules would take 10 ms.)
WRITES = {
    "numpy.copyto": "dst",
    "numpy.fill_diagonal": "a",
    "numpy.place": "arr",
    "numpy.put": "a",
    "numpy.put_along_axis": "arr",
    "numpy.putmask": "a",
    "numpy.random.shuffle": "x",
}
#: They make arrays that are new, which are tensors where new arrays are.
CREATES = frozenset(
    {
        *("array", "copy", "asarray", "asanyarray", "ascontiguousarray", "asfortranarray", "require"),
        *("zeros", "ones", "empty", "full", "zeros_like", "ones_like", "empty_like", "full_like"),
        *("eye", "identity", "tri", "indices", "fromfunction", "asarray_chkfinite", "from_dlpack"),
        *("arange", "linspace", "logspace", "geomspace", "mgrid", "ogrid", "fft.fftfreq", "fft.rfftfreq"),
        *("frombuffer", "fromiter", "fromstring", "bartlett", "blackman", "hamming", "hanning", "kaiser"),
    }
)
#: They call what they are given with arguments that are not theirs to change.
_AS_GIVEN = frozenset({"assert_raises", "assert_raises_regex", "assert_warns", "assert_no_warnings"})
#: NumPy's name -> the module whose functions draw random numbers.
_RANDOM = "numpy.random."


def front(function: Callable[..., Any], qualified: str) -> Callable[..., Any]:
    """NumPy's `function`, known to the rules as `qualified`, for operands of every kind."""
    if qualified in WRITES:
        return _writing(function, qualified, WRITES[qualified])
    if qualified.removeprefix("numpy.") in CREATES or qualified.startswith(_RANDOM):
        return _creating(function, qualified)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if quick.host:
            for arg in args:
                if type(arg) not in HOST and not is_host(arg):
                    break
            else:
                if not kwargs:
                    return function(*args)
                if are_host(kwargs.values()):
                    return function(*args, **kwargs)
        return _routing.route(call, args, kwargs)

    return _named(call, function, qualified)


def _creating(function: Callable[..., Any], qualified: str) -> Callable[..., Any]:
    """A function whose arrays are new."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if quick.host:
            for arg in args:
                if type(arg) not in HOST and not is_host(arg):
                    break
            else:
                if (not kwargs or are_host(kwargs.values())) and not new_arrays_are_tensors():
                    return function(*args, **kwargs)
        return _routing.route(call, args, kwargs)

    return _named(call, function, qualified)


def _writing(function: Callable[..., Any], qualified: str, target: str) -> Callable[..., Any]:
    """A function that writes to its first parameter, called `target`: ours returns what was written to."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if quick.host and are_host(args) and are_host(kwargs.values()):
            function(*args, **kwargs)
            return args[0] if args else kwargs[target]
        return _routing.route(call, args, kwargs)

    return _named(call, function, qualified)


def _named(call: Any, function: Callable[..., Any], qualified: str) -> Callable[..., Any]:
    call.__module__ = "np2tf.tnp" + qualified.removeprefix("numpy").rpartition(".")[0]
    call.numpy = function
    call.qualified = qualified
    call.autograph_info__ = {}  # AutoGraph leaves it alone
    return call  # type: ignore[no-any-return]


class UniversalFunction:
    """A universal function over arrays of every kind.

    See https://numpy.org/doc/stable/reference/ufuncs.html.
    """

    autograph_info__: dict[str, Any] = {}  # noqa: RUF012  # AutoGraph leaves it alone

    def __init__(self, function: np.ufunc) -> None:
        self.numpy = function
        self.qualified = f"numpy.{function.__name__}"
        self.__name__ = function.__name__
        self.__module__ = "np2tf.tnp"  # where pickle finds it
        self.__doc__ = function.__doc__

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """np.ufunc to ``isinstance``: code that is not translated asks for it."""
        return np.ufunc

    def __getattr__(self, name: str) -> Any:
        """Attributes that are not defined here, such as `nin` and `resolve_dtypes`, are NumPy's."""
        if name == "numpy":
            raise AttributeError(name)
        return getattr(self.numpy, name)

    def __repr__(self) -> str:
        return f"<ufunc '{self.__name__}'>"

    def __reduce__(self) -> str:
        return self.__name__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Apply elementwise, with broadcasting and NumPy's promotion."""
        if quick.host:
            for arg in args:
                if type(arg) not in HOST and not is_host(arg):
                    break
            else:
                if not kwargs:
                    return self.numpy(*args)
                if are_host(kwargs.values()):
                    return self.numpy(*args, **kwargs)
        return _routing.route_ufunc(self, "__call__", args, kwargs)

    def reduce(self, *args: Any, **kwargs: Any) -> Any:
        """Reduce along `axis` (default 0) by applying the ufunc between elements."""
        return self._method("reduce", args, kwargs)

    def accumulate(self, *args: Any, **kwargs: Any) -> Any:
        """Running results of the ufunc along `axis`."""
        return self._method("accumulate", args, kwargs)

    def reduceat(self, *args: Any, **kwargs: Any) -> Any:
        """Reduce over the slices that start at `indices`."""
        return self._method("reduceat", args, kwargs)

    def outer(self, *args: Any, **kwargs: Any) -> Any:
        """Apply to all pairs: the result has shape ``a.shape + b.shape``."""
        return self._method("outer", args, kwargs)

    def at(self, array: Any, indices: Any, *operands: Any) -> Any:
        """Apply in place, once for every index, also for repeated ones; returns `array`."""
        if quick.host and are_host((array, indices, *operands)):
            self.numpy.at(array, indices, *operands)
            return array
        return _routing.route_ufunc(self, "at", (array, indices, *operands), {})

    def _method(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if quick.host and are_host(args) and are_host(kwargs.values()):
            return getattr(self.numpy, name)(*args, **kwargs)
        return _routing.route_ufunc(self, name, args, kwargs)


class Indexer:
    """One of NumPy's objects that make arrays by being indexed: ``c_``, ``r_``, ``mgrid``, ``ogrid``."""

    def __init__(self, numpy: Any, qualified: str) -> None:
        self.numpy = numpy
        self.qualified = qualified
        self.__doc__ = numpy.__doc__

    def __len__(self) -> int:
        return len(self.numpy)

    def __getitem__(self, key: Any) -> Any:
        parts = key if isinstance(key, tuple) else (key,)
        flat = [
            end
            for part in parts
            for end in ((part.start, part.stop, part.step) if isinstance(part, slice) else (part,))
        ]
        if quick.host and are_host(flat) and not new_arrays_are_tensors():
            return self.numpy[key]
        return _routing.route_indexer(self, key, parts)


#: NumPy's ufunc -> ours; one object for every name of it.
_UFUNCS: dict[np.ufunc, UniversalFunction] = {}


def universal(function: np.ufunc) -> UniversalFunction:
    """The universal function that stands for NumPy's; there is one of it."""
    found = _UFUNCS.get(function)
    return found if found is not None else _UFUNCS.setdefault(function, UniversalFunction(function))


def provide(value: Any, qualified: str) -> Any:
    """The object that stands for NumPy's `value`; classes and constants stand for themselves."""
    if isinstance(value, np.ufunc):
        return universal(value)
    if (isinstance(value, FUNCTIONS) or value is np.nditer) and qualified.rpartition(".")[2] not in _AS_GIVEN:
        return front(value, qualified)
    if type(value).__name__ in ("CClass", "RClass", "MGridClass", "OGridClass"):
        return Indexer(value, qualified)
    return value
