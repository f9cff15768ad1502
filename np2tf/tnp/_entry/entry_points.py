"""Entry points of the op library: the functions and methods that translated code calls.

Each entry point can be replaced for a while by a function around it. That is how a report times the calls, at
no cost when there is no report, and how new arrays become float32 by default. Operators and methods of
np.ndarray are NumPy's own, and are not entry points.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

from np2tf.tnp import random
from np2tf.tnp._array.ndarray import ndarray
from np2tf.tnp._dispatch.host_fallback import Make, interceptors
from np2tf.tnp._front.fast_flags import count_interceptors
from np2tf.tnp._methods import operators

#: Methods of arrays that are not operations.
_NO_OPERATIONS = frozenset(
    {"storage_and_chain", "store", "view_through", "move_to", "is_read_only", "numpy", "tobytes", "setflags"}
)
_DUNDERS = frozenset(
    {
        *(f"__{prefix}{name}__" for name in operators._BINARY for prefix in ("", "r", "i")),
        *(f"__{name}__" for name in (*operators._COMPARISON, *operators._UNARY, "getitem", "setitem")),
    }
)


def _methods() -> Iterator[tuple[Any, str, str]]:
    """Yield (owner, attribute, name to show) for every method that is an entry point."""
    for name in vars(ndarray):
        if name in _DUNDERS or not (name.startswith("_") or name in _NO_OPERATIONS):
            yield ndarray, name, f"ndarray.{name}"
    for owner in (random.Generator, random.RandomState):
        for name in vars(owner):
            if not name.startswith("_"):
                yield owner, name, f"{owner.__name__}.{name}"


def replace(make: Make) -> Callable[[], None]:
    """Replace every entry point by `make(name, function)`, and return the function that undoes it."""
    before: list[tuple[Any, str, Any]] = []
    for owner, attribute, name in list(_methods()):
        function = vars(owner)[attribute]
        if type(function) is FunctionType:
            before.append((owner, attribute, function))
            setattr(owner, attribute, make(name, function))
    interceptors.append(make)
    count_interceptors(1)

    def undo() -> None:
        count_interceptors(-1)
        interceptors.remove(make)
        while before:
            setattr(*before.pop())

    return undo
