"""The objects that staged code can reach from the values that its functions know and get."""

from __future__ import annotations

import types
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.pytree.containers import ANY_SET
from np2tf.pytree.registry import SEARCHED_CONTAINERS
from np2tf.runtime.introspection.stored_attributes import wrapped_function
from np2tf.runtime.introspection.user_objects import attributes, is_foreign, is_instance
from np2tf.tnp._array.ndarray import is_array

_LEAVES = (int, float, complex, bool, str, bytes, type(None), np.ndarray, np.generic, tf.Tensor)

_CONTENTS = SEARCHED_CONTAINERS | (ANY_SET,)


class ReachableObjects:
    """The objects that can be reached from some values.

    Attributes:
        instances: the objects that consist of their attributes, in order of discovery.
        other_objects: other user objects that have attributes: functions, classes, objects with storage of
            their own.
    """

    def __init__(self, values: Iterable[Any]) -> None:
        self.instances: list[Any] = []
        self.other_objects: list[Any] = []
        self._ids: set[int] = set()
        stack = list(values)[::-1]
        while stack:
            value = stack.pop()
            if isinstance(value, _LEAVES) or is_array(value) or id(value) in self._ids:
                continue
            self._ids.add(id(value))
            stack += list(self._inside(value))[::-1]

    def _inside(self, value: Any) -> Iterator[Any]:
        """Yield the values inside a value, and record the value if it has attributes."""
        kind = _CONTENTS.find(value)
        if kind is not None:
            yield from kind.items(value)
        elif isinstance(value, types.MethodType):
            yield value.__self__
            yield value.__func__
        elif type(value) is types.FunctionType:
            yield from self._captured_values(value)
        elif isinstance(value, type):
            self.other_objects += [] if is_foreign(value.__module__) else [value]
        elif is_instance(value):
            self.instances.append(value)
            yield from attributes(value).values()
        elif (function := wrapped_function(value)) is not None:
            yield function
        elif hasattr(value, "__dict__") and not _is_foreign(value):
            self.other_objects.append(value)
            yield from vars(value).values()

    def _captured_values(self, function: types.FunctionType) -> Iterator[Any]:
        if not is_foreign(function.__module__):
            self.other_objects.append(function)
        for cell in function.__closure__ or ():
            try:
                yield cell.cell_contents
            except ValueError:  # not bound yet
                continue
        yield from function.__defaults__ or ()
        yield from (function.__kwdefaults__ or {}).values()


def _is_foreign(value: Any) -> bool:
    return isinstance(value, types.ModuleType) or is_foreign(type(value).__module__)
