"""Objects of the user's classes that consist of their attributes: reading, making, and rebuilding them
without running the program's code.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any
from weakref import WeakKeyDictionary

from np2tf.core.containers import DEEPEST, METHOD, STRUCTURES, Container
from np2tf.core.errors import ReturnedValueError

# -- stored attributes ---------------------------------------------------------------------------------------
# Reads attributes of any objects without running code of the program.
#
# A `__getattr__` may raise any exception, return an object for any name, or load something.

_LOOKUPS = ("__getattr__", "__getattribute__")
#: Members of classes that return what the object stores.
_SLOTS = (types.MemberDescriptorType, types.GetSetDescriptorType)


def wrapped_function(value: Any) -> Any:
    """Return the function that a decorated function, or an object in its place, stands for; None if there is
    none.

    See https://docs.python.org/3/library/functools.html#functools.update_wrapper.
    """
    return stored_attribute(value, "__wrapped__")


def stored_attribute(value: Any, name: str) -> Any:
    """Return an attribute of an object; None if it has none, or computes it."""
    if isinstance(value, (type, types.ModuleType)) or _may_compute(type(value), name):  # type: ignore[arg-type]
        try:
            attributes = object.__getattribute__(value, "__dict__")
        except AttributeError:
            return None
        return attributes.get(name)
    return getattr(value, name, None)


@lru_cache(maxsize=1024)
def _may_compute(kind: type, name: str) -> bool:
    """Return whether reading an attribute of an object of this class may run code of the program."""
    for base in kind.__mro__:
        members = vars(base)
        if name in members:
            return not isinstance(members[name], _SLOTS) and not base.__module__.startswith("np2tf.")
        if any(type(members.get(lookup)) is types.FunctionType for lookup in _LOOKUPS):
            return not base.__module__.startswith("np2tf.")
    return False


# -- user objects --------------------------------------------------------------------------------------------
# Objects of user classes as arguments: which objects consist of their attributes, and how to rebuild
# them.

#: Packages whose objects are never taken apart, because the effects of their methods are not visible.
OPAQUE_PACKAGES = (
    "np2tf",
    "numpy",
    "tensorflow",
    "keras",
    "builtins",
    "math",
    "cmath",
    "functools",
    "itertools",
)
_HARMLESS_BASES = frozenset({"object", "ABC", "Generic", "Protocol"})
#: Names by which a function's code may touch any attribute of an object.
ANY_ATTRIBUTE = frozenset(
    {"getattr", "setattr", "hasattr", "delattr", "vars", "dir", "__dict__", "attrgetter"}
)
#: Modules whose functions may touch any attribute as well.
_OF_ANY_ATTRIBUTE = frozenset({"copy", "dataclasses"})
_decisions: WeakKeyDictionary[type, bool] = WeakKeyDictionary()


def touches_any_attribute(value: Any) -> bool:
    """Return whether a value is a library function that copies objects, or a module of such functions."""
    if isinstance(value, types.ModuleType):
        return value.__name__ in _OF_ANY_ATTRIBUTE
    return type(value) is types.FunctionType and value.__module__ in _OF_ANY_ATTRIBUTE


def is_foreign(module: str | None) -> bool:
    """Return whether a module belongs to NumPy, TensorFlow, Python itself, or another package in
    `OPAQUE_PACKAGES`.
    """
    return module is not None and module.split(".")[0] in OPAQUE_PACKAGES


def is_instance(value: Any) -> bool:
    """Return whether `value` is an object that consists of its attributes, because its class is written in
    Python.
    """
    return has_instances(type(value))


def has_instances(kind: type) -> bool:
    """Return whether the objects of a class consist of their attributes."""
    decision = _decisions.get(kind)
    if decision is None:
        decision = _decisions[kind] = _consists_of_attributes(kind)
    return decision


def _consists_of_attributes(kind: type) -> bool:
    if kind is types.SimpleNamespace:
        return True
    if kind.__module__ == "logging":  # the state of a logger is not the program's data
        return False
    bases = [base for base in kind.__mro__ if base.__name__ not in _HARMLESS_BASES]
    if not bases or any(is_foreign(base.__module__) for base in bases) or hasattr(kind, "__del__"):
        return False
    if any("__getattribute__" in vars(base) or _watches_writes(base) for base in bases):
        return False
    try:
        _new(kind)
    except TypeError:  # a class with storage of its own, or an abstract class
        return False
    return True


def _watches_writes(kind: type) -> bool:
    """Return whether a class runs code of its own when an attribute is set."""
    if any(_is_data_descriptor(member) for member in vars(kind).values()):
        return True
    # A frozen dataclass refuses every write.
    is_frozen = getattr(vars(kind).get("__dataclass_params__"), "frozen", False)
    return "__setattr__" in vars(kind) and not is_frozen


def _is_data_descriptor(member: Any) -> bool:
    descriptor_types = (property, types.MemberDescriptorType, types.GetSetDescriptorType)
    return hasattr(type(member), "__set__") and not isinstance(member, descriptor_types)


def _new(kind: type) -> Any:
    """Return an uninitialised object of a class."""
    return kind.__new__(kind) if issubclass(kind, types.SimpleNamespace) else object.__new__(kind)


def _slots(kind: type) -> Iterator[str]:
    for base in kind.__mro__:
        names = vars(base).get("__slots__", ())
        for name in (names,) if isinstance(names, str) else names:
            if name not in ("__dict__", "__weakref__"):
                yield name


def attributes(value: Any) -> dict[str, Any]:
    """Return an object's own attributes."""
    values = dict(getattr(value, "__dict__", ()))
    values.update((name, getattr(value, name)) for name in _slots(type(value)) if hasattr(value, name))
    return values


def with_attributes(kind: type, values: dict[str, Any]) -> Any:
    """Return a new object of a class with these attributes, made without calling the class."""
    instance = _new(kind)
    assign(instance, values)
    return instance


def assign(value: Any, values: dict[str, Any]) -> None:
    """Set attributes without running the class's hooks for setting attributes."""
    slots = set(_slots(type(value)))
    for name, new_value in values.items():
        if name in slots:
            object.__setattr__(value, name, new_value)
        else:
            vars(value)[name] = new_value


def reset(value: Any, values: dict[str, Any]) -> None:
    """Give an object exactly these attributes. Attributes that already have their value are not set."""
    now = attributes(value)
    for name in now.keys() - values.keys():
        object.__delattr__(value, name)
    assign(
        value,
        {
            name: new_value
            for name, new_value in values.items()
            if name not in now or now[name] is not new_value
        },
    )


def constructors(kind: type) -> Iterator[Any]:
    """Yield the functions that run when a class is called."""
    for name in ("__new__", "__init__", "__post_init__"):
        yield getattr(kind, name, None)
    for field in getattr(kind, "__dataclass_fields__", {}).values():
        yield field.default_factory


def class_members(kind: type, names: set[str]) -> Iterator[tuple[type, str, Any]]:
    """Yield the members of a class and its bases that code with these names may use; operators are always
    included.
    """
    for base in kind.__mro__:
        if base.__name__ in _HARMLESS_BASES or base is types.SimpleNamespace:
            continue
        for name, member in list(vars(base).items()):
            special = name.startswith("__") and name.endswith("__")
            if (name in names or special) and name not in _NEVER_CALLED:
                yield base, name, member


_NEVER_CALLED = frozenset(
    {
        "__init__",
        "__new__",
        "__repr__",
        "__str__",
        "__module__",
        "__doc__",
        "__dict__",
        "__weakref__",
        "__annotations__",
        "__slots__",
        "__qualname__",
        "__match_args__",
        "__dataclass_fields__",
        "__dataclass_params__",
        "__static_attributes__",
        "__firstlineno__",
        "__abstractmethods__",
        "__orig_bases__",
        "__parameters__",
        "__init_subclass__",
        "__subclasshook__",
        "__hash__",
        "_abc_impl",
    }
)


def functions_of(member: Any) -> Iterator[Any]:
    """Yield the functions behind a method, property or class method."""
    if isinstance(member, property):
        yield from (accessor for accessor in (member.fget, member.fset) if accessor is not None)
    elif isinstance(member, (staticmethod, classmethod)):
        yield member.__func__
    elif type(member) is types.FunctionType or wrapped_function(member) is not None:
        yield member
    elif (
        type(function := stored_attribute(member, "func")) is types.FunctionType
    ):  # functools.cached_property
        yield function


#: Objects that consist of their attributes.
INSTANCE = Container(
    has_instances,
    keys=lambda value: attributes(value).keys(),
    items=lambda value: attributes(value).values(),
    builder=lambda value: functools.partial(_make_instance, type(value), tuple(attributes(value))),
    fill=lambda target, source: reset(target, attributes(source)),
    is_ordered=False,
)
#: Structures with objects in them.
OBJECTS = STRUCTURES | (METHOD, INSTANCE)


def _make_instance(kind: type, names: Sequence[str], items: Sequence[Any]) -> Any:
    return with_attributes(kind, dict(zip(names, items, strict=True)))


def new_instance_of(value: Any, depth: int) -> type:
    """Return the class of an object that a trace has made, for making it again from its attributes.

    Raises:
        StagingError: if objects hold each other.
    """
    if depth > DEEPEST:
        raise ReturnedValueError("the function returns objects that refer to each other")
    return type(value)
