"""The attributes of objects, as variables that a staged branch or loop may assign."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from copy import copy
from typing import Any

from np2tf.runtime.arguments.traced_arguments import same_contents
from np2tf.runtime.arguments.value_kinds import kind_of
from np2tf.runtime.introspection.reachability import ReachableObjects
from np2tf.runtime.introspection.user_objects import attributes, reset
from np2tf.runtime.structures.carried_values import Undefined
from np2tf.runtime.structures.containers import containers
from np2tf.staging import AttributeChangeError, BranchTypeError, ContainerChangeError

#: The objects after a branch or an iteration: one dict of attributes for each object.
States = list[dict[str, Any]]


class _HeldObject:
    """A list, dict or other non-tensor in an attribute, which branches and loops carry as a whole."""

    def __init__(self, value: Any) -> None:
        self.value = value


class Attributes:
    """The attributes of every object that can be reached from some values.

    An attribute that only one branch or only some iterations set is unbound elsewhere. np2tf learns of an
    attribute when it is set, so that a trial which meets a new attribute must be repeated.
    """

    def __init__(self, reachable: Iterable[Any], may_be_missing: bool) -> None:
        reach = ReachableObjects(reachable)
        self.instances = reach.instances
        self._other_objects = [(instance, dict(vars(instance))) for instance in reach.other_objects]
        self._first = [attributes(instance).keys() for instance in self.instances]
        self._names = [dict.fromkeys(names) for names in self._first]
        self._may_be_missing = may_be_missing
        self._held_objects: dict[int, _HeldObject] = {}

    @property
    def attribute_count(self) -> int:
        """The number of known attributes."""
        return sum(map(len, self._names))

    def read(self) -> States:
        """Return the present attributes; unset attributes are `Undefined`.

        Raises:
            StagingError: if an attribute is gone, or is new while code may test whether it exists.
        """
        return [
            self._read(*arguments) for arguments in zip(self.instances, self._names, self._first, strict=True)
        ]

    def _read(self, instance: Any, names: dict[str, None], first: Collection[str]) -> dict[str, Any]:
        values = attributes(instance)
        new = [name for name in values if name not in names]
        if new and not self._may_be_missing:
            raise BranchTypeError(f"an attribute is new in a staged loop or branch: {new[0]}")
        missing_names = [name for name in first if name not in values]
        if missing_names:
            raise AttributeChangeError.of(name=missing_names[0])
        names.update(dict.fromkeys(new))
        return {name: self._hold(values[name]) if name in values else Undefined(name) for name in names}

    def write(self, states: States) -> None:
        """Set the attributes."""
        for instance, state in zip(self.instances, states, strict=True):
            values = {n: v.value if type(v) is _HeldObject else v for n, v in state.items()}
            reset(instance, {n: v for n, v in values.items() if not isinstance(v, Undefined)})

    def run_apart(self, run: Callable[[], Any]) -> tuple[Any, States]:
        """Return the result of `run`, and the attributes that it makes. The objects keep their present
        attributes.

        Raises:
            StagingError: if `run` changes anything but the attributes of these objects.
        """
        before = self.read()
        lists = {
            id(container): (container, copy(container))
            for held_object in self._held_objects.values()
            for container in _holders(held_object.value)
        }
        try:
            return run(), self.read()
        finally:
            self.write(before)
            containers = [
                container for container, items in lists.values() if not same_contents(container, items)
            ]
            for container in containers:
                container.clear()
                (container.extend if type(container) is list else container.update)(lists[id(container)][1])
            if containers:
                raise ContainerChangeError("a list or dict in an attribute is changed by staged code")
            self.check_others()

    def check_others(self) -> None:
        """Restore the attributes of objects that do not consist of their attributes.

        Raises:
            StagingError: if an attribute had been changed, because a trace happens only once.
        """
        for instance, before in self._other_objects:
            if not same_contents(dict(vars(instance)), before):
                for name in vars(instance).keys() - before.keys():
                    delattr(instance, name)
                for name, value in before.items():
                    if vars(instance).get(name) is not value:
                        setattr(instance, name, value)
                name = getattr(instance, "__qualname__", type(instance).__qualname__)
                raise AttributeChangeError(f"an attribute of {name} is set in a staged loop or branch")

    def _hold(self, value: Any) -> Any:
        if kind_of(value) in ("array", "number", "constant") or _is_flat(value):
            return value
        return self._held_objects.setdefault(id(value), _HeldObject(value))


def _is_flat(value: Any) -> bool:
    """Return whether a value is a tuple of arrays and numbers, which may be made anew."""
    return isinstance(value, tuple) and all(
        kind_of(item) in ("array", "number", "constant") or _is_flat(item) for item in value
    )


def _holders(value: Any) -> list[Any]:
    return list(containers(value).values())
