"""The operators that translated code calls, with Python's own meaning for known values.

They are used until TensorFlow is loaded. If an operator is one of Python's builtins, the builtin itself is
used (`np2tf.runtime.operators.table`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any


def cond(test: Any, then: Callable[..., Any], otherwise: Callable[..., Any], *operands: Any) -> Any:
    """Return ``then(*operands)`` if `test` is true, else ``otherwise(*operands)``."""
    return then(*operands) if test else otherwise(*operands)


def while_loop(
    keep_going: Callable[..., Any], step: Callable[..., Any], state: tuple[Any, ...]
) -> tuple[Any, ...]:
    """Do ``while keep_going(*state): state = step(*state)``, and return the state after the loop."""
    while keep_going(*state):
        state = step(*state)
    return state


def for_loop(
    iterable: Iterable[Any],
    step: Callable[..., Any],
    state: tuple[Any, ...],
    keep_going: Callable[..., Any] | None = None,
) -> tuple[Any, ...]:
    """Do ``for item in iterable: state = step(item, *state)``, and return the state after the loop.

    `keep_going` is tested on the state before every step; the loop ends when it is false.
    """
    for item in iterable:
        if keep_going is not None and not keep_going(*state):
            break
        state = step(item, *state)
    return tuple(state)


def map_loop(iterable: Iterable[Any], value: Callable[[Any], Any], out: Any) -> Any:
    """Do ``for i in iterable: out[i] = value(i)``, and return `out`."""
    for i in iterable:
        out[i] = value(i)
    return out


def and_(left: Any, right: Callable[[], Any]) -> Any:
    """Return ``left and right()``."""
    return left and right()


def or_(left: Any, right: Callable[[], Any]) -> Any:
    """Return ``left or right()``."""
    return left or right()


def call(callee: Any) -> Any:
    """Return `callee`: ``np2tf.call(f)(x)`` is ``f(x)``."""
    return callee


def context(manager: Any) -> Any:
    """Return `manager`: ``with np2tf.context(manager):`` is ``with manager:``."""
    return manager


def on_host(kinds: Any) -> Any:
    """Return `kinds`: ``except np2tf.on_host(kinds):`` is ``except kinds:``."""
    return kinds


def list_of(element: Any, iterable: Iterable[Any], where: Any = None) -> list[Any]:
    """Return ``[element(item) for item in iterable if where(item)]``.

    A function of several parameters takes a tuple's items as its arguments.
    """
    if element.__code__.co_argcount > 1:
        return [element(*item) for item in iterable if where is None or where(*item)]
    return [element(item) for item in iterable if where is None or where(item)]
