"""The objects to which the names of arrays are bound while a function that reads them is traced.

A `StandIn` is the traced array to the thread that traces, and NumPy's array to every other thread, which
continues to read the same globals. Its class is not derived from np.ndarray: C code (np.asarray, LAPACK)
would read the memory of such an array directly, and a trace would freeze its contents in the graph. From a
stand-in C code must request the memory, by `__array__` or the like.
"""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
import tensorflow as tf

from np2tf.arrays.tensors.storage import StandInBase, current_scope
from np2tf.core.containers import DISPLAYS


class StandIn(StandInBase):
    """Stands for a NumPy array; each thread sees the array that it may see (see `array_stand_in`)."""

    __slots__ = ("__weakref__", "_np2tf_buffer")

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, buffer: np.ndarray) -> None:
        object.__setattr__(self, "_np2tf_buffer", buffer)

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """The class np.ndarray, for ``isinstance``, because both possible arrays count as that."""
        return np.ndarray

    def __getattr__(self, name: str) -> Any:
        return getattr(resolve(self), name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(resolve(self), name, value)

    def __delattr__(self, name: str) -> None:
        delattr(resolve(self), name)

    def resolve(self) -> Any:
        """Return the array of the trace in this thread; the NumPy array if the thread is not tracing.

        Raises:
            StagingError: if the NumPy array is no input of the trace.
        """
        return resolve(self)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Apply NumPy's ufunc to the arrays that this thread sees."""
        return getattr(ufunc, method)(*_resolve_all(inputs), **_resolve_all(kwargs))

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Call NumPy's function with the arrays that this thread sees."""
        return function(*_resolve_all(args), **_resolve_all(kwargs))

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> tf.Tensor:
        """Return TensorFlow's tensor for the array that this thread sees."""
        return tf.convert_to_tensor(resolve(self), dtype, name=name)


def resolve(value: Any) -> Any:
    """Return `value`; for a stand-in, the array that it is in this thread, as its `resolve` does."""
    if type(value) is not StandIn:
        return value
    scope = current_scope()
    return value._np2tf_buffer if scope is None else scope.trace.array_of(value._np2tf_buffer)


#: The classes of stand-ins for NumPy objects while a function is traced.
STAND_INS: set[type] = {StandIn}


def host_value(value: Any) -> Any:
    """Return `value`; for a stand-in, the NumPy array or generator that it stands for."""
    return value._np2tf_buffer if type(value) in STAND_INS else value


def _resolve_all(value: Any) -> Any:
    return DISPLAYS.map_items(_resolve_all, resolve(value))


#: The stand-ins by the ids of their objects: an array under two names is one object while it is traced.
_stand_ins: WeakValueDictionary[int, Any] = WeakValueDictionary()
_lock = threading.Lock()


def stand_in(value: Any, kind: Callable[[Any], Any] = StandIn) -> Any:
    """Return the single stand-in for an array or generator; it keeps the object, and so its id, alive."""
    with _lock:
        instance = _stand_ins.get(id(value))
        if instance is None:
            instance = _stand_ins[id(value)] = kind(value)
        return instance


# -- Python's protocols, which ask the class -----------------------------------------------------------------

#: These methods make or describe classes and objects, or are defined above.
_OWN_METHODS = frozenset({
    *("__class__", "__class_getitem__", "__delattr__", "__doc__", "__getattribute__", "__hash__", "__init__"),
    *("__init_subclass__", "__new__", "__setattr__", "__subclasshook__", "__array_finalize__"),
    *vars(StandIn),
})  # fmt: skip


def _forward_method(name: str) -> Callable[..., Any]:
    """Return a method that calls the method of the array that this thread sees."""

    def method(self: StandIn, *args: Any, **kwargs: Any) -> Any:
        return getattr(resolve(self), name)(*map(resolve, args), **kwargs)

    return method


def _forward_in_place(name: str) -> Callable[..., Any]:
    """Return a method for ``x += y``, after which the name stays bound to the stand-in."""
    update = getattr(operator, name)

    def method(self: StandIn, operand: Any) -> Any:
        target = resolve(self)
        result = update(target, resolve(operand))
        return self if result is target else result

    return method


def _install() -> None:
    for name in dir(np.ndarray):
        special = name.startswith("__") and name.endswith("__")
        if special and name not in _OWN_METHODS and callable(getattr(np.ndarray, name)):
            in_place = name[2] == "i" and f"__{name[3:]}" in dir(np.ndarray) and hasattr(operator, name)
            setattr(StandIn, name, _forward_in_place(name) if in_place else _forward_method(name))


_install()
