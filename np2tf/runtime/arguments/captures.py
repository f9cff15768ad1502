"""The values that a function reads besides its arguments: globals and closure variables, also of its
callees.

`np2tf.jit` treats them as further arguments, so that compiled code never keeps a value that has changed.
"""

from __future__ import annotations

import builtins
import functools
import sys
import types
from collections.abc import Callable, Iterable
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from np2tf.pytree.registry import SEARCHED_CONTAINERS
from np2tf.runtime.environment.raw_tensors import NAMES
from np2tf.runtime.host.originals import translation_of
from np2tf.runtime.introspection.code_names import (
    MATCHES,
    all_names,
    appending_attributes,
    assigned_attributes,
    changed_names,
    codes_within,
    compares_classes,
    global_names,
    imported_modules,
    is_made_anew,
    rebound_outer_names,
)
from np2tf.runtime.introspection.libraries import is_of_library
from np2tf.runtime.introspection.places import Place, attribute, closure_variable, defaults, definition, entry
from np2tf.runtime.introspection.property_setters import has_side_effects
from np2tf.runtime.introspection.stored_attributes import wrapped_function
from np2tf.runtime.introspection.user_objects import (
    ANY_ATTRIBUTE,
    class_members,
    constructors,
    functions_of,
    has_instances,
    is_foreign,
    touches_any_attribute,
)
from np2tf.runtime.replacement.loop_function import WATCH

#: The names that only the translation reads, and not the user's code.
_OWN_NAMES = frozenset({*NAMES, WATCH})
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
        readers: a place for each default, global, closure variable, class and module attribute.
        names: every name in the code; the code does not touch attributes with other names.
    """

    def __init__(self, function: Any) -> None:
        self.captures: list[Place] = []
        self.names: set[str] = set()
        self._function_ids: set[int] = set()
        self._functions: list[Any] = []  # keeps these functions' ids from being reused
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
        """The names that the code may bind again (`np2tf.runtime.introspection.code_names`)."""
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
        for kind in classes:
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
        inner = wrapped_function(function)
        if inner is not None:
            self._collect(inner)
        if type(function) is not types.FunctionType or id(function) in self._function_ids:
            return
        self._function_ids.add(id(function))
        self._functions.append(function)
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
            for name in (names or set()) & getattr(value, "__dict__", {}).keys():
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
            for name in names & vars(value).keys() - _STREAMS[value is sys]:
                if pythons and not isinstance(vars(value)[name], _DATA):
                    continue  # for example a lock, which holds no user array
                self.captures.append(attribute(value, name))
                self._follow(vars(value)[name], names, inside | {id(value)})


def captures_of(function: Any) -> list[Place]:
    """Return a place for each global, closure variable and module attribute that `function` may read."""
    return dependencies_of(function).captures


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
        all_readers: the places of the dependencies.
        before: their former values.
        may_change: whether the traced code may bind a name again; a name that it may not was bound by others.
    """
    changed = False
    for reader, value in zip(all_readers, before, strict=True):
        if reader.value is not value and reader.bind is not None and may_change(reader.name):
            reader.bind(value)
            changed = True
    return changed
