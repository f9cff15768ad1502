"""What a function reads besides its arguments: globals, closure variables, and those of what it calls.

`np2tf.jit` treats them as further arguments, so that a compiled function never holds on to a value that has
changed.
"""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable, Iterator
from functools import partial
from operator import getitem, setitem
from typing import Any

from np2tf.runtime.instances import (
    ANY_ATTRIBUTE,
    class_members,
    constructors,
    functions_of,
    has_instances,
    is_foreign,
)
from np2tf.runtime.setters import does_more, sets_attribute

#: What prints look up again whenever they print, of `sys` alone.
_STREAMS = frozenset[str](), frozenset({"stdout", "stderr"})


class Reader:
    """One dependency: how to read it, and how to bind it again to what it was.

    Reading raises KeyError, AttributeError or ValueError where it is not bound (yet).
    """

    __slots__ = ("bind", "read")

    def __init__(self, read: Callable[[], Any], bind: Callable[[Any], None] | None = None) -> None:
        self.read = read
        self.bind = bind


class Dependencies:
    """What a function may read, found in its code and in that of everything it may call.

    Attributes:
        readers: one for each global, closure variable, class and module attribute.
        names: every name in the code: an attribute that is not among them is not touched.
    """

    def __init__(self, function: Any) -> None:
        self.readers: list[Reader] = []
        self.names: set[str] = set()
        self._seen: set[int] = set()
        self._classes: dict[type, set[str]] = {}
        self._codes: list[types.CodeType] = []
        self._setters: dict[str, Any] = {}
        self._collect(function)
        self.follow_classes(set())

    @property
    def classes(self) -> set[type]:
        """The classes whose methods have been followed."""
        return set(self._classes)

    @property
    def any_attribute(self) -> bool:
        """Whether the code may touch attributes under names that it computes."""
        return bool(self.names & ANY_ATTRIBUTE)

    @functools.cached_property
    def hidden_setter(self) -> str:
        """An attribute that the code sets by way of a property which does more than that; "" for none."""
        acting = (name for name, setter in self._setters.items() if does_more(setter))
        return next((name for name in acting if sets_attribute(self._codes, name)), "")

    @property
    def handles_exceptions(self) -> bool:
        """Whether the code has handlers, which only the host runs (`np2tf.on_host`)."""
        return "on_host" in self.names

    def follow_classes(self, classes: set[type]) -> None:
        """Add what the methods of the arguments' classes read."""
        known = -1
        for kind in classes:
            self._classes.setdefault(kind, set())
        vars(self).pop("hidden_setter", None)
        while known != len(self.names):
            known = len(self.names)
            for kind, done in list(self._classes.items()):
                self._follow_class(kind, done)

    def _follow_class(self, kind: type, done: set[str]) -> None:
        for base, name, member in class_members(kind, self.names):
            key = f"{base.__qualname__}.{name}"
            if key in done:
                continue
            done.add(key)
            if isinstance(member, property) and member.fset is not None:
                self._setters[name] = member.fset
            functions = list(functions_of(member))
            for function in functions:
                self._collect(function)
            if not functions and not isinstance(
                member, (types.MemberDescriptorType, types.GetSetDescriptorType)
            ):
                # What is plain data must be the same after a trace.
                bind = partial(setattr, base, name) if getattr(base, name, None) is member else None
                self.readers.append(Reader(partial(getattr, base, name), bind))

    def _follow_constructors(self, kind: type) -> None:
        """Add what is read where an object of a class is made."""
        if kind not in self._classes and has_instances(kind):
            self._classes[kind] = set()
            for function in constructors(kind):
                self._collect(function)

    def _collect(self, function: Any) -> None:
        function = getattr(function, "__wrapped__", function)
        if not isinstance(function, types.FunctionType) or id(function) in self._seen:
            return
        self._seen.add(id(function))
        for default in (function.__defaults__ or (), (function.__kwdefaults__ or {}).values()):
            for value in default:
                self.readers.append(Reader(lambda value=value: value))  # type: ignore[misc]
                self._follow(value, None, set())
        self._codes.append(function.__code__)
        names = set(_names(function.__code__))
        self.names |= names
        for cell in function.__closure__ or ():
            self.readers.append(
                Reader(
                    lambda cell=cell: cell.cell_contents,  # type: ignore[misc]
                    lambda value, cell=cell: setattr(cell, "cell_contents", value),  # type: ignore[misc]
                )
            )
            self._follow(_read(self.readers[-1]), names, set())
        space = function.__globals__
        for name in names & space.keys():
            self.readers.append(Reader(partial(getitem, space, name), partial(setitem, space, name)))
            self._follow(space[name], names, set())

    def _follow(self, value: Any, names: set[str] | None, inside: set[int]) -> None:
        if isinstance(value, types.FunctionType) or hasattr(value, "__wrapped__"):
            if not is_foreign(getattr(value, "__module__", None)):
                self._collect(value)
        elif isinstance(value, type):
            self._follow_constructors(value)
        elif (
            isinstance(value, types.ModuleType)
            and names
            and not is_foreign(value.__name__)
            and id(value) not in inside
        ):
            for name in names & vars(value).keys() - _STREAMS[value is sys]:
                self.readers.append(Reader(partial(getattr, value, name), partial(setattr, value, name)))
                self._follow(vars(value)[name], names, inside | {id(value)})


def readers(function: Any) -> list[Reader]:
    """One reader for each global, closure variable and module attribute that `function` may read."""
    return Dependencies(function).readers


def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


def _read(reader: Reader) -> Any:
    try:
        return reader.read()
    except (KeyError, AttributeError, ValueError):
        return None


def current(all_readers: list[Reader]) -> list[Any]:
    """The values of all dependencies now."""
    return [_read(reader) for reader in all_readers]


def bind_again(all_readers: list[Reader], before: list[Any]) -> bool:
    """Bind every dependency to what it was; whether one had been bound to something else."""
    changed = False
    for reader, value in zip(all_readers, before, strict=True):
        if _read(reader) is not value and reader.bind is not None:
            reader.bind(value)
            changed = True
    return changed
