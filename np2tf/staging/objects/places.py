"""Places of values that are found by name and can be replaced: globals, closures, defaults, attributes."""

from __future__ import annotations

import types
from collections.abc import Callable
from functools import partial
from operator import getitem, setitem
from typing import Any

from np2tf.staging.objects.user_objects import assign, functions_of


class Place:
    """A place where a value is found, and where it can be replaced.

    Attributes:
        holder, name: the namespace or object that holds the value, and its name, key or index there.
        read: returns the value; raises an error if there is none (yet).
        bind: replaces the value; None if that is impossible.
    """

    __slots__ = ("bind", "holder", "name", "read")

    def __init__(
        self, holder: Any, name: Any, reader: Callable[[], Any], bind: Callable[[Any], None] | None
    ) -> None:
        self.holder = holder
        self.name = name
        self.read = reader
        self.bind = bind

    @property
    def key(self) -> tuple[int, Any]:
        """A key that is equal for equal places."""
        return id(self.holder), self.name

    @property
    def value(self) -> Any:
        """The present value; None if there is none."""
        try:
            return self.read()
        except (KeyError, AttributeError, ValueError, IndexError):
            return None


def entry(holder: Any, name: Any) -> Place:
    """Return the place of a global variable, an element of a list, or a value of a dict."""
    return Place(holder, name, partial(getitem, holder, name), partial(setitem, holder, name))


def attribute(holder: Any, name: str, can_be_set: bool = True) -> Place:
    """Return the place of an attribute of a module or class."""
    bind = partial(setattr, holder, name) if can_be_set else None
    return Place(holder, name, partial(getattr, holder, name), bind)


def definition(kind: type, name: str) -> Place:
    """Return the place of the function behind a class member, or of the class that defines it, if it has
    none.
    """
    return Place(kind, (name,), partial(_defining_class, kind, name), None)


def _defining_class(kind: type, name: str) -> Any:
    for base in kind.__mro__:
        members = vars(base)
        if name in members:
            return next(functions_of(members[name]), base)
    return None


def closure_variable(cell: types.CellType, name: str) -> Place:
    """Return the place of a variable of an enclosing function."""
    return Place(cell, name, lambda: cell.cell_contents, partial(setattr, cell, "cell_contents"))


def own_attribute(instance: Any, name: str) -> Place:
    """Return the place of an object's own attribute. Hooks of its class do not run when it is read or set."""

    def read() -> Any:
        attributes = getattr(instance, "__dict__", {})
        return attributes[name] if name in attributes else getattr(instance, name)

    return Place(instance, name, read, lambda value: assign(instance, {name: value}))


def defaults(function: types.FunctionType) -> list[Place]:
    """Return the places of the parameters' default values."""
    by_position = function.__defaults__ or ()
    return [_default(function, k) for k in range(len(by_position))] + [
        entry(function.__kwdefaults__, name) for name in function.__kwdefaults__ or ()
    ]


def _default(function: types.FunctionType, k: int) -> Place:
    def bind(value: Any) -> None:
        before = function.__defaults__ or ()
        function.__defaults__ = (*before[:k], value, *before[k + 1 :])

    return Place(function, k, lambda: (function.__defaults__ or ())[k], bind)
