"""The signature of a call: which arguments are arrays, numbers and constants, and a key for comparing calls.

Arrays become inputs of the compiled function. Numbers are first constants, and become inputs when they are
seen to vary. Lists, dicts and objects are taken apart. Every other value is a constant, compared by value if
it is immutable and by identity if it is not.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

import numpy as np

from np2tf.runtime.arguments.captures import Dependencies
from np2tf.runtime.effects.appends import ListIsRead
from np2tf.runtime.introspection.places import Place
from np2tf.runtime.introspection.user_objects import attributes
from np2tf.runtime.random.states import bit_generator, global_state
from np2tf.runtime.structures.array_stand_in import host_value
from np2tf.runtime.structures.constant_sets import key_of_set
from np2tf.tnp._array.strides import order_of_memory


class NumberListPart(NamedTuple):
    """A list of integers or floats among the arguments.

    Attributes:
        values: the list.
        kind: the type of its items.
        part: the place of its length in the key.
        number: the place of its first item among the numbers.
    """

    values: list[Any]
    kind: type
    part: int
    number: int


class Signature:
    """A call's arguments, taken apart.

    Attributes:
        arrays: the arrays, in order of first appearance, each once.
        numbers: the Python and NumPy numbers among the arguments.
        constants: the numbers that are read by name, as keys: they cannot become inputs.
        generators: the random generators, one for each stream.
        changing_numbers: the numbers that are attributes which the code assigns, so that they differ in the
            next call.
        holders: the lists, dicts, objects and generators among the arguments, in order of first appearance.
        classes: the classes of the objects.
        argument_dependencies: the dependencies of the functions among the arguments.
        captures: the places of these dependencies.
        sets: the sets that the function may read.
        number_lists: the arguments that are lists of numbers.
        ragged_places: the places of arrays that are parts of ragged arrays: one code serves all lengths of
            their first axis.
        parts: all other parts of the key, hashable; with the numbers they determine the compiled code.
    """

    __slots__ = (
        "_append_names",
        "_append_targets",
        "_direct_lists",
        "_elsewhere",
        "_holder_places",
        "_in_arguments",
        "_named_places",
        "_names",
        "_naming_depth",
        "_places",
        "_places_of_lists",
        "_shapes",
        "argument_dependencies",
        "arrays",
        "assigned_names",
        "captures",
        "changing_numbers",
        "classes",
        "constants",
        "generators",
        "holders",
        "number_lists",
        "numbers",
        "parts",
        "ragged_places",
        "sets",
    )

    def __init__(
        self,
        names: set[str] | None = None,
        assigned_names: frozenset[str] = frozenset(),
        append_targets: frozenset[str] = frozenset(),
    ) -> None:
        self.assigned_names, self._append_targets = assigned_names, append_targets
        self._append_names: dict[int, str] = {}
        self.arrays: list[Any] = []
        self.numbers: list[Any] = []
        self.changing_numbers: list[int] = []
        self.constants: tuple[Any, ...] = ()
        self.generators: list[Any] = []
        self.holders: list[Any] = []
        self.classes: set[type] = set()
        self.parts: list[Any] = []
        self.argument_dependencies: list[Dependencies] = []
        self.captures: list[Place] = []
        self.sets: list[set[Any]] = []
        self.number_lists: list[NumberListPart] = []
        self.ragged_places: set[int] = set()
        self._places_of_lists: dict[int, int] = {}
        self._direct_lists: set[int] = set()
        self._names = names
        self._places: dict[int, int] = {}
        self._holder_places: dict[int, int] = {}
        self._elsewhere: set[int] = set()
        self._named_places: dict[int, int] = {}
        self._naming_depth = 0
        self._in_arguments = False
        self._shapes: list[int] = []

    def begin_arguments(self) -> None:
        """Begin the arguments: the values taken apart so far are dependencies."""
        self._elsewhere.update(self._holder_places)
        self._holder_places = {}
        self.holders = []
        self._in_arguments = True

    def is_read_by_name(self, holder: Any) -> bool:
        """Return whether an argument is also read as a global or closure variable."""
        return id(holder) in self._elsewhere

    def follows(self, function: Any) -> bool:
        """Return whether the dependencies of a function that an argument may call are known."""
        return any(dependencies.follows(function) for dependencies in self.argument_dependencies)

    @property
    def attributes_are_named(self) -> bool:
        """True if the function reads and writes attributes only by their names."""
        return self._names is not None

    @property
    def key(self) -> tuple[Any, ...]:
        """The key that must be equal for two calls to share code, without the numbers."""
        return tuple(self.parts)

    @property
    def key_without_lengths(self) -> tuple[Any, ...]:
        """Return the key with the ranks of arrays in place of their shapes."""
        parts = list(self.parts)
        for k in self._shapes:
            place, kind, dtype, shape, order = parts[k]
            parts[k] = place, kind, dtype, len(shape), order
        return ("open", *parts)

    @property
    def key_without_list_lengths(self) -> tuple[Any, ...]:
        """Return the key without the shapes of arrays and the lengths of lists of numbers."""
        parts = list(self.key_without_lengths)
        for number_list in self.number_lists:
            parts[1 + number_list.part] = list, number_list.kind
        return ("with lists", *parts)

    @property
    def number_key(self) -> tuple[Any, ...]:
        """The key of the numbers; equal keys mean equal bits."""
        return tuple(map(number_key, self.numbers))

    def add_array(self, value: Any, is_of_any_length: bool = False) -> None:
        """Make an array an input; `is_of_any_length` tells whether its first axis may have any length."""
        identity = _identity(value)
        place = self._places.get(identity)
        if place is None:
            place = self._places[identity] = len(self.arrays)
            self.arrays.append(value)
        shape, order = value.shape, order_of_memory(value)
        if is_of_any_length:
            self.ragged_places.add(place)
            shape = (None, *shape[1:])
        self._shapes.append(len(self.parts))
        self.parts.append((place, type(value), value.dtype, shape, order))

    def note_direct_lists(self, values: Iterable[Any]) -> None:
        """Record which arguments are lists themselves."""
        self._direct_lists = {id(value) for value in values if type(value) is list}

    def may_vary_in_length(self, values: list[Any]) -> bool:
        """Return whether calls with lists of other lengths may share code.

        They may if the list is an argument itself, and is not read by name.
        """
        is_argument = id(values) in self._direct_lists and not self._naming_depth
        return is_argument and id(values) not in self._elsewhere

    def add_number_list(self, values: list[Any], kind: type) -> None:
        """Add an argument that is a list of numbers."""
        self.number_lists.append(NumberListPart(values, kind, len(self.parts), len(self.numbers)))
        self.parts.append((list, len(values), kind))
        self.numbers += values

    def open_lists(self, places: Collection[int]) -> dict[int, int]:
        """Make lists of numbers inputs of their own, in the place of their items.

        Args:
            places: the places of the lists among `number_lists`.

        Returns:
            For each place, the place of the array of the numbers among `arrays`.
        """
        array_places = {}
        for place in sorted(places, reverse=True):
            values, kind, _, first = self.number_lists[place]
            del self.numbers[first : first + len(values)]
            self.changing_numbers = [
                k if k < first else k - len(values)
                for k in self.changing_numbers
                if not first <= k < first + len(values)
            ]
            array_places[place] = self._places_of_lists[id(values)] = len(self.arrays)
            self.arrays.append(np.array(values, np.int64 if kind is int else np.float64))
        return array_places

    @property
    def has_open_lists(self) -> bool:
        """True if lists of numbers are inputs of their own."""
        return bool(self._places_of_lists)

    def place_of_list(self, values: list[Any]) -> int | None:
        """Return the place of the array of a list's numbers among `arrays`; None if there is none."""
        return self._places_of_lists.get(id(values))

    def add_generator(self, value: Any) -> None:
        """Make the state of a generator an input."""
        streams = [bit_generator(generator) for generator in self.generators]
        stream = bit_generator(value)
        place = next((k for k, other_stream in enumerate(streams) if other_stream is stream), len(streams))
        if place == len(streams):
            self.generators.append(value)
        self.parts.append((place, type(value), type(stream), value is global_state()))
        self.note_holder(value)

    def place_of(self, array: Any) -> int:
        """Return the index of an array among `arrays`."""
        return self._places[_identity(array)]

    def begin_names(self) -> None:
        """Begin the values that a function which is part of an argument reads by name.

        The code reads the values by name, so that lists, dicts and objects among them are not the arguments'
        own.
        """
        self._naming_depth += 1

    def end_names(self) -> None:
        """End the values that a function which is part of an argument reads by name."""
        self._naming_depth -= 1

    def note_holder(self, holder: Any) -> bool:
        """Record a list, dict or object, and return whether it is new.

        Raises:
            ListIsRead: if it was recorded as a list of which the code uses only `append`.
        """
        if id(holder) in self._append_names:
            raise ListIsRead(self._append_names[id(holder)])
        if self._naming_depth:
            return self._is_new_name(holder)
        place = self._holder_places.get(id(holder))
        if place is not None:
            self.parts.append(("again", place))
            return False
        if id(holder) in self._elsewhere:
            self.parts.append("by name")
        self._holder_places[id(holder)] = len(self.holders)
        self.holders.append(holder)
        return True

    def only_appends_to(self, name: str, value: Any) -> bool:
        """Return whether the attribute `name` of an argument is a list of which the code uses only `append`.

        If so, the list is recorded as a holder, whatever it contains.

        Raises:
            ListIsRead: if the list was recorded in another way.
        """
        if (
            type(value) is not list
            or name not in self._append_targets
            or self._naming_depth
            or not self._in_arguments
        ):
            return False
        place = self._holder_places.get(id(value))
        if place is None and id(value) not in self._elsewhere:
            self._holder_places[id(value)] = len(self.holders)
            self.holders.append(value)
            self._append_names[id(value)] = name
        elif id(value) not in self._append_names:
            raise ListIsRead(name)
        self.parts.append(("appended", self._holder_places[id(value)]))
        return True

    def appended_as(self, holder: Any) -> str | None:
        """Return the name of the attribute by which the code appends to a list, if it uses it for nothing
        else.
        """
        return self._append_names.get(id(holder))

    def _is_new_name(self, holder: Any) -> bool:
        place = self._named_places.get(id(holder))
        if place is not None:
            self.parts.append(("named again", place))
            return False
        self.parts.append(("named", self._holder_places.get(id(holder))))
        self._named_places[id(holder)] = len(self._named_places)
        self._elsewhere.add(id(holder))
        return True

    def add_set(self, value: Any) -> None:
        """Add a set, which is a constant.

        Raises:
            StagingError: if the function may change it.
        """
        self.parts.append(key_of_set(value, self._names))
        if type(value) is set:
            self.sets.append(value)

    def touched_attributes(self, instance: Any) -> dict[str, Any]:
        """Return the attributes of an object that the function may touch."""
        values = attributes(instance)
        if self._names is None:
            return values
        return {name: value for name, value in values.items() if name in self._names}


def _identity(array: Any) -> int:
    return id(host_value(array))


def number_key(value: Any) -> Any:
    """Return a hashable value that is equal for numbers of the same type and bits."""
    kind = type(value)
    if kind is int:
        return value
    if kind is float:
        return float, value.hex()
    return (kind, value.tobytes()) if isinstance(value, np.generic) else (kind, repr(value))
