"""What a function reads besides its arguments: globals, closure variables, and those of what it calls.

`np2tf.jit` treats them as further arguments, so that a compiled function never holds on to a value that has
changed.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from functools import partial
from operator import getitem, setitem
from typing import Any

_FOREIGN_PREFIXES = (
    "np2tf",
    "numpy",
    "tensorflow",
    "keras",
    "builtins",
    "math",
    "cmath",
    "functools",
    "itertools",
)


class Reader:
    """One dependency: how to read it, and how to bind it again to what it was.

    Reading raises KeyError, AttributeError or ValueError where it is not bound (yet).
    """

    __slots__ = ("bind", "read")

    def __init__(self, read: Callable[[], Any], bind: Callable[[Any], None] | None = None) -> None:
        self.read = read
        self.bind = bind


def readers(function: Any) -> list[Reader]:
    """One reader for each global, closure variable and module attribute that `function` may read."""
    found: list[Reader] = []
    _collect(function, found, set())
    return found


def _collect(function: Any, found: list[Reader], seen: set[int]) -> None:
    function = getattr(function, "__wrapped__", function)
    if not isinstance(function, types.FunctionType) or id(function) in seen:
        return
    seen.add(id(function))
    for default in (function.__defaults__ or (), (function.__kwdefaults__ or {}).values()):
        for value in default:
            found.append(Reader(lambda value=value: value))  # type: ignore[misc]
            _follow(value, None, found, seen, set())
    names = set(_names(function.__code__))
    for cell in function.__closure__ or ():
        found.append(
            Reader(
                lambda cell=cell: cell.cell_contents,  # type: ignore[misc]
                lambda value, cell=cell: setattr(cell, "cell_contents", value),  # type: ignore[misc]
            )
        )
        _follow(_read(found[-1]), names, found, seen, set())
    for name in names & function.__globals__.keys():
        space = function.__globals__
        found.append(Reader(partial(getitem, space, name), partial(setitem, space, name)))
        _follow(function.__globals__[name], names, found, seen, set())


def _follow(
    value: Any, names: set[str] | None, found: list[Reader], seen: set[int], inside: set[int]
) -> None:
    if isinstance(value, types.FunctionType) or hasattr(value, "__wrapped__"):
        if not _is_foreign(getattr(value, "__module__", None)):
            _collect(value, found, seen)
    elif (
        isinstance(value, types.ModuleType)
        and names
        and not _is_foreign(value.__name__)
        and id(value) not in inside
    ):
        for name in names & vars(value).keys():
            found.append(Reader(partial(getattr, value, name), partial(setattr, value, name)))
            _follow(vars(value)[name], names, found, seen, inside | {id(value)})


def _is_foreign(module: str | None) -> bool:
    return module is not None and module.split(".")[0] in _FOREIGN_PREFIXES


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
