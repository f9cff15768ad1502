"""A translated function run by NumPy itself, at NumPy's own speed: what the host tier calls.

On the host, `tnp` hands every operation to NumPy, after having looked at its operands. Where the arguments
of a call say that all of them are on the host, the same code runs with NumPy in the place of `tnp`, or better
the source that it was made from, and the arrays go in and out as they would have done.
"""

from __future__ import annotations

import builtins
import dis
import operator
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from np2tf import tnp
from np2tf.config import config
from np2tf.runtime.originals import original_of
from np2tf.tnp.at import UPDATES
from np2tf.tnp.front import WRITES
from np2tf.tnp.ndarray import ndarray
from np2tf.tnp.operand_kinds import PLAIN
from np2tf.tnp.residence import has_array

_OURS = frozenset({"random", "ma", "polynomial", "emath", "lib"})


class _Place:
    """``x[key]``, about to be written to."""

    __slots__ = ("_key", "_target")

    def __init__(self, target: Any, key: Any) -> None:
        self._target = target
        self._key = key

    def set(self, value: Any) -> Any:
        """``x[key] = value``; returns x."""
        self._target[self._key] = value
        return self._target


def _update(function: Callable[[Any, Any], Any]) -> Callable[[_Place, Any], Any]:
    def update(self: _Place, value: Any) -> Any:
        target, key = self._target, self._key
        target[key] = function(target[key], value)
        return target

    return update


for _name, _function in UPDATES.items():
    setattr(_Place, _name, _update(_function))


class _At:
    """`tnp.at` for what is on the host."""

    __slots__ = ("_target",)

    def __init__(self, target: Any) -> None:
        self._target = target

    def __getitem__(self, key: Any) -> _Place:
        return _Place(self._target, key)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        target = self._target

        def call(*args: Any, **kwargs: Any) -> Any:
            getattr(target, name)(*args, **kwargs)
            return target

        return call


def _returning_target(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that writes to its first argument, as `tnp` has it: returning what it has written to."""

    def run(target: Any, *args: Any, **kwargs: Any) -> Any:
        function(target, *args, **kwargs)
        return target

    return run


class _NumPy:
    """NumPy under the names that source code uses, those that NumPy 2 has removed among them."""

    def __getattr__(self, name: str) -> Any:
        value = self._find(name)
        self.__dict__[name] = value
        return value

    def _find(self, name: str) -> Any:
        return getattr(np if name in np.__all__ and name not in _OURS else tnp, name)


class _NumPyAsTnp(_NumPy):
    """NumPy under the names that translated code uses."""

    at = _At

    def _find(self, name: str) -> Any:
        base = getattr(np, name[: -len("_at")], None) if name.endswith("_at") else None
        if isinstance(base, np.ufunc):
            return _returning_target(base.at)
        value = super()._find(name)
        return _returning_target(value) if f"numpy.{name}" in WRITES else value


_NUMPY, _TNP = _NumPy(), _NumPyAsTnp()


def _cond(test: Any, then: Callable[..., Any], otherwise: Callable[..., Any], *operands: Any) -> Any:
    return then(*operands) if test else otherwise(*operands)


def _for_loop(
    iterable: Any, step: Callable[..., Any], state: Any, keep_going: Callable[..., Any] | None = None
) -> Any:
    for item in iterable:
        if keep_going is not None and not keep_going(*state):
            break
        state = step(item, *state)
    return state


def _while_loop(keep_going: Callable[..., Any], step: Callable[..., Any], state: Any) -> Any:
    while keep_going(*state):
        state = step(*state)
    return state


def _map_loop(iterable: Any, value: Callable[[Any], Any], out: Any) -> Any:
    for item in iterable:
        out[item] = value(item)
    return out


class _Operators:
    """What `np2tf` offers translated code, for values that are all known: Python itself."""

    cond = staticmethod(_cond)
    for_loop = staticmethod(_for_loop)
    while_loop = staticmethod(_while_loop)
    map_loop = staticmethod(_map_loop)
    not_ = staticmethod(operator.not_)
    and_ = staticmethod(lambda left, right: left and right())
    or_ = staticmethod(lambda left, right: left or right())
    on_host = staticmethod(lambda kinds: kinds)
    text = staticmethod(str.format)
    percent = staticmethod(operator.mod)

    def __getattr__(self, name: str) -> Any:
        value = getattr(sys.modules["np2tf"], name)
        if callable(value):
            value = getattr(builtins, name, value)
        self.__dict__[name] = value
        return value


_OPERATORS = _Operators()


class _Names(dict[str, Any]):
    """The globals of a function, read when they are asked for, with NumPy for `tnp`."""

    def __init__(self, names: dict[str, Any], functions: dict[int, Any]) -> None:
        super().__init__()
        self._names = names
        self._functions = functions
        self.arrays: dict[int, Any] = {}
        self.update({name: _TNP for name, value in names.items() if value is tnp})
        self.update({name: _OPERATORS for name, value in names.items() if value is sys.modules["np2tf"]})

    def __missing__(self, name: str) -> Any:
        value = self._names[name]
        kind = type(value)
        if kind is types.FunctionType or hasattr(value, "__wrapped__"):
            return _plain_function(value, self._functions)
        return value


def _plain_function(value: Any, functions: dict[int, Any]) -> Any:
    """The function with NumPy in the place of `tnp`, if it is a translated one."""
    function = value.__wrapped__ if type(value).__name__ == "Jitted" else value
    if type(function) is not types.FunctionType or function.__globals__.get("tnp") is not tnp:
        return value
    known = functions.get(id(function))
    if known is None:
        names = _Names(function.__globals__, functions)
        original, code = original_of(function), function.__code__
        if original is not None:
            code = original.code
            names.update({name: _below_numpy(path) for name, path in original.imports.items()})
        made = types.FunctionType(code, names, function.__name__, function.__defaults__, function.__closure__)
        made.__kwdefaults__ = function.__kwdefaults__
        # The original is kept, so that its id stays its own.
        known = functions[id(function)] = (function, made)
    return known[1]


def _below_numpy(path: tuple[str, ...]) -> Any:
    """What source code has imported from NumPy."""
    value: Any = _NUMPY
    for name in path:
        value = getattr(value, name)
    return value


class PlainFunction:
    """A translated function, for calls whose arguments are all on the host."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._functions: dict[int, Any] = {}
        self._function: Any = None
        if isinstance(function, types.FunctionType) and _is_translated(function):
            self._function = _plain_function(function, self._functions)

    def takes(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Whether a call with these arguments may run this way."""
        if self._function is None or config.eager != "auto" or config.floats != "float64":
            return False
        return all(map(_is_host, args)) and (not kwargs or all(map(_is_host, kwargs.values())))

    def __call__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run the function; its arrays come back as np2tf's."""
        given: dict[int, Any] = {}
        own = [_bare(arg, given) for arg in args]
        result = self._function(*own, **{name: _bare(arg, given) for name, arg in kwargs.items()})
        return _dressed(result, given, self._function.__globals__.arrays)


def _is_translated(function: types.FunctionType) -> bool:
    if function.__globals__.get("tnp") is not tnp or not _binds_no_globals(function.__code__):
        return False
    defaults = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    return not has_array(defaults) and all(map(_is_host, defaults))


def _binds_no_globals(code: types.CodeType) -> bool:
    return not any(one.opname in ("STORE_GLOBAL", "DELETE_GLOBAL") for one in dis.get_instructions(code))


def _is_host(value: Any) -> bool:
    kind = type(value)
    if kind in PLAIN or kind is np.ndarray:
        return True
    if issubclass(kind, ndarray):
        return False
    if kind is list or kind is tuple:
        return all(type(item) in PLAIN or type(item) is np.ndarray for item in value)
    return False


def _bare(value: Any, given: dict[int, Any]) -> Any:
    kind = type(value)
    if kind is np.ndarray:
        given.setdefault(id(value), value)
    return value


def _dressed(value: Any, given: dict[int, Any], read: dict[int, Any]) -> Any:
    """The result with np2tf's arrays in it; those that came in are the caller's own."""
    kind = type(value)
    if kind is np.ndarray:
        known = given.get(id(value), read.get(id(value)))
        return value if known is None else known
    if kind is tuple:
        return tuple([_dressed(item, given, read) for item in value])
    if kind is list:
        value[:] = [_dressed(item, given, read) for item in value]
    elif kind is dict:
        value.update({key: _dressed(item, given, read) for key, item in value.items()})
    elif isinstance(value, tuple):
        return kind(*[_dressed(item, given, read) for item in value])
    return value
