"""Binding stand-ins for the arrays that a function reads by name, for as long as it is traced.

They take the places of the arrays wherever the code may find these: in globals, closures, defaults, modules,
classes, and in the lists, dicts, tuples and objects there. Two threads may trace functions that read the same
array: the last to end puts it back.
"""

from __future__ import annotations

import threading
import types
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from np2tf.runtime.environment.raw_tensors import variables
from np2tf.runtime.introspection.places import Place, entry, own_attribute
from np2tf.runtime.introspection.user_objects import attributes, is_instance
from np2tf.runtime.random.stand_in import generator_stand_in
from np2tf.runtime.random.states import is_generator
from np2tf.runtime.structures.array_stand_in import stand_in
from np2tf.staging import HiddenInputError
from np2tf.tnp._array.ndarray import ndarray

#: Deeper than this no argument or variable is taken apart (`signature`).
_MAX_DEPTH = 14


@dataclass
class _Binding:
    """A place where a stand-in is, or a tuple with stand-ins."""

    place: Place
    before: Any
    shown: Any
    traces: int = 0


#: The places where stand-ins are, for all threads.
_bound: dict[tuple[int, Any], _Binding] = {}
_lock = threading.RLock()


@contextmanager
def bind_stand_ins(places: Iterable[Place]) -> Iterator[None]:
    """Within the with block, stand-ins are where arrays are: in these places, and in what is found there.

    Raises:
        StagingError: an array is where nothing can be replaced.
    """
    taken: list[_Binding] = []
    try:
        for place in _places_within(places):
            with _lock:
                _take(place, taken)
        yield
    finally:
        with _lock:
            for one in reversed(taken):
                _give_back(one)


def _take(place: Place, taken: list[_Binding]) -> None:
    known = _bound.get(place.key)
    if known is None:
        before = place.value
        shown = _stand_in_value(before)
        if shown is before:
            return
        known = _bound[place.key] = _Binding(place, before, shown)
    known.traces += 1
    taken.append(known)
    if known.traces == 1:
        _bind(place, known.shown)


def _bind(place: Place, value: Any) -> None:
    if place.bind is not None:
        try:
            place.bind(value)
        except (AttributeError, TypeError):
            pass
        else:
            return
    raise HiddenInputError(f"an array is read by a name that cannot be rebound: {place.name}")


def _give_back(one: _Binding) -> None:
    one.traces -= 1
    if one.traces == 0:
        del _bound[one.place.key]
        # Somebody else may have bound it to something new meanwhile.
        if one.place.value is one.shown:
            _bind(one.place, one.before)


def _stand_in_value(value: Any) -> Any:
    """`value` as traced code is to find it: a stand-in for an array or generator, also in tuples."""
    if issubclass(type(value), np.ndarray) or type(value) is ndarray or type(value) in variables:
        return stand_in(value)
    if is_generator(value):
        return generator_stand_in(value)
    if isinstance(value, tuple):
        items = list(map(_stand_in_value, value))
        if any(new is not old for new, old in zip(items, value, strict=True)):
            return tuple(items) if type(value) is tuple else type(value)(*items)
    return value


def _places_within(places: Iterable[Place]) -> Iterator[Place]:
    """These places, and those in the lists, dicts and objects that are found there."""
    seen: set[int] = set()
    for place in places:
        value = place.value
        yield place
        yield from _nested_places(value, seen, 0)


def _nested_places(value: Any, seen: set[int], depth: int) -> Iterator[Place]:
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, tuple):
        for item in value:
            yield from _nested_places(item, seen, depth + 1)
        return
    if isinstance(value, types.MethodType):
        yield from _nested_places(value.__self__, seen, depth + 1)
        return
    held = _contents(value)
    if held is None or id(value) in seen:
        return
    seen.add(id(value))
    for place, item in held:
        yield place
        yield from _nested_places(item, seen, depth + 1)


def _contents(value: Any) -> list[tuple[Place, Any]] | None:
    """What a list, dict or object holds, and where; None for what is none of these."""
    if type(value) is list:
        return [(entry(value, k), item) for k, item in enumerate(value)]
    if type(value) is dict:
        return [(entry(value, key), item) for key, item in list(value.items())]
    if is_instance(value):
        return [(own_attribute(value, name), item) for name, item in attributes(value).items()]
    return None
