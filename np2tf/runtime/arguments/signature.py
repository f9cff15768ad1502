"""The signature of a call: which arguments are arrays, numbers and constants, and a key to compare them by.

Arrays become inputs of the compiled function. Numbers are constants of it at first, and inputs once they are
seen to vary. Lists, dicts and objects are taken apart. Everything else is a constant, compared by value where
it is immutable and by identity where it is not.
"""

from __future__ import annotations

import enum
import functools
import logging
import types
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.runtime.arguments.captures import (
    Dependencies,
    current,
    dependencies_of,
    functions_among,
    is_made_anew,
)
from np2tf.runtime.effects.appended import ListIsRead
from np2tf.runtime.environment.raw_tensors import variables
from np2tf.runtime.introspection.places import Place
from np2tf.runtime.introspection.user_objects import attributes, is_instance
from np2tf.runtime.random.states import bit_generator, global_state, is_generator
from np2tf.runtime.structures.array_stand_in import host_value
from np2tf.runtime.structures.constant_sets import is_constant_set, key_of_set
from np2tf.staging import ArgumentError, ArrayClassError, RandomUseError, UnsupportedDtypeError
from np2tf.tnp._array.ndarray import is_array, scalar, storage_of
from np2tf.tnp._array.strides import order_of_memory
from np2tf.tnp._operands.conversion import is_numpy_subclass
from np2tf.tnp._operands.promotion import has_tf_dtype

_NUMBERS = (int, float, complex, np.number, np.bool_)
_BY_VALUE = (str, bytes, bool, type(None), type(Ellipsis), np.dtype, range, tf.DType, enum.Enum)
_BY_IDENTITY = (type, types.FunctionType, types.BuiltinFunctionType, types.ModuleType, np.ufunc)
_MAX_DEPTH = 12


class Signature:
    """A call's arguments taken apart.

    Attributes:
        arrays: the arrays, in order of first appearance; one that appears twice is here once.
        numbers: the Python and NumPy numbers among the arguments.
        constants: the numbers that are read by name, as keys: they cannot become inputs.
        generators: those of random numbers, one for each stream.
        changing: which of the numbers are attributes that the code assigns: the next call has others.
        holders: the lists, dicts, objects and generators among the arguments, in order of first appearance.
        classes: the classes of the objects.
        followed: what the functions among the arguments read.
        readers: where they read that.
        sets: the sets that the function may read.
        parts: everything else, hashable; with the numbers it determines the compiled code.
    """

    __slots__ = (
        "_appended",
        "_appending",
        "_elsewhere",
        "_in_arguments",
        "_named",
        "_names",
        "_naming",
        "_places",
        "_seen",
        "_shapes",
        "arrays",
        "assigned",
        "captures",
        "changing",
        "classes",
        "constants",
        "followed",
        "generators",
        "holders",
        "numbers",
        "parts",
        "sets",
    )

    def __init__(
        self,
        names: set[str] | None = None,
        assigned: frozenset[str] = frozenset(),
        appending: frozenset[str] = frozenset(),
    ) -> None:
        self.assigned, self._appending = assigned, appending
        self._appended: dict[int, str] = {}
        self.arrays: list[Any] = []
        self.numbers: list[Any] = []
        self.changing: list[int] = []
        self.constants: tuple[Any, ...] = ()
        self.generators: list[Any] = []
        self.holders: list[Any] = []
        self.classes: set[type] = set()
        self.parts: list[Any] = []
        self.followed: list[Dependencies] = []
        self.captures: list[Place] = []
        self.sets: list[set[Any]] = []
        self._names = names
        self._places: dict[int, int] = {}
        self._seen: dict[int, int] = {}
        self._elsewhere: set[int] = set()
        self._named: dict[int, int] = {}
        self._naming = 0
        self._in_arguments = False
        self._shapes: list[int] = []

    def begin_arguments(self) -> None:
        """What has been taken apart so far are dependencies; what follows are arguments."""
        self._elsewhere.update(self._seen)
        self._seen = {}
        self.holders = []
        self._in_arguments = True

    def is_read_by_name(self, holder: Any) -> bool:
        """Whether an argument is read as a global or closure variable as well."""
        return id(holder) in self._elsewhere

    def follows(self, function: Any) -> bool:
        """Whether it is known what a function reads that an argument may call."""
        return any(one.follows(function) for one in self.followed)

    @property
    def attributes_are_named(self) -> bool:
        """Whether the function reads and writes attributes by their names only."""
        return self._names is not None

    @property
    def key(self) -> tuple[Any, ...]:
        """What must be equal for two calls to share code, numbers left aside."""
        return tuple(self.parts)

    @property
    def key_without_lengths(self) -> tuple[Any, ...]:
        """The same, with the ranks of arrays in the places of their shapes."""
        parts = list(self.parts)
        for k in self._shapes:
            place, kind, dtype, shape, order = parts[k]
            parts[k] = place, kind, dtype, len(shape), order
        return ("open", *parts)

    @property
    def number_key(self) -> tuple[Any, ...]:
        """The numbers, so that equal keys mean equal bits."""
        return tuple(map(number_key, self.numbers))

    def add_array(self, value: Any) -> None:
        """Make an array an input."""
        identity = _identity(value)
        place = self._places.get(identity)
        if place is None:
            place = self._places[identity] = len(self.arrays)
            self.arrays.append(value)
        self._shapes.append(len(self.parts))
        self.parts.append((place, type(value), value.dtype, value.shape, order_of_memory(value)))

    def add_generator(self, value: Any) -> None:
        """Make the state of a generator an input."""
        streams = [bit_generator(one) for one in self.generators]
        stream = bit_generator(value)
        place = next((k for k, one in enumerate(streams) if one is stream), len(streams))
        if place == len(streams):
            self.generators.append(value)
        self.parts.append((place, type(value), type(stream), value is global_state()))
        self.note_holder(value)

    def place_of(self, array: Any) -> int:
        """The index of an array among `arrays`."""
        return self._places[_identity(array)]

    def take_named(self, values: Sequence[Any], depth: int) -> None:
        """Take apart what a function reads that is itself a part of an argument.

        The code reads it by name: lists, dicts and objects there are none of the arguments' own.
        """
        self._naming += 1
        take_dependencies(values, self, depth)
        self._naming -= 1

    def note_holder(self, holder: Any) -> bool:
        """Note a list, dict or object; whether it has not been met before.

        Raises:
            ListIsRead: it has been met as a list of which the code uses only `append`.
        """
        if id(holder) in self._appended:
            raise ListIsRead(self._appended[id(holder)])
        if self._naming:
            return self._is_new_name(holder)
        place = self._seen.get(id(holder))
        if place is not None:
            self.parts.append(("again", place))
            return False
        if id(holder) in self._elsewhere:
            self.parts.append("by name")
        self._seen[id(holder)] = len(self.holders)
        self.holders.append(holder)
        return True

    def only_appends_to(self, name: str, value: Any) -> bool:
        """Whether the attribute `name` of an argument is a list of which the code uses `append` alone.

        Then it is a holder, whatever is in it.

        Raises:
            ListIsRead: the list has been met as something else.
        """
        if type(value) is not list or name not in self._appending or self._naming or not self._in_arguments:
            return False
        place = self._seen.get(id(value))
        if place is None and id(value) not in self._elsewhere:
            self._seen[id(value)] = len(self.holders)
            self.holders.append(value)
            self._appended[id(value)] = name
        elif id(value) not in self._appended:
            raise ListIsRead(name)
        self.parts.append(("appended", self._seen[id(value)]))
        return True

    def appended_as(self, holder: Any) -> str | None:
        """The name of the attribute by which the code appends to a list, if it uses it for nothing else."""
        return self._appended.get(id(holder))

    def _is_new_name(self, holder: Any) -> bool:
        place = self._named.get(id(holder))
        if place is not None:
            self.parts.append(("named again", place))
            return False
        self.parts.append(("named", self._seen.get(id(holder))))
        self._named[id(holder)] = len(self._named)
        self._elsewhere.add(id(holder))
        return True

    def add_set(self, value: Any) -> None:
        """Add a set, which is a constant.

        Raises:
            StagingError: the function may change it.
        """
        self.parts.append(key_of_set(value, self._names))
        if type(value) is set:
            self.sets.append(value)

    def touched(self, instance: Any) -> dict[str, Any]:
        """The attributes of an object that the function may touch."""
        found = attributes(instance)
        if self._names is None:
            return found
        return {name: value for name, value in found.items() if name in self._names}


def _identity(array: Any) -> int:
    return id(host_value(array))


def number_key(value: Any) -> Any:
    """A hashable that is equal for numbers of the same type and bits."""
    kind = type(value)
    if kind is int:
        return value
    if kind is float:
        return float, value.hex()
    return (kind, value.tobytes()) if isinstance(value, np.generic) else (kind, repr(value))


_kinds: dict[type, str] = {}


def kind_of(value: Any) -> str:
    """How a value is taken apart; "unknown" for what cannot be."""
    if type(value) is scalar:
        # Some of these numbers are known, and some are staged.
        return _kind_of(value)
    known = _kinds.get(type(value))
    if known is None:
        known = _kind_of(value)
        if known not in ("constant", "set", "unknown") or isinstance(value, (*_BY_VALUE, *_BY_IDENTITY)):
            _kinds[type(value)] = known
    return known


def _kind_of(value: Any) -> str:
    kind = type(value)
    if isinstance(value, enum.Enum):
        return "constant"
    if kind is not bool and isinstance(value, _NUMBERS):
        return "number" if kind in _NUMBERS or isinstance(value, np.generic) else "unknown"
    if is_array(value) or isinstance(value, (np.ndarray, tf.Tensor)) or kind in variables:
        return "array"
    if kind is types.MethodType and not isinstance(value.__self__, type):
        return "method"
    if kind is functools.partial:
        return "partial"
    if kind is logging.Logger:
        return "logger"
    if isinstance(value, (*_BY_VALUE, *_BY_IDENTITY)) or hasattr(value, "__wrapped__"):
        return "constant"
    if kind is list or kind is dict or kind is slice:
        return kind.__name__
    if isinstance(value, tuple):
        return "tuple"
    if is_generator(value):
        return "generator"
    if is_constant_set(value):
        return "set"
    return "instance" if is_instance(value) else "unknown"


#: Kinds of values that hold others, and do not change -> a part of the key, and what a value holds.
_IMMUTABLE: dict[str, Callable[[Any], tuple[Any, Iterable[Any]]]] = {
    "tuple": lambda value: ((type(value), len(value)), value),
    "slice": lambda value: (slice, (value.start, value.stop, value.step)),
    "partial": lambda value: (
        (functools.partial, len(value.args), tuple(value.keywords)),
        (value.func, *value.args, *value.keywords.values()),
    ),
}


def take_arguments(
    args: tuple[Any, ...], kwargs: dict[str, Any], changing: Collection[int], signature: Signature
) -> None:
    """Add the arguments of a call to the signature; `changing` are the places of numbers that are inputs.

    Raises:
        StagingError: as `take_apart`.
    """
    signature.parts.append(len(args))
    for place, value in enumerate(args):
        if place in changing and kind_of(value) == "number":
            signature.changing.append(len(signature.numbers))
        take_apart(value, signature, 1)
    take_apart(kwargs, signature, 1)


def take_apart(value: Any, signature: Signature, depth: int = 0) -> None:
    """Add `value` to the signature.

    Raises:
        StagingError: it holds something whose changes could not be noticed.
    """
    # Another thread may have it bound to a stand-in, as it is tracing.
    value = host_value(value)
    what = kind_of(value)
    if what == "array":
        _take_array(value, signature)
    elif what == "number":
        signature.numbers.append(value)
        signature.parts.append(type(value))
    elif what == "constant":
        _take_constant(value, signature, depth)
    elif what == "generator":
        signature.add_generator(value)
    elif what == "set":
        signature.add_set(value)
    elif depth > _MAX_DEPTH:
        raise ArgumentError("an argument is nested too deeply")
    elif what == "unknown":
        name = type(value).__qualname__
        raise ArgumentError(f"an argument or variable of type {name} cannot be an input of a graph")
    elif what in _IMMUTABLE:
        key, items = _IMMUTABLE[what](value)
        signature.parts.append(key)
        for item in items:
            take_apart(item, signature, depth + 1)
    elif what == "logger":
        # Whether a record is due is told while tracing.
        signature.parts.append((id(value), value.getEffectiveLevel(), value.disabled, value.manager.disable))
    elif what == "method":
        _take_constant(value.__func__, signature, depth)
        take_apart(value.__self__, signature, depth + 1)
    elif signature.note_holder(value):
        _take_holder(value, what, signature, depth)


def _take_constant(value: Any, signature: Signature, depth: int) -> None:
    signature.parts.append((type(value), _function_key(value)))
    if isinstance(value, enum.Enum):
        signature.classes.add(type(value))
    elif not isinstance(value, _BY_VALUE):
        read = dependencies_of(value)
        values = current(read.captures)
        signature.followed.append(read)
        signature.captures += read.captures
        signature.parts += functions_among(values)
        signature.take_named(values, depth + 1)


def _function_key(value: Any) -> Any:
    """A function as a part of a key: what it reads is in the key, and where it is made anew for each call its
    code says the rest."""
    if isinstance(value, types.FunctionType) and is_made_anew(value):
        return value.__code__, id(value.__globals__)
    return value


def _take_holder(value: Any, what: str, signature: Signature, depth: int) -> None:
    if what == "list":
        signature.parts.append((list, len(value)))
        for item in value:
            take_apart(item, signature, depth + 1)
        return
    entries = value if what == "dict" else signature.touched(value)
    signature.parts.append((type(value), tuple(entries)))
    if what == "instance":
        signature.classes.add(type(value))
    for name, item in entries.items():
        if what == "instance" and name in signature.assigned and kind_of(item) == "number":
            signature.changing.append(len(signature.numbers))
        if what != "instance" or not signature.only_appends_to(name, item):
            take_apart(item, signature, depth + 1)


def take_dependencies(values: Sequence[Any], signature: Signature, depth: int = 0) -> None:
    """Add what a function reads besides its arguments: arrays as inputs, everything else as constants.

    Raises:
        StagingError: as `take_apart`.
    """
    given = len(signature.numbers)
    for value in values:
        if isinstance(value, types.MethodType) and not isinstance(value.__self__, type):
            signature.parts.append(value.__func__)
            value = value.__self__
            if is_generator(value):
                raise RandomUseError("it draws by a method that is read by name")
        if not _is_opaque(value):
            take_apart(value, signature, depth)
    # The code reads these numbers by name: they cannot become inputs.
    signature.constants += tuple(map(number_key, signature.numbers[given:]))
    del signature.numbers[given:]
    signature.changing = [k for k in signature.changing if k < given]


def _is_opaque(value: Any) -> bool:
    """A class, function or module: `captures` follows what it reads, and its identity does not vary."""
    if isinstance(value, _BY_IDENTITY) or hasattr(value, "__wrapped__"):
        return True
    module = type(value).__module__
    if module.startswith("scipy.stats._"):  # a distribution
        return True
    ours = module.split(".")[0] in ("np2tf", "numpy", "typing")
    return ours and not is_array(value) and callable(value)


def _take_array(value: Any, signature: Signature) -> None:
    if is_numpy_subclass(value):
        raise ArrayClassError(f"an array of class {type(value).__name__}, for NumPy")
    dtype = value.dtype
    if not has_tf_dtype(np.dtype(dtype.as_numpy_dtype if isinstance(dtype, tf.DType) else dtype)):
        raise UnsupportedDtypeError.of(dtype=dtype)
    if type(value) is scalar and value.weak is not None:
        raise ArgumentError("a staged number outside of its trace")
    signature.add_array(value)


def share_memory(arrays: Sequence[Any]) -> bool:
    """Whether two different arrays among `arrays` may overlap."""
    if len(arrays) < 2:
        return False
    buffers = [a for a in arrays if isinstance(a, np.ndarray) and not is_array(a) and a.size]
    storages = [storage_of(a) for a in arrays if is_array(a)]
    if len({id(storage) for storage in storages}) < len(storages):
        return True
    return any(_overlap(a, b) for k, a in enumerate(buffers) for b in buffers[k + 1 :])


def _overlap(a: np.ndarray, b: np.ndarray) -> bool:
    if not np.may_share_memory(a, b):
        return False
    try:
        return np.shares_memory(a, b, max_work=1000)  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return True
