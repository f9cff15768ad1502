"""What a call is made of: the kinds of values, which parts are inputs and which constants, and the key of
calls that share code.
"""

from __future__ import annotations

import enum
import functools
import logging
import types
from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from np2tf.arrays.array.layout import order_of_memory
from np2tf.arrays.array.ndarray import is_array, scalar
from np2tf.arrays.front.numpy_functions import Function
from np2tf.arrays.operands.conversion import is_numpy_subclass
from np2tf.arrays.operands.promotion import has_tf_dtype
from np2tf.arrays.ragged import RAGGED, RaggedArray
from np2tf.core.containers import DEEPEST, PARTIAL, SLICE, TUPLE
from np2tf.core.errors import ArgumentError, ArrayClassError, RandomUseError, UnsupportedDtypeError
from np2tf.staging.objects.code_names import is_made_anew
from np2tf.staging.objects.places import Place
from np2tf.staging.objects.user_objects import attributes, is_instance, wrapped_function
from np2tf.staging.process.boundary import variables
from np2tf.staging.random.states import bit_generator, global_state, is_generator
from np2tf.staging.trace.captures import Dependencies, current, dependencies_of, functions_among
from np2tf.staging.values.array_stand_in import host_value
from np2tf.staging.values.number_list import number_type
from np2tf.staging.values.ordered_effects import ListIsRead

# -- constant sets -------------------------------------------------------------------------------------------
# Sets of strings, numbers and tuples of these, which are constants of compiled code, and must not change.

_PLAIN = (str, bytes, bool, type(None), int, float, complex)
#: A larger set is no constant, because its key would be as long.
_MAX_ITEMS = 1000
#: Methods that change a set.
_MUTATORS = frozenset(
    {"add", "clear", "difference_update", "discard", "intersection_update", "pop", "remove"}
    | {"symmetric_difference_update", "update"}
)


def is_constant_set(value: Any) -> bool:
    """Return whether a value is a set of items that are compared by value."""
    return type(value) in (set, frozenset) and len(value) <= _MAX_ITEMS and all(map(_is_plain, value))


def _is_plain(item: Any) -> bool:
    if type(item) is tuple:
        return all(map(_is_plain, item))
    return type(item) in _PLAIN or isinstance(item, (np.generic, enum.Enum))


def key_of_set(value: Any, names: Collection[str] | None) -> Any:
    """Return a part of a key that is equal for sets with the same items in the same order.

    Args:
        names: the names in the code that reads it; None if it may use other names.

    Raises:
        StagingError: if the code may change the set.
    """
    if type(value) is set and (names is None or not _MUTATORS.isdisjoint(names)):
        raise ArgumentError("a set that the function may change cannot be an input of a graph")
    return type(value), tuple(map(_key_of_item, value))


def _key_of_item(item: Any) -> Any:
    if type(item) is tuple:
        return tuple(map(_key_of_item, item))
    return type(item), item.hex() if type(item) is float else repr(item) if type(item) is complex else item


# -- value kinds ---------------------------------------------------------------------------------------------
# The kinds of values that an argument or variable can be: an array, a number, a container, a constant.

_NUMBERS = (int, float, complex, np.number, np.bool_)
_SINGLETONS = (type(None), type(Ellipsis), type(NotImplemented))
BY_VALUE = (str, bytes, bool, *_SINGLETONS, np.dtype, range, tf.DType, enum.Enum)
BY_IDENTITY = (type, types.FunctionType, types.BuiltinFunctionType, types.ModuleType, np.ufunc)
_kinds: dict[type, str] = {}
#: The number of classes to remember, because a program may make classes without end.
_MOST_KINDS = 2000


def kind_of(value: Any) -> str:
    """Return how a value is taken apart; "unknown" if that is impossible."""
    if type(value) is scalar:
        # A scalar may be a known or a staged number.
        return _kind_of(value)
    kind = _kinds.get(type(value))
    if kind is None:
        kind = _kind_of(value)
        of_class = kind not in ("constant", "set", "unknown") or isinstance(value, (*BY_VALUE, *BY_IDENTITY))
        if of_class and not (kind == "tuple" and type(value).__dictoffset__):
            if len(_kinds) >= _MOST_KINDS:
                _kinds.clear()
            _kinds[type(value)] = kind
    return kind


def _kind_of(value: Any) -> str:
    kind = type(value)
    if isinstance(value, enum.Enum):
        return "constant"
    if kind is not bool and isinstance(value, _NUMBERS):
        return "number" if kind in _NUMBERS or isinstance(value, np.generic) else "unknown"
    if is_array(value) or isinstance(value, (np.ndarray, tf.Tensor)) or kind in variables:
        return "array"
    if kind is RaggedArray:
        return "ragged"
    if kind is types.MethodType and not isinstance(value.__self__, type):
        return "method"
    if kind is functools.partial:
        return "partial"
    if kind is logging.Logger:
        return "logger"
    if isinstance(value, (*BY_VALUE, *BY_IDENTITY)) or wrapped_function(value) is not None:
        return "constant"
    if kind is list or kind is dict or kind is slice:
        return kind.__name__
    if isinstance(value, tuple):
        # A trace would lose the attributes of a tuple, which it makes again from the items.
        return "unknown" if getattr(value, "__dict__", None) else "tuple"
    if is_generator(value):
        return "generator"
    if is_constant_set(value):
        return "set"
    return "instance" if is_instance(value) else "unknown"


#: Kinds of values that hold other values, and do not change.
IMMUTABLE = {"tuple": TUPLE, "slice": SLICE, "partial": PARTIAL, "ragged": RAGGED}


# -- signature -----------------------------------------------------------------------------------------------
# The signature of a call: which arguments are arrays, numbers and constants, and a key for comparing calls.
#
# Arrays become inputs of the compiled function. Numbers are first constants, and become inputs when they
# are seen to vary. Lists, dicts and objects are taken apart. Every other value is a constant, compared by
# value if it is immutable and by identity if it is not.


class NumberListPart(NamedTuple):
    """A list of integers or floats among the arguments.

    Attributes:
        kind: the type of its items.
        part: the place of its length in the key.
        number: the place of its first item among the numbers.
    """

    values: list[Any]
    kind: type
    part: int
    number: int


class Holders:
    """The lists, dicts, objects and generators of a call, which are taken apart once each.

    Attributes:
        of_arguments: those among the arguments, in order of first appearance.
        naming_depth: more than 0 among the values that a function which is part of an argument reads by name:
            lists, dicts and objects among them are not the arguments' own.

    Args:
        parts: the parts of the call's key.
        append_targets: the attributes that may be lists of which the code uses only `append`.
    """

    def __init__(self, parts: list[Any], append_targets: frozenset[str]) -> None:
        self._parts, self._append_targets = parts, append_targets
        self.of_arguments: list[Any] = []
        self.naming_depth = 0
        self._places: dict[int, int] = {}
        self._elsewhere: set[int] = set()
        self._named_places: dict[int, int] = {}
        self._append_names: dict[int, str] = {}
        self._in_arguments = False

    def begin_arguments(self) -> None:
        """Begin the arguments: the values taken apart so far are dependencies."""
        self._elsewhere.update(self._places)
        self._places = {}
        self.of_arguments = []
        self._in_arguments = True

    def is_read_by_name(self, holder: Any) -> bool:
        """Return whether an argument is also read as a global or closure variable."""
        return id(holder) in self._elsewhere

    def note(self, holder: Any) -> bool:
        """Record a list, dict or object, and return whether it is new.

        Raises:
            ListIsRead: if it was recorded as a list of which the code uses only `append`.
        """
        if id(holder) in self._append_names:
            raise ListIsRead(self._append_names[id(holder)])
        if self.naming_depth:
            return self._is_new_name(holder)
        place = self._places.get(id(holder))
        if place is not None:
            self._parts.append(("again", place))
            return False
        if id(holder) in self._elsewhere:
            self._parts.append("by name")
        self._places[id(holder)] = len(self.of_arguments)
        self.of_arguments.append(holder)
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
            or self.naming_depth
            or not self._in_arguments
        ):
            return False
        place = self._places.get(id(value))
        if place is None and id(value) not in self._elsewhere:
            self._places[id(value)] = len(self.of_arguments)
            self.of_arguments.append(value)
            self._append_names[id(value)] = name
        elif id(value) not in self._append_names:
            raise ListIsRead(name)
        self._parts.append(("appended", self._places[id(value)]))
        return True

    def appended_as(self, holder: Any) -> str | None:
        """Return the name of the attribute by which the code appends to a list, if it uses it for nothing
        else.
        """
        return self._append_names.get(id(holder))

    def _is_new_name(self, holder: Any) -> bool:
        place = self._named_places.get(id(holder))
        if place is not None:
            self._parts.append(("named again", place))
            return False
        self._parts.append(("named", self._places.get(id(holder))))
        self._named_places[id(holder)] = len(self._named_places)
        self._elsewhere.add(id(holder))
        return True


class Signature:
    """A call's arguments, taken apart.

    Attributes:
        arrays: the arrays, in order of first appearance, each once.
        numbers: the Python and NumPy numbers among the arguments.
        constants: the numbers that are read by name, as keys: they cannot become inputs.
        generators: the random generators, one for each stream.
        changing_numbers: the numbers that are attributes which the code assigns, so that they differ in the
            next call.
        argument_dependencies: the dependencies of the functions among the arguments.
        captures: the places of these dependencies.
        sets: the sets that the function may read.
        number_lists: the arguments that are lists of numbers.
        ragged_places: the places of arrays that are parts of ragged arrays: one code serves all lengths of
            their first axis.
        parts: all other parts of the key, hashable; with the numbers they determine the compiled code.
    """

    def __init__(
        self,
        names: set[str] | None = None,
        assigned_names: frozenset[str] = frozenset(),
        append_targets: frozenset[str] = frozenset(),
    ) -> None:
        self.assigned_names = assigned_names
        self.arrays: list[Any] = []
        self.numbers: list[Any] = []
        self.changing_numbers: list[int] = []
        self.constants: tuple[Any, ...] = ()
        self.generators: list[Any] = []
        self.classes: set[type] = set()
        self.parts: list[Any] = []
        self.holders = Holders(self.parts, append_targets)
        self.argument_dependencies: list[Dependencies] = []
        self.captures: list[Place] = []
        self.sets: list[set[Any]] = []
        self.number_lists: list[NumberListPart] = []
        self.ragged_places: set[int] = set()
        self._places_of_lists: dict[int, int] = {}
        self._direct_lists: set[int] = set()
        self._names = names
        self._places: dict[int, int] = {}
        self._shapes: list[int] = []

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
        is_argument = id(values) in self._direct_lists and not self.holders.naming_depth
        return is_argument and not self.holders.is_read_by_name(values)

    def add_number_list(self, values: list[Any], kind: type) -> None:
        """Add an argument that is a list of numbers."""
        self.number_lists.append(NumberListPart(values, kind, len(self.parts), len(self.numbers)))
        self.parts.append((list, len(values), kind))
        self.numbers += values

    def open_lists(self, places: Collection[int]) -> dict[int, int]:
        """Make these `number_lists` inputs instead of their items; return each one's place among `arrays`."""
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
        self.holders.note(value)

    def place_of(self, array: Any) -> int:
        """Return the index of an array among `arrays`."""
        return self._places[_identity(array)]

    def add_set(self, value: Any) -> None:
        """Add a set, which is a constant; refuse one that the function may change."""
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


# -- flattening ----------------------------------------------------------------------------------------------
# Divides arguments and variables: arrays, numbers, constants and containers go to a `Signature`.


def take_arguments(
    args: tuple[Any, ...], kwargs: dict[str, Any], changing_places: Collection[int], signature: Signature
) -> None:
    """Add the arguments of a call to the signature; `changing_places` has the places of numbers that are
    inputs.
    """
    signature.parts.append(len(args))
    signature.note_direct_lists((*args, *kwargs.values()))
    for place, value in enumerate(args):
        if place in changing_places and kind_of(value) == "number":
            signature.changing_numbers.append(len(signature.numbers))
        take_apart(value, signature, 1)
    take_apart(kwargs, signature, 1)


def take_apart(value: Any, signature: Signature, depth: int = 0) -> None:
    """Add `value` to the signature; refuse a value whose changes np2tf could not notice."""
    # Another thread that is tracing may have bound it to a stand-in.
    value = host_value(value)
    kind = kind_of(value)
    if kind == "array":
        _take_array(value, signature)
    elif kind == "number":
        signature.numbers.append(value)
        signature.parts.append(type(value))
    elif kind == "constant":
        _take_constant(value, signature, depth)
    elif kind == "generator":
        signature.add_generator(value)
    elif kind == "set":
        signature.add_set(value)
    elif depth > DEEPEST:
        raise ArgumentError("an argument is nested too deeply")
    elif kind == "unknown":
        name = type(value).__qualname__
        raise ArgumentError(f"an argument or variable of type {name} cannot be an input of a graph")
    elif kind == "ragged":
        signature.parts.append(RAGGED.outline_of(value))
        for part in RAGGED.items(value):
            signature.add_array(part, is_of_any_length=True)
    elif kind in IMMUTABLE:
        container = IMMUTABLE[kind]
        signature.parts.append(container.outline_of(value))
        for item in container.items(value):
            take_apart(item, signature, depth + 1)
    elif kind == "logger":
        # The trace finds out whether a record is due.
        signature.parts.append((value, value.getEffectiveLevel(), value.disabled, value.manager.disable))
    elif kind == "method":
        _take_constant(value.__func__, signature, depth)
        take_apart(value.__self__, signature, depth + 1)
    elif signature.holders.note(value):
        _take_holder(value, kind, signature, depth)


def _take_constant(value: Any, signature: Signature, depth: int) -> None:
    signature.parts.append((type(value), _function_key(value)))
    if isinstance(value, enum.Enum):
        signature.classes.add(type(value))
    elif not isinstance(value, BY_VALUE):
        dependencies = dependencies_of(value)
        values = current(dependencies.captures)
        signature.argument_dependencies.append(dependencies)
        signature.captures += dependencies.captures
        signature.parts += functions_among(values)
        signature.holders.naming_depth += 1
        take_dependencies(values, signature, depth + 1)
        signature.holders.naming_depth -= 1


def _function_key(value: Any) -> Any:
    """Return a function as a part of a key.

    Its dependencies are in the key. If the function is made anew for each call, its code identifies it.
    """
    if type(value) is types.FunctionType and is_made_anew(value):
        return value.__code__, id(value.__globals__)
    return value


def _take_holder(value: Any, kind: str, signature: Signature, depth: int) -> None:
    if kind == "list":
        number_kind = number_type(value) if signature.may_vary_in_length(value) else None
        if number_kind is not None:
            signature.add_number_list(value, number_kind)
            return
        signature.parts.append((list, len(value)))
        for item in value:
            take_apart(item, signature, depth + 1)
        return
    entries = value if kind == "dict" else signature.touched_attributes(value)
    signature.parts.append((type(value), tuple(entries)))
    if kind == "instance":
        signature.classes.add(type(value))
    for name, item in entries.items():
        if kind == "instance" and name in signature.assigned_names and kind_of(item) == "number":
            signature.changing_numbers.append(len(signature.numbers))
        if kind != "instance" or not signature.holders.only_appends_to(name, item):
            take_apart(item, signature, depth + 1)


def take_dependencies(values: Sequence[Any], signature: Signature, depth: int = 0) -> None:
    """Add the values that a function reads besides its arguments: arrays as inputs, all other values as
    constants.
    """
    start = len(signature.numbers)
    for value in values:
        if isinstance(value, types.MethodType) and not isinstance(value.__self__, type):
            signature.parts.append(value.__func__)
            value = value.__self__
            if is_generator(value):
                raise RandomUseError("it draws by a method that is read by name")
        if not _is_opaque(value):
            take_apart(value, signature, depth)
        elif isinstance(value, _BY_NAME):
            signature.parts.append(value)
    # The code reads these numbers by name, so they cannot become inputs.
    signature.constants += tuple(map(number_key, signature.numbers[start:]))
    del signature.numbers[start:]
    signature.changing_numbers = [k for k in signature.changing_numbers if k < start]


#: Functions without dependencies, and modules. A trace keeps the objects that it has met under the names,
#: so they are parts of the key: `activation = np.tanh` may become `activation = np.sin`.
_BY_NAME = (types.ModuleType, types.BuiltinFunctionType, np.ufunc, type(np.sum), Function)


def _is_opaque(value: Any) -> bool:
    """Return whether a value is a class, function or module, whose dependencies `captures` follows."""
    if isinstance(value, BY_IDENTITY) or wrapped_function(value) is not None:
        return True
    module = type(value).__module__
    if module.startswith("scipy.stats._"):  # a probability distribution
        return True
    is_of_a_library = module.split(".")[0] in ("np2tf", "numpy", "typing")
    return is_of_a_library and not is_array(value) and callable(value)


def _take_array(value: Any, signature: Signature) -> None:
    if is_numpy_subclass(value):
        raise ArrayClassError(f"an array of class {type(value).__name__}, for NumPy")
    dtype = value.dtype
    if not has_tf_dtype(np.dtype(dtype.as_numpy_dtype if isinstance(dtype, tf.DType) else dtype)):
        raise UnsupportedDtypeError.of(dtype=dtype)
    if type(value) is scalar and value.weak is not None:
        raise ArgumentError("a traced number is used outside its trace")
    signature.add_array(value)
