"""The arguments as one trace sees them, and the changes that the staged function makes in them.

The caller's lists, dicts and objects are no tensors. The staged function gets copies of them, with staged
arrays and numbers inside. Its changes in a copy become results of the compiled code, and every call makes the
changes in the caller's own objects (`write_back`).
"""

from __future__ import annotations

import types
from collections.abc import Iterator, Sequence
from typing import Any

from np2tf.core.containers import DICT, LIST, SLICE, STRUCTURES
from np2tf.core.errors import AliasingError, AttributeChangeError, ReturnedValueError
from np2tf.staging.objects.code_names import is_made_anew
from np2tf.staging.objects.user_objects import assign, attributes, new_instance_of, with_attributes
from np2tf.staging.random.streams import generator_stand_in
from np2tf.staging.trace.signature import IMMUTABLE, Signature, kind_of
from np2tf.staging.trace.write_back import ArgumentRef, NewItems, NewObject, Outcome
from np2tf.staging.values.array_stand_in import StandIn, host_value
from np2tf.staging.values.number_list import NumberList
from np2tf.staging.values.ordered_effects import AppendedList


class TracedArguments:
    """The staged counterparts of a call's arguments."""

    def __init__(self, signature: Signature, arrays: Sequence[Any], numbers: Sequence[Any]) -> None:
        self._signature = signature
        self._arrays = arrays
        self._numbers = iter(numbers)
        self._objects: dict[int, Any] = {}
        self._twins: list[Any] = []
        self._before: list[Any] = []
        self._place: dict[int, int] = {}
        self._by_name: list[bool] = []
        self._new: dict[int, int] = {}

    @property
    def instances(self) -> list[Any]:
        """The counterparts of objects."""
        return [twin for twin in self._twins if kind_of(twin) == "instance"]

    def of(self, value: Any) -> Any:
        """Return the counterpart of an argument; each part is requested once, in the order of the
        signature.
        """
        kind = kind_of(value)
        if kind == "array":
            return self._arrays[self._signature.place_of(value)]
        if kind == "number":
            return next(self._numbers)
        if kind in IMMUTABLE:
            container = IMMUTABLE[kind]
            return container.builder(value)([self.of(item) for item in container.items(value)])
        if kind == "method":
            return self._method(value)
        if kind not in ("list", "dict", "instance", "generator"):
            return value
        if id(value) not in self._objects:
            self._make(value, kind)
        return self._objects[id(value)]

    def _method(self, method: types.MethodType) -> Any:
        owner = self.of(method.__self__)
        # A generator's methods are machine code, which reads the memory of its object.
        drawing = kind_of(method.__self__) == "generator"
        return getattr(owner, method.__name__) if drawing else types.MethodType(method.__func__, owner)

    def _make(self, value: Any, kind: str) -> None:
        attribute = self._signature.holders.appended_as(value)
        array_place = self._signature.place_of_list(value)
        twin: Any
        if array_place is not None:
            twin = NumberList(self._arrays[array_place])
        elif attribute is not None:
            twin = AppendedList(len(self._twins), attribute)
        elif kind == "generator":
            twin = generator_stand_in(value)
        else:
            twin = with_attributes(type(value), {}) if kind == "instance" else type(value)()
        self._objects[id(value)] = twin
        place = self._place[id(twin)] = len(self._twins)
        self._twins.append(twin)
        self._before.append(None)
        self._by_name.append(self._signature.holders.is_read_by_name(value))
        if type(twin) is list:
            twin.extend([self.of(item) for item in value])
        elif kind in ("dict", "instance"):
            entries = value if kind == "dict" else self._signature.touched_attributes(value)
            contents = {key: self.of(item) for key, item in entries.items()}
            twin.update(contents) if kind == "dict" else assign(twin, contents)
        self._before[place] = _contents(twin)

    def outcome(self, result: Any) -> Outcome:
        """Return the function's result and changes; refuse an object that exists only while it is staged."""
        changes: dict[int, Any] = {}
        for place, (twin, before) in enumerate(zip(self._twins, self._before, strict=True)):
            now = _contents(twin)
            if same_contents(now, before):
                continue
            if self._by_name[place]:
                raise AliasingError("the function changes an argument that is also a global or closure name")
            if kind_of(twin) == "instance":
                missing_names = before.keys() - now.keys()
                if missing_names:
                    raise AttributeChangeError.of(name=min(missing_names))
                now = {name: value for name, value in now.items() if value is not before.get(name, _NO_VALUE)}
            else:
                now = _new_items(before, now)
            changes[place] = self._replace_arguments(now)
        return Outcome(self._replace_arguments(result), changes)

    def _replace_arguments(self, value: Any, depth: int = 0) -> Any:
        place = self._place.get(id(value))
        if place is not None:
            return ArgumentRef(place)
        kind_of_value = kind_of(value)
        if kind_of_value in ("list", "dict", "tuple"):
            return STRUCTURES.map_items(lambda item: self._replace_arguments(item, depth + 1), value)
        if kind_of_value == "instance":
            kind = new_instance_of(value, depth)
            state = {
                name: self._replace_arguments(item, depth + 1) for name, item in attributes(value).items()
            }
            return NewObject(self._new.setdefault(id(value), len(self._new)), kind, state)
        if type(value) is NumberList:
            raise ReturnedValueError("compiled code returns a part of a list whose length varies")
        if type(value) is not StandIn and host_value(value) is not value:
            raise ReturnedValueError("compiled code returns a generator that it made, or a global one")
        if type(value) is slice and any(
            type(item).__module__ in _NUMBER_MODULES for item in SLICE.items(value)
        ):
            raise ReturnedValueError("compiled code returns a slice of numbers that vary")
        if isinstance(value, (Iterator, set, frozenset)) or _is_inner_function(value):
            raise ReturnedValueError(f"compiled code returns a {type(value).__name__}")
        return value


_NO_VALUE = object()
#: The modules of the classes of staged numbers.
_NUMBER_MODULES = frozenset(
    {
        "np2tf.arrays.array.ndarray",
        "np2tf.arrays.operands.staged_numbers",
        "np2tf.staging.values.array_stand_in",
    }
)


def _is_inner_function(value: Any) -> bool:
    return type(value) is types.FunctionType and is_made_anew(value)


def _contents(twin: Any) -> Any:
    if type(twin) is list:
        return list(twin)
    if type(twin) in (AppendedList, NumberList) or host_value(twin) is not twin:
        return []
    return dict(twin) if type(twin) is dict else attributes(twin)


def _new_items(before: Any, now: Any) -> Any:
    """Return the changes of a list or dict as new items, or all its items if some were removed or moved."""
    if type(now) is list:
        if len(now) < len(before):
            return now
        changed = {k: item for k, item in enumerate(now[: len(before)]) if item is not before[k]}
        return NewItems(changed, now[len(before) :])
    if list(now)[: len(before)] != list(before):
        return now
    return NewItems({key: item for key, item in now.items() if item is not before.get(key, _NO_VALUE)}, [])


def same_contents(a: Any, b: Any) -> bool:
    """Return whether two lists or dicts hold the same objects, in the same order."""
    return (DICT if type(a) is dict else LIST).has_items_of(a, b)
