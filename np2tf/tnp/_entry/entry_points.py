"""Where calls enter the op library: the functions and methods that translated code calls.

They can be replaced for a while, each by a function around it: that is how a report times them without
costing anything when nobody has asked for one, and how new arrays become float32 by default. What is done to
an np.ndarray by its own operators and methods is NumPy's affair, and enters nowhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

from np2tf.tnp import random
from np2tf.tnp._array.ndarray import ndarray
from np2tf.tnp._entry import routing
from np2tf.tnp._front.fast_flags import count_interceptors
from np2tf.tnp._methods import operators

#: Methods of arrays that are no operations.
_NO_OPERATIONS = frozenset(
    {"storage", "store", "view_through", "move_to", "is_read_only", "numpy", "tobytes", "setflags"}
)
_DUNDERS = frozenset(
    {
        *(f"__{prefix}{name}__" for name in operators._BINARY for prefix in ("", "r", "i")),
        *(f"__{name}__" for name in (*operators._COMPARISON, *operators._UNARY, "getitem", "setitem")),
    }
)


def _methods() -> Iterator[tuple[Any, str, str]]:
    """(owner, attribute, name to show) of every method that enters."""
    for name in vars(ndarray):
        if name in _DUNDERS or not (name.startswith("_") or name in _NO_OPERATIONS):
            yield ndarray, name, f"ndarray.{name}"
    for owner in (random.Generator, random.RandomState):
        for name in vars(owner):
            if not name.startswith("_"):
                yield owner, name, f"{owner.__name__}.{name}"


def replace(make: routing.Make) -> Callable[[], None]:
    """Put `make(name, function)` in the place of every function that is entered; returns what undoes it."""
    before: list[tuple[Any, str, Any]] = []
    for owner, attribute, name in list(_methods()):
        function = vars(owner)[attribute]
        if isinstance(function, FunctionType):
            before.append((owner, attribute, function))
            setattr(owner, attribute, make(name, function))
    routing.interceptors.append(make)
    count_interceptors(1)

    def undo() -> None:
        count_interceptors(-1)
        routing.interceptors.remove(make)
        while before:
            setattr(*before.pop())

    return undo
