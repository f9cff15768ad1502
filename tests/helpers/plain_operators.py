"""np2tf's operators as plain Python on NumPy: a fast check of whether converted text keeps its meaning.

It needs no TensorFlow. `tnp` is NumPy itself with `at` and the in-place functions that return their first
argument. The control operators do exactly what the contract in docs/architecture.md says of Python values.
"""

from __future__ import annotations

import builtins
import math
import operator
import sys
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np


class Undefined:
    """The value of an unbound name, any use of which is an error."""

    def __init__(self, name: str) -> None:
        self._name = name

    def _refuse(self, *args: Any, **kwargs: Any) -> Any:
        raise UnboundLocalError(self._name)


for _operation in ["add", "sub", "mul", "mod", "truediv", "floordiv", "pow", "matmul", "and", "or"]:
    for _prefix in ("", "r", "i"):
        setattr(Undefined, f"__{_prefix}{_operation}__", Undefined._refuse)
for _operation in [
    "bool",
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "getitem",
    "setitem",
    "iter",
    "len",
    "array",
    "index",
    "int",
    "float",
    "neg",
    "abs",
]:
    setattr(Undefined, f"__{_operation}__", Undefined._refuse)


_UPDATES = {
    "add": operator.iadd,
    "subtract": operator.isub,
    "multiply": operator.imul,
    "divide": operator.itruediv,
    "floor_divide": operator.ifloordiv,
    "remainder": operator.imod,
    "power": operator.ipow,
}


class _At:
    def __init__(self, base: Any, key: Any = None) -> None:
        if isinstance(base, Undefined):
            base._refuse()
        self._base, self._key = base, key

    def __getitem__(self, key: Any) -> _At:
        return _At(self._base, key)

    def set(self, value: Any) -> Any:
        self._base[self._key] = value
        return self._base

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name in _UPDATES:

            def update(value: Any) -> Any:
                self._base[self._key] = _UPDATES[name](self._base[self._key], value)
                return self._base

            return update

        def method(*args: Any, **kwargs: Any) -> Any:
            getattr(self._base, name)(*args, **kwargs)
            return self._base

        return method


def cond(test: Any, then: Callable[..., Any], otherwise: Callable[..., Any], *operands: Any) -> Any:
    return then(*operands) if test else otherwise(*operands)


def while_loop(
    keep_going: Callable[..., Any], step: Callable[..., Any], state: tuple[Any, ...]
) -> tuple[Any, ...]:
    while keep_going(*state):
        state = step(*state)
        assert isinstance(state, tuple)
    return state


def map_loop(iterable: Any, value: Callable[[Any], Any], out: Any) -> Any:
    """Compute every element by itself."""
    for i in iterable:
        out[i] = value(i)
    return out


def for_loop(
    iterable: Any,
    step: Callable[..., Any],
    state: tuple[Any, ...],
    keep_going: Callable[..., Any] | None = None,
) -> tuple[Any, ...]:
    iterator = iter(iterable)
    while keep_going is None or keep_going(*state):
        try:
            item = next(iterator)
        except StopIteration:
            break
        new = step(item, *state)
        assert isinstance(new, tuple)
        assert len(new) == len(state)
        state = new
    return state


_NUMBERS = ("int", "float", "complex", "bool", "round", "len", "sum", "any", "all")


def list_of(element: Callable[..., Any], iterable: Any, where: Callable[..., Any] | None = None) -> list[Any]:
    several = element.__code__.co_argcount > 1

    def call(function: Callable[..., Any], item: Any) -> Any:
        return function(*item) if several else function(item)

    return [call(element, item) for item in iterable if where is None or call(where, item)]


def _written_to(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(target: Any, *args: Any, **kwargs: Any) -> Any:
        function(target, *args, **kwargs)
        return target

    return call


def _modules() -> dict[str, types.ModuleType]:
    tnp = types.ModuleType("np2tf.tnp")
    vars(tnp).update({name: getattr(np, name) for name in dir(np) if not name.startswith("__")})
    vars(tnp).update(at=_At)
    for name in ("fill_diagonal", "copyto", "put", "place", "putmask"):
        setattr(tnp, name, _written_to(getattr(np, name)))
    for name in ("add", "subtract", "multiply", "maximum", "minimum"):
        setattr(tnp, f"{name}_at", _written_to(getattr(np, name).at))
    package = types.ModuleType("np2tf")
    vars(package).update(
        tnp=tnp,
        jit=lambda function: function,
        cond=cond,
        while_loop=while_loop,
        for_loop=for_loop,
        map_loop=map_loop,
        and_=lambda left, right: left and right(),
        or_=lambda left, right: left or right(),
        not_=operator.not_,
        undefined=Undefined,
        range=range,
        enumerate=enumerate,
        zip=zip,
        reversed=reversed,
        min=min,
        max=max,
        math=math,
        list_of=list_of,
        print=print,
        on_host=lambda kinds: kinds,
        call=lambda callee: callee,
        text=str.format,
        percent=operator.mod,
        str=str,
        repr=repr,
        **{name: getattr(builtins, name) for name in _NUMBERS},
    )
    return {"np2tf": package, "np2tf.tnp": tnp}


@contextmanager
def plain_operators() -> Iterator[None]:
    """Within the with block, `import np2tf` in executed text gives the plain operators."""
    real = {name: module for name, module in sys.modules.items() if name.split(".")[0] == "np2tf"}
    for name in real:
        del sys.modules[name]
    sys.modules.update(_modules())
    try:
        yield
    finally:
        for name in _modules():
            del sys.modules[name]
        sys.modules.update(real)


def executed(text: str) -> dict[str, Any]:
    """Return the names that a module's text defines; its np2tf is the plain operators."""
    sys.modules.setdefault("executed", types.ModuleType("executed"))  # dataclasses look up their module
    names: dict[str, Any] = {"__name__": "executed"}
    with plain_operators():
        exec(compile(text, "<text>", "exec"), names)
    return names
