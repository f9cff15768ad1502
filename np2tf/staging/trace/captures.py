"""The values that a function reads by name: found, bound to stand-ins while it is traced, and guarded against
changes.
"""

from __future__ import annotations

import builtins
import functools
import sys
import threading
import types
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from np2tf.arrays.array.ndarray import ndarray
from np2tf.core.containers import DEEPEST, SEARCHED_CONTAINERS, SET, TUPLE, Container, Registry
from np2tf.core.errors import HiddenInputError, VariableChangeError
from np2tf.staging.host.followed_loops import FOLLOW
from np2tf.staging.host.originals import translation_of
from np2tf.staging.host.waiting import WaitingFunction
from np2tf.staging.host.watched_loops import REGIONS, WATCH
from np2tf.staging.objects.code_names import (
    ANYTHING,
    ITEMS,
    MATCHES,
    all_names,
    appending_attributes,
    assigned_attributes,
    changed_names,
    codes_within,
    compares_classes,
    global_names,
    has_side_effects,
    imported_modules,
    is_made_anew,
    rebound_outer_names,
)
from np2tf.staging.objects.places import (
    Place,
    attribute,
    closure_variable,
    defaults,
    definition,
    entry,
    own_attribute,
)
from np2tf.staging.objects.user_code import is_of_library
from np2tf.staging.objects.user_objects import (
    ANY_ATTRIBUTE,
    INSTANCE,
    OBJECTS,
    attributes,
    class_members,
    constructors,
    functions_of,
    has_instances,
    is_foreign,
    touches_any_attribute,
    wrapped_function,
)
from np2tf.staging.process.boundary import NAMES, variables
from np2tf.staging.process.concurrency import other_threads_run
from np2tf.staging.random.states import is_generator
from np2tf.staging.random.streams import generator_stand_in
from np2tf.staging.values.array_stand_in import stand_in
from np2tf.staging.values.containers import MutationGuard

# -- captures ------------------------------------------------------------------------------------------------
# The values that a function reads besides its arguments: globals and closure variables, also of its
# callees.
#
# `np2tf.jit` treats them as further arguments, so that compiled code never keeps a value that has changed.

#: The names that only the translation reads, and not the user's code.
_OWN_NAMES = frozenset({*NAMES, WATCH, REGIONS, FOLLOW})
#: Names after which code may read any global variable.
_ANY_GLOBAL = frozenset({"globals", "eval", "exec", "__globals__"})
#: Functions that can tell a list from its stand-in.
_CLASS_TESTS = frozenset({"type", "isinstance"})
#: Methods that assign the attributes of a new object.
_INITIALISERS = frozenset({"__init__", "__new__", "__post_init__", "__setstate__"})
#: Attributes of `sys` that every print looks up again.
_STREAMS = frozenset[str](), frozenset({"stdout", "stderr"})

#: Types of variables of standard library modules on which staged code may depend.
_DATA = (
    *(int, float, complex, str, bytes, type(None), list, dict, tuple),
    *(type, types.FunctionType, types.BuiltinFunctionType, types.ModuleType),
)


class Dependencies:
    """The values that a function may read, found in its code and in the code of everything it may call.

    Attributes:
        captures: a place for each default, global, closure variable, class and module attribute.
        functions: the functions whose code may run.
        names: every name in the code; the code does not touch attributes with other names.
    """

    def __init__(self, function: Any) -> None:
        self.captures: list[Place] = []
        self.names: set[str] = set()
        self._function_ids: set[int] = set()
        self.functions: list[types.FunctionType] = []  # (keeps their ids from being reused)
        self._classes: dict[type, set[str]] = {}
        self._members: set[tuple[type, str]] = set()
        self._codes: list[types.CodeType] = []
        self._append_targets: set[str] = set()
        self._attribute_names: set[str] = set()
        self._read_lists: set[str] = set()
        self._tells_classes = self._copies_objects = False
        self._setters: dict[str, Any] = {}
        #: Whether the function itself, which no translation has changed, compares ``type(x)``: a staged value
        #: has another type than NumPy's.
        code = getattr(function, "__code__", None)
        self.compares_classes = code is not None and compares_classes(code)
        self._collect(function)
        self.follow_classes(set())

    @property
    def classes(self) -> set[type]:
        """The classes whose methods have been followed."""
        return set(self._classes)

    @property
    def any_attribute(self) -> bool:
        """True if the code may touch attributes under names that it computes."""
        return self._copies_objects or bool(self.names & ANY_ATTRIBUTE)

    @functools.cached_property
    def hidden_setter(self) -> str:
        """The name of an attribute that the code sets through a property with further effects; "" if there is
        none.
        """
        candidates = (name for name, setter in self._setters.items() if has_side_effects(setter))
        return next(
            (name for name in candidates if any(name in assigned_attributes(code) for code in self._codes)),
            "",
        )

    @property
    def changed_names(self) -> frozenset[str]:
        """The names that the code may bind again (`np2tf.staging.objects.code_names`)."""
        return frozenset().union(*map(changed_names, self._codes))

    @functools.cached_property
    def assigned_attributes(self) -> frozenset[str]:
        """The attributes that the code assigns outside of initialisers."""
        return frozenset().union(
            *(assigned_attributes(code) for code in self._codes if code.co_name not in _INITIALISERS)
        )

    @property
    def appended_attributes(self) -> frozenset[str]:
        """The attributes of which the code only calls `append`, as far as known.

        If the code also reads an attribute of that name, perhaps of another object, the trace finds out.
        """
        if not self._append_targets or self.any_attribute or MATCHES in self._attribute_names:
            return frozenset()
        names_of_classes = self._attribute_names if self._tells_classes else frozenset()
        return frozenset(self._append_targets - self._read_lists - names_of_classes)

    def reads_list(self, attribute: str) -> None:
        """Record that a list is not only appended to."""
        self._read_lists.add(attribute)

    @property
    def handles_exceptions(self) -> bool:
        """True if the code has exception handlers, which only the host runs (`np2tf.on_host`)."""
        return "on_host" in self.names

    def follow_classes(self, classes: set[type]) -> None:
        """Add the values that the methods of the arguments' classes read."""
        name_count = -1
        # In the same order in every process (`np2tf.staging.compile.stable_keys`).
        for kind in sorted(classes, key=lambda kind: (kind.__module__, kind.__qualname__)):
            self._classes.setdefault(kind, set())
        for name, value in vars(Dependencies).items():
            if isinstance(value, functools.cached_property):
                vars(self).pop(name, None)
        while name_count != len(self.names):
            name_count = len(self.names)
            for kind, keys in list(self._classes.items()):
                self._follow_class(kind, keys)

    def _follow_class(self, kind: type, done_classes: set[str]) -> None:
        consists_of_attributes = has_instances(kind)
        names: set[str] = set()
        for base, name, member in class_members(kind, self.names):
            if not consists_of_attributes and _is_pythons(base):
                continue
            # A method may be replaced, overridden later on, or called by way of `super()`.
            self._watch_member(kind if name not in names else base, name)
            names.add(name)
            key = f"{base.__qualname__}.{name}"
            if key in done_classes:
                continue
            done_classes.add(key)
            if isinstance(member, property) and member.fset is not None:
                self._setters[name] = member.fset
            functions = list(functions_of(member))
            for function in functions:
                self._collect(function)
            if not functions and (
                not isinstance(member, (types.MemberDescriptorType, types.GetSetDescriptorType))
                if consists_of_attributes
                else _holds_arrays(member)
            ):
                # Plain data must be the same after a trace.
                self.captures.append(attribute(base, name, getattr(base, name, None) is member))

    def _watch_member(self, kind: type, name: str) -> None:
        if (kind, name) not in self._members:
            self._members.add((kind, name))
            self.captures.append(definition(kind, name))

    def _follow_constructors(self, kind: type) -> None:
        """Add the values that are read when an object of a class is made."""
        if kind in self._classes or is_foreign(kind.__module__) or is_of_library(kind):
            return
        self._classes[kind] = set()
        if has_instances(kind):
            for function in constructors(kind):
                self._collect(function)
        if type(kind) is not type:
            self._follow_constructors(type(kind))

    def follows(self, function: Any) -> bool:
        """Return whether the values that a function, and the function it wraps, read are known."""
        inner = wrapped_function(function)
        if inner is not None and not self.follows(inner):
            return False
        return type(function) is not types.FunctionType or id(function) in self._function_ids

    def makes_closure(self, code: types.CodeType) -> bool:
        """Return whether a known function defines a function with this code, and no function rebinds its
        closure variables.
        """
        for outer in self._codes:
            inner_codes = list(codes_within(outer))[1:]
            if any(_place_of(code) == _place_of(inner) for inner in inner_codes):
                return rebound_outer_names(outer).isdisjoint(code.co_freevars)
        return False

    def knows(self, other_dependencies: Iterable[Dependencies]) -> bool:
        """Return whether the names in the code of functions that are arguments are known, with their uses."""
        return all(
            dependencies.names <= self.names
            and dependencies._append_targets <= self._append_targets
            and dependencies._attribute_names <= self._attribute_names
            and dependencies._tells_classes <= self._tells_classes
            and dependencies._copies_objects <= self._copies_objects
            for dependencies in other_dependencies
        )

    def learn(self, other_dependencies: Iterable[Dependencies]) -> None:
        """Record the names in the code of functions that are arguments."""
        for dependencies in other_dependencies:
            self.names |= dependencies.names
            self._append_targets |= dependencies._append_targets
            self._attribute_names |= dependencies._attribute_names
            self._tells_classes |= dependencies._tells_classes
            self._copies_objects |= dependencies._copies_objects
        self.follow_classes(set())

    def follow(self, function: Any) -> None:
        """Add the values that a function reads; a trace has found the function."""
        self._collect(function)
        self.follow_classes(set())

    def _collect(self, function: Any) -> None:
        if (getattr(function, "__module__", None) or "").partition(".")[0] == "numpy":
            return  # its counterpart is traced
        if isinstance(function, WaitingFunction):
            function.translate()
        inner = wrapped_function(function)
        if inner is not None:
            self._collect(inner)
        if type(function) is not types.FunctionType or id(function) in self._function_ids:
            return
        self._function_ids.add(id(function))
        self.functions.append(function)
        for default in defaults(function):
            self.captures.append(default)
            self._follow(default.value, None, set())
        code = translation_of(function.__code__)
        self._codes.append(code)
        names = set(all_names(code))
        self.names |= names
        append_targets, attribute_names = appending_attributes(code)
        self._append_targets |= append_targets
        self._attribute_names |= attribute_names
        # Generated methods of dataclasses only test for the class of their own objects.
        self._tells_classes |= bool(names & _CLASS_TESTS) and code.co_filename != "<string>"
        if code.co_name not in _INITIALISERS:
            self._attribute_names |= assigned_attributes(code)
        for name, cell in zip(code.co_freevars, function.__closure__ or ()):
            if name not in _OWN_NAMES:
                self.captures.append(closure_variable(cell, name))
                self._follow(self.captures[-1].value, names, set())
        space = function.__globals__
        for name in list(space) if names & _ANY_GLOBAL else global_names(code):
            # A name that is not bound yet may be bound when the code reads it.
            if name not in _OWN_NAMES and (name in space or not hasattr(builtins, name)):
                self.captures.append(entry(space, name))
                self._follow(space.get(name), names, set())
        for module in imported_modules(code, space):
            self._follow(module, names, set())

    def _follow(self, value: Any, names: set[str] | None, inside: set[int]) -> None:
        self._copies_objects |= touches_any_attribute(value)
        if type(value) is types.FunctionType or wrapped_function(value) is not None:
            if not is_foreign(getattr(value, "__module__", None)) and not is_of_library(value):
                self._collect(value)
            for name in sorted((names or set()) & getattr(value, "__dict__", {}).keys()):
                if not name.startswith("_"):
                    self.captures.append(attribute(value, name))
        elif isinstance(value, types.MethodType):
            self._collect(value.__func__)
        elif isinstance(value, type):
            self._follow_constructors(value)
        elif (
            isinstance(value, types.ModuleType)
            and names
            and not is_foreign(value.__name__)
            and id(value) not in inside
        ):
            pythons = value.__name__.partition(".")[0] in sys.stdlib_module_names
            for name in sorted(names & vars(value).keys() - _STREAMS[value is sys]):
                if pythons and not isinstance(vars(value)[name], _DATA):
                    continue  # for example a lock, which holds no user array
                self.captures.append(attribute(value, name))
                self._follow(vars(value)[name], names, inside | {id(value)})


def _place_of(code: types.CodeType) -> tuple[str, int, str]:
    return code.co_filename, code.co_firstlineno, code.co_name


_dependencies: WeakKeyDictionary[Any, tuple[Dependencies, list[Any]]] = WeakKeyDictionary()


def dependencies_of(function: Any) -> Dependencies:
    """Return the dependencies of a function that is an argument, found again if a function that it calls
    changes.
    """
    function = wrapped_function(function) or function
    if type(function) is not types.FunctionType or is_made_anew(function):
        # The result refers to the function, so functions made for each call would never be freed from a
        # table.
        return Dependencies(function)
    record = _dependencies.get(function)
    if record is None or functions_among(current(record[0].captures)) != record[1]:
        dependencies = Dependencies(function)
        record = _dependencies[function] = dependencies, functions_among(current(dependencies.captures))
    return record[0]


def functions_among(values: list[Any]) -> list[Any]:
    """Return the functions and classes among these values: if one changes, the read values may change."""
    kinds = (types.FunctionType, types.MethodType, type)
    return [
        getattr(value, "__func__", value)
        for value in values
        if isinstance(value, kinds) or wrapped_function(value) is not None
    ]


def _is_pythons(kind: type) -> bool:
    """Return whether a class belongs to the standard library, or to a package that holds no user arrays."""
    return is_foreign(kind.__module__) or is_of_library(kind)


def _holds_arrays(value: Any, depth: int = 0) -> bool:
    """Return whether a list, dict or tuple contains an array."""
    if isinstance(value, np.ndarray):
        return True
    return depth < 4 and any(_holds_arrays(item, depth + 1) for item in SEARCHED_CONTAINERS.items(value))


def current(all_readers: list[Place]) -> list[Any]:
    """Return the present values of all dependencies."""
    return [reader.value for reader in all_readers]


def bind_again(
    all_readers: list[Place], before: list[Any], may_change: Callable[[str], bool] = lambda name: True
) -> bool:
    """Bind every dependency to its former value, and return whether any had been rebound.

    Args:
        may_change: whether the traced code may bind a name again; a name that it may not was bound by others.
    """
    changed = False
    for reader, value in zip(all_readers, before, strict=True):
        if reader.value is not value and reader.bind is not None and may_change(reader.name):
            reader.bind(value)
            changed = True
    return changed


# -- capture stand ins ---------------------------------------------------------------------------------------
# Binds stand-ins for the arrays that a function reads by name, while it is traced.
#
# Stand-ins replace the arrays wherever the code may find them: in globals, closures, defaults, modules,
# classes, and in the lists, dicts, tuples and objects there. Two threads may trace functions that read the
# same array; the last thread to finish restores it.

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


# -- unchanged captures --------------------------------------------------------------------------------------
# Guards the values that a function reads besides its arguments against changes while it is traced.

_NO_VALUE = object()


@contextmanager
def guard_captures(
    captures: list[Place], sets: list[set[Any]], changed_names: Callable[[], frozenset[str]]
) -> Iterator[None]:
    """Undo and refuse a trace's changes of globals, closures and sets, which would not happen in every call.

    Meanwhile they hold the arrays of the trace. Changes that other threads make in the meantime stay.

    Args:
        changed_names: returns, after the trace, the names that the traced code may change.
    """
    is_alone = not other_threads_run()

    @functools.cache
    def changes() -> frozenset[str]:
        return frozenset({ANYTHING}) if is_alone else changed_names()

    def may_change(name: Any) -> bool:
        return ANYTHING in changes() or not isinstance(name, str) or name in changes()

    def is_ours(kind: Container, container: Any, before: Any) -> bool:
        if kind is not INSTANCE:
            return ITEMS in changes() or ANYTHING in changes()
        old, new = attributes(before), attributes(container)
        return any(
            may_change(name)
            for name in {*old, *new}
            if old.get(name, _NO_VALUE) is not new.get(name, _NO_VALUE)
        )

    with bind_stand_ins(captures):
        before = current(captures)
        guard = MutationGuard(
            [*OBJECTS.reachable(before, DEEPEST), *((SET, constant_set) for constant_set in sets)], is_ours
        )
        has_changes = False
        try:
            yield
        finally:
            has_changes = guard.restore()
            has_changes = bind_again(captures, before, may_change) or has_changes
    if has_changes:
        message = "a set, or a global or closure variable, is changed in a way that a graph cannot express"
        raise VariableChangeError(message)
