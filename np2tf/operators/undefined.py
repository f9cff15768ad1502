"""Unbound names: the value that stands for an unbound name in translated code, staged or not."""

from __future__ import annotations

import sys
from typing import Any


class Undefined:
    """The value of a name that is not bound (yet); any use of it raises UnboundLocalError."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __getattr__(self, attribute: str) -> Any:
        """Refuse the attributes that programs use; protocols look up names with underscores, which do not
        exist.
        """
        if attribute.startswith("_"):
            raise AttributeError(attribute)
        return _refuse(self)

    def __repr__(self) -> str:
        return f"undefined({self.name!r})"


#: The message of Python itself, which changed with Python 3.11.
_MESSAGE = (
    "cannot access local variable '{}' where it is not associated with a value"
    if sys.version_info >= (3, 11)
    else "local variable '{}' referenced before assignment"
)


def _refuse(self: Undefined, *args: Any) -> Any:
    raise UnboundLocalError(_MESSAGE.format(self.name))


_UNARY = (
    "bool int float complex index len iter next reversed contains getitem setitem delitem call array neg pos "
    "abs invert round trunc floor ceil lt le gt ge eq ne format str enter exit"
)
#: Operators of two operands, which have a reflected and an in-place form.
_BINARY = "add sub mul matmul truediv floordiv mod pow lshift rshift and xor or"
_USES = (
    *(*_UNARY.split(), "divmod", "rdivmod"),
    *(form + name for name in _BINARY.split() for form in ("", "r", "i")),
)
for _name in _USES:
    setattr(Undefined, f"__{_name}__", _refuse)
Undefined.__hash__ = object.__hash__  # type: ignore[method-assign]


def undefined(name: str) -> Any:
    """Return the value of a name that is not bound yet.

    Args:
        name: the name of the variable.

    Returns:
        An object whose use raises UnboundLocalError. In compiled code its use discards the call.

    See https://docs.python.org/3/library/exceptions.html#UnboundLocalError.
    """
    return Undefined(name)


def check_bound(result: Any) -> Any:
    """Return a function's result, which must not be or contain an unbound name.

    Raises:
        UnboundLocalError: as Python does.
    """
    kind = type(result)
    if kind is Undefined:
        bool(result)
    elif kind is tuple:
        for item in result:
            check_bound(item)
    elif kind is dict or kind is list:
        # The result may be a display of names; deeper containers may be long, or hold themselves.
        items = result.values() if kind is dict else result
        if Undefined in set(map(type, items)):
            check_bound(tuple(item for item in items if type(item) is Undefined))
    return result
