"""The operators that translated code calls as `np2tf.cond`, `np2tf.range` …: their names and both meanings.

This table is the only list of the operators. The translator emits them, `np2tf` has them as attributes, the
run time and the host tier call one of the two meanings, and the tests judge translations by Python's meaning.
Python's meaning, for values that are all known, stands here where it is no builtin; the meaning for staged
values is loaded when it is first called (`np2tf.operators.in_use`).
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable
from typing import Any

#: The roles of operators in the translator. It writes calls of "control" operators itself, and looks for none
#: in the source. It puts operators in the place of builtins: a loop runs over a "sequence", and a "number" is
#: computed from other numbers. A "type test" asks for a value's type.
CONTROL, SEQUENCE, NUMBER, TYPE_TEST = "control", "sequence", "number", "type test"
OTHER_ROLE = "other"

#: The translator and the staged operators unroll loops of at most this many iterations: constant indices make
#: better code than a loop.
UNROLL = 8
#: A loop that cannot be lowered or staged may still be unrolled up to this length.
MAX_UNROLL = 64


class Operator:
    """One operator.

    Attributes:
        python: Python's meaning, as ``module:name``, or ``module`` where that is the operator.
        staged: the meaning for staged values, likewise, within the package that `lazy.staging` names; "" if
            Python's meaning holds for staged values, too.
        role: the operator's role in the translator.
    """

    __slots__ = ("python", "role", "staged")  # a named tuple takes longer to make than all of the table

    def __init__(self, python: str, staged_function: str, role: str = OTHER_ROLE) -> None:
        self.python, self.staged, self.role = python, staged_function, role


def _own_operator(name: str, module: str, role: str = OTHER_ROLE) -> Operator:
    return Operator(f"{__name__}:{name}", f"{module}:{name}", role)


def _builtin(name: str, module: str, role: str = OTHER_ROLE) -> Operator:
    return Operator(f"builtins:{name}", f"{module}:{name}", role)


OPERATORS: dict[str, Operator] = {
    **{
        name: _own_operator(name, "staged_operators.control", CONTROL)
        for name in ("cond", "while_loop", "for_loop", "and_", "or_")
    },
    "map_loop": _own_operator("map_loop", "staged_operators.map_loop", CONTROL),
    "not_": Operator("operator:not_", "staged_operators.control:not_"),
    "undefined": Operator("np2tf.operators.undefined:undefined", ""),
    "numpy_function": Operator(f"{__name__}:numpy_function", ""),
    "on_host": _own_operator("on_host", "staged_operators.exceptions"),
    "call": _own_operator("call", "callees.callees"),
    "context": _own_operator("context", "callees.contexts"),
    **{
        name: _builtin(name, "staged_operators.iterables", SEQUENCE)
        for name in ("range", "enumerate", "zip", "reversed")
    },
    **{
        name: _builtin(name, "staged_operators.builtins", NUMBER)
        for name in ("int", "float", "complex", "bool", "round", "len", "sum", "any", "all")
    },
    **{name: _builtin(name, "staged_operators.extrema", NUMBER) for name in ("min", "max")},
    **{
        name: _builtin(name, "staged_operators.type_tests", TYPE_TEST)
        for name in ("isinstance", "type", "hasattr", "getattr")
    },
    "list_of": _own_operator("list_of", "staged_operators.builtins"),
    "math": Operator("math", "staged_operators.math"),
    "print": _builtin("print", "effects.printing"),
    "str": _builtin("str", "effects.text"),
    "repr": _builtin("repr", "effects.text"),
    "text": Operator("builtins:str.format", "effects.text:text"),
    "percent": Operator("operator:mod", "effects.text:percent"),
}


def of_role(role: str) -> tuple[str, ...]:
    """Return the names of the operators with a role."""
    return tuple(name for name, operator in OPERATORS.items() if operator.role == role)


def load(place: str) -> Any:
    """Return the object that ``module:name`` tells."""
    module, _, path = place.partition(":")
    value: Any = sys.modules.get(module) or importlib.import_module(module)
    for name in path.split(".") if path else ():
        value = getattr(value, name)
    return value


def python_meaning(name: str) -> Any:
    """Return Python's meaning of an operator."""
    return load(OPERATORS[name].python)


# -- Python's meaning ----------------------------------------------------------------------------------------


def cond(test: Any, then: Callable[..., Any], otherwise: Callable[..., Any], *operands: Any) -> Any:
    """``then(*operands)`` if `test` is true, else ``otherwise(*operands)``."""
    return then(*operands) if test else otherwise(*operands)


def while_loop(
    keep_going: Callable[..., Any], step: Callable[..., Any], state: tuple[Any, ...]
) -> tuple[Any, ...]:
    """``while keep_going(*state): state = step(*state)``; returns the state after the loop."""
    while keep_going(*state):
        state = step(*state)
    return state


def for_loop(
    iterable: Iterable[Any],
    step: Callable[..., Any],
    state: tuple[Any, ...],
    keep_going: Callable[..., Any] | None = None,
) -> tuple[Any, ...]:
    """``for item in iterable: state = step(item, *state)``; returns the state after the loop.

    `keep_going` is tested on the state before every step; the loop ends when it is false.
    """
    for item in iterable:
        if keep_going is not None and not keep_going(*state):
            break
        state = step(item, *state)
    return tuple(state)


def map_loop(iterable: Iterable[Any], value: Callable[[Any], Any], out: Any) -> Any:
    """``for i in iterable: out[i] = value(i)``; returns `out`."""
    for i in iterable:
        out[i] = value(i)
    return out


def and_(left: Any, right: Callable[[], Any]) -> Any:
    """``left and right()``."""
    return left and right()


def or_(left: Any, right: Callable[[], Any]) -> Any:
    """``left or right()``."""
    return left or right()


def call(callee: Any) -> Any:
    """``np2tf.call(f)(x)`` is ``f(x)``."""
    return callee


def context(manager: Any) -> Any:
    """``with np2tf.context(manager):`` is ``with manager:``."""
    return manager


def on_host(kinds: Any) -> Any:
    """``except np2tf.on_host(kinds):`` is ``except kinds:``."""
    return kinds


def list_of(element: Any, iterable: Iterable[Any], where: Any = None) -> list[Any]:
    """``[element(item) for item in iterable if where(item)]``.

    A function of several parameters takes a tuple's items as its arguments.
    """
    if element.__code__.co_argcount > 1:
        return [element(*item) for item in iterable if where is None or where(*item)]
    return [element(item) for item in iterable if where is None or where(item)]


#: The classes of np2tf's functions for NumPy's, which have these as `numpy`; the house of arrays sets it.
numpy_functions: tuple[type, ...] = ()


def numpy_function(value: Any) -> Any:
    """``np2tf.numpy_function(f) is np.add`` asks if f is NumPy's function, or np2tf's function for it.

    Args:
        value: a function, or any other value.

    Returns:
        NumPy's function in the place of np2tf's; every other value unchanged.
    """
    return value.numpy if issubclass(type(value), numpy_functions) else value
