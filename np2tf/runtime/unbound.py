"""Names that are not bound: the value that stands for one in translated code, staged or not."""

from __future__ import annotations

from typing import Any


class Undefined:
    """The value of a name that is not bound (yet); any use of it raises UnboundLocalError."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"undefined({self.name!r})"


def _refuse(self: Undefined, *args: Any) -> Any:
    raise UnboundLocalError(
        f"cannot access local variable '{self.name}' where it is not associated with a value"
    )


_USES = (
    "bool int float index len iter getitem setitem call add radd sub rsub mul rmul truediv rtruediv pow neg "
    "lt le gt ge matmul array"
)
for _name in _USES.split():
    setattr(Undefined, f"__{_name}__", _refuse)


def undefined(name: str) -> Any:
    """The value of a name that is not bound yet; using it raises UnboundLocalError."""
    return Undefined(name)


def bound(result: Any) -> Any:
    """A function's result, which cannot be a name that was never bound.

    Raises:
        UnboundLocalError: as Python does.
    """
    if type(result) is Undefined:
        bool(result)
    elif type(result) is tuple:
        for item in result:
            bound(item)
    return result
