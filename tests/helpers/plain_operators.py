"""np2tf's operators as plain Python on NumPy: a quick judge of whether converted text keeps its meaning.

It needs no TensorFlow. `tnp` is NumPy itself with `at` and the in-place functions that return what they wrote
to; the control operators do exactly what the contract in docs/architecture.md says of Python values.
"""

from __future__ import annotations

import operator
import sys
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from np2tf.core.operators import NO_STATE, OPERATORS, python_meaning, takes_one_variable


class Undefined:
    """The value of a name that nothing was bound to: any use of it is an error."""

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


def _checked(step: Callable[..., Any], state: Any, before_state: int) -> Callable[..., Any]:
    """The step, which must return what its parameters say of the state."""
    if state is NO_STATE:

        def without_result(*args: Any) -> None:
            assert step(*args) is None

        return without_result
    if takes_one_variable(step, before_state):
        return step

    def with_tuple(*args: Any) -> Any:
        new = step(*args)
        assert isinstance(new, tuple)
        assert len(new) == len(state)
        return new

    return with_tuple


def while_loop(keep_going: Callable[..., Any], step: Callable[..., Any], state: Any = NO_STATE) -> Any:
    is_one = takes_one_variable(step, 0)
    checked = _checked(step, state, 0)
    if not is_one:
        return python_meaning("while_loop")(keep_going, checked, state)
    return python_meaning("while_loop")(keep_going, lambda value: checked(value), state)


def for_loop(iterable: Any, step: Callable[..., Any], state: Any = NO_STATE, keep_going: Any = None) -> Any:
    is_one = takes_one_variable(step, 1)
    checked = _checked(step, state, 1)
    if not is_one:
        return python_meaning("for_loop")(iterable, checked, state, keep_going)
    return python_meaning("for_loop")(iterable, lambda item, value: checked(item, value), state, keep_going)


#: Where Python's meaning would pass over what the helpers of a translation must not do.
_STRICT = {"while_loop": while_loop, "for_loop": for_loop, "undefined": Undefined}
#: The Python column of the table, or what is stricter.
PLAIN: dict[str, Any] = {**{name: python_meaning(name) for name in OPERATORS}, **_STRICT}


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
        **PLAIN,
    )
    return {"np2tf": package, "np2tf.tnp": tnp}


@contextmanager
def plain_operators() -> Iterator[None]:
    """While this holds, `import np2tf` in executed text gives the plain operators."""
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
    """The names that a module's text defines; np2tf in it is the plain operators."""
    sys.modules.setdefault("executed", types.ModuleType("executed"))  # dataclasses look for it
    names: dict[str, Any] = {"__name__": "executed"}
    with plain_operators():
        exec(compile(text, "<text>", "exec"), names)
    return names
