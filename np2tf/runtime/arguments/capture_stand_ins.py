"""Binds stand-ins for the arrays that a function reads by name, while it is traced.

Stand-ins replace the arrays wherever the code may find them: in globals, closures, defaults, modules,
classes, and in the lists, dicts, tuples and objects there. Two threads may trace functions that read the same
array; the last thread to finish restores it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from np2tf.pytree.containers import TUPLE
from np2tf.pytree.registry import DEEPEST, Registry
from np2tf.runtime.environment.raw_tensors import variables
from np2tf.runtime.introspection.places import Place, entry, own_attribute
from np2tf.runtime.introspection.user_objects import INSTANCE, OBJECTS
from np2tf.runtime.random.stand_in import generator_stand_in
from np2tf.runtime.random.states import is_generator
from np2tf.runtime.structures.array_stand_in import stand_in
from np2tf.staging import HiddenInputError
from np2tf.tnp._array.ndarray import ndarray

#: The depth to which arguments and variables are taken apart (`signature`).
_MAX_DEPTH = DEEPEST + 2


@dataclass
class _Binding:
    """A place that holds a stand-in, or a tuple with stand-ins."""

    place: Place
    before: Any
    stand_in: Any
    traces: int = 0


#: The places that hold stand-ins, for all threads.
_bindings: dict[tuple[int, Any], _Binding] = {}
_lock = threading.RLock()


@contextmanager
def bind_stand_ins(places: Iterable[Place]) -> Iterator[None]:
    """Within the with block, replace arrays by stand-ins in these places, and in the containers found there.

    Raises:
        StagingError: if an array is in a place that cannot be replaced.
    """
    bindings: list[_Binding] = []
    try:
        for place in _places_within(places):
            with _lock:
                _take(place, bindings)
        yield
    finally:
        with _lock:
            for binding in reversed(bindings):
                _give_back(binding)


def _take(place: Place, bindings: list[_Binding]) -> None:
    binding = _bindings.get(place.key)
    if binding is None:
        before = place.value
        replacement = _stand_in_value(before)
        if replacement is before:
            return
        binding = _bindings[place.key] = _Binding(place, before, replacement)
    binding.traces += 1
    bindings.append(binding)
    if binding.traces == 1:
        _bind(place, binding.stand_in)


def _bind(place: Place, value: Any) -> None:
    if place.bind is not None:
        try:
            place.bind(value)
        except (AttributeError, TypeError):
            pass
        else:
            return
    raise HiddenInputError(f"an array is read by a name that cannot be rebound: {place.name}")


def _give_back(binding: _Binding) -> None:
    binding.traces -= 1
    if binding.traces == 0:
        del _bindings[binding.place.key]
        # Other code may have bound the place to a new value meanwhile.
        if binding.place.value is binding.stand_in:
            _bind(binding.place, binding.before)


def _stand_in_value(value: Any) -> Any:
    """Return `value` as traced code must find it: a stand-in for an array or generator, also in tuples."""
    if issubclass(type(value), np.ndarray) or type(value) is ndarray or type(value) in variables:
        return stand_in(value)
    if is_generator(value):
        return generator_stand_in(value)
    return _TUPLES.replace_items(_stand_in_value, value)


_TUPLES = Registry(TUPLE)


def _places_within(places: Iterable[Place]) -> Iterator[Place]:
    """Yield these places, and the places in the lists, dicts and objects that are found there."""
    ids: set[int] = set()
    for place in places:
        value = place.value
        yield place
        yield from _nested_places(value, ids, 0)


def _nested_places(value: Any, seen_ids: set[int], depth: int) -> Iterator[Place]:
    kind = OBJECTS.find(value)
    if depth > _MAX_DEPTH or kind is None:
        return
    if kind.fill is None:
        for item in kind.items(value):
            yield from _nested_places(item, seen_ids, depth + 1)
    elif id(value) not in seen_ids:
        seen_ids.add(id(value))
        place = own_attribute if kind is INSTANCE else entry
        for key, item in list(zip(kind.keys(value), kind.items(value), strict=True)):
            yield place(value, key)
            yield from _nested_places(item, seen_ids, depth + 1)
