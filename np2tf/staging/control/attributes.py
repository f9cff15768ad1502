"""Attributes of objects as variables of staged branches and loops, and the objects that these can reach."""

from __future__ import annotations

import types
from collections.abc import Callable, Collection, Iterable, Iterator
from copy import copy
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import tensorflow as tf

from np2tf.arrays.array.ndarray import is_array
from np2tf.core.containers import ANY_SET, SEARCHED_CONTAINERS
from np2tf.core.errors import (
    AttributeChangeError,
    BranchTypeError,
    ContainerChangeError,
    StagingError,
)
from np2tf.staging.control.branches import Branch, stage_branches
from np2tf.staging.control.loop_analysis import UNKNOWN_TRIP_COUNT, TripCount
from np2tf.staging.control.loops import EffectsInTest, Likely, StagedLoop, Step, Test
from np2tf.staging.control.variables import NO_VARIABLES, Variables
from np2tf.staging.objects.user_objects import attributes, is_foreign, is_instance, reset, wrapped_function
from np2tf.staging.trace.signature import kind_of
from np2tf.staging.trace.trace import Trace
from np2tf.staging.trace.traced_arguments import same_contents
from np2tf.staging.values.carried_values import Undefined, are_same, flatten
from np2tf.staging.values.containers import containers

# -- reachability --------------------------------------------------------------------------------------------
# The objects that staged code can reach from the values that its functions know and get.

_LEAVES = (int, float, complex, bool, str, bytes, type(None), np.ndarray, np.generic, tf.Tensor)

_CONTENTS = SEARCHED_CONTAINERS | (ANY_SET,)


class ReachableObjects:
    """The objects that can be reached from some values.

    Attributes:
        instances: the objects that consist of their attributes, in order of discovery.
        other_objects: other user objects that have attributes: functions, classes, objects with storage of
            their own.
    """

    def __init__(self, values: Iterable[Any]) -> None:
        self.instances: list[Any] = []
        self.other_objects: list[Any] = []
        self._ids: set[int] = set()
        stack = list(values)[::-1]
        while stack:
            value = stack.pop()
            if isinstance(value, _LEAVES) or is_array(value) or id(value) in self._ids:
                continue
            self._ids.add(id(value))
            stack += list(self._inside(value))[::-1]

    def _inside(self, value: Any) -> Iterator[Any]:
        """Yield the values inside a value, and record the value if it has attributes."""
        kind = _CONTENTS.find(value)
        if kind is not None:
            yield from kind.items(value)
        elif isinstance(value, types.MethodType):
            yield value.__self__
            yield value.__func__
        elif type(value) is types.FunctionType:
            yield from self._captured_values(value)
        elif isinstance(value, type):
            self.other_objects += [] if is_foreign(value.__module__) else [value]
        elif is_instance(value):
            self.instances.append(value)
            yield from attributes(value).values()
        elif (function := wrapped_function(value)) is not None:
            yield function
        elif hasattr(value, "__dict__") and not _is_foreign(value):
            self.other_objects.append(value)
            yield from vars(value).values()

    def _captured_values(self, function: types.FunctionType) -> Iterator[Any]:
        if not is_foreign(function.__module__):
            self.other_objects.append(function)
        for cell in function.__closure__ or ():
            try:
                yield cell.cell_contents
            except ValueError:  # not bound yet
                continue
        yield from function.__defaults__ or ()
        yield from (function.__kwdefaults__ or {}).values()


def _is_foreign(value: Any) -> bool:
    return isinstance(value, types.ModuleType) or is_foreign(type(value).__module__)


# -- attribute state -----------------------------------------------------------------------------------------
# The attributes of objects, as variables that a staged branch or loop may assign.

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
            raise BranchTypeError(f"a compiled loop or branch creates an attribute: {new[0]}")
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
                raise ContainerChangeError("compiled code changes a list or dict in an attribute")
            self.check_others()

    def check_others(self) -> None:
        """Restore the attributes of objects that do not consist of their attributes; refuse their changes."""
        for instance, before in self._other_objects:
            if not same_contents(dict(vars(instance)), before):
                for name in vars(instance).keys() - before.keys():
                    delattr(instance, name)
                for name, value in before.items():
                    if vars(instance).get(name) is not value:
                        setattr(instance, name, value)
                name = getattr(instance, "__qualname__", type(instance).__qualname__)
                raise AttributeChangeError(f"an attribute of {name} is set in a compiled loop or branch")

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


# -- attribute staging ---------------------------------------------------------------------------------------
# Staged branches and loops that assign attributes of objects, which are variables like any other.

T = TypeVar("T")


def attributes_within(trace: Trace, *instances: Any) -> Attributes:
    """Return the attributes of the arguments, and of objects that a loop's or branch's functions can
    reach.
    """
    around = trace.surroundings
    return Attributes((around.instances, *instances), may_be_missing=around.attributes_are_named)


def _repeat_until_known(state: Attributes, attempt: Callable[[], T]) -> T:
    """Return the result of `attempt`, repeated until it finds no new attribute."""
    while True:
        learnt = state.attribute_count
        try:
            return attempt()
        except StagingError:
            if state.attribute_count == learnt:
                raise


def _watch_attributes(state: Attributes, run: Callable[..., T]) -> Callable[..., T]:
    """Return `run` with a check that it sets no attributes; used if there are no objects with attributes."""

    def run_and_check(*args: Any) -> T:
        try:
            return run(*args)
        finally:
            state.check_others()

    return run_and_check


def branches(
    trace: Trace, test: tf.Tensor, then: Branch, otherwise: Branch, variables: Variables = NO_VARIABLES
) -> Any:
    """Do `stage_branches`, with the attributes that a branch assigns among its results."""
    state = attributes_within(trace, then, otherwise)
    if not state.instances:
        return stage_branches(
            trace, test, _watch_attributes(state, then), _watch_attributes(state, otherwise), variables
        )

    all_variables = replace(variables, instances=state.instances)

    def attempt() -> Any:
        return stage_branches(
            trace, test, lambda: state.run_apart(then), lambda: state.run_apart(otherwise), all_variables
        )

    result, after = _repeat_until_known(state, attempt)
    state.write(after)
    return result


def staged_loop(
    trace: Trace,
    test: Test,
    step: Step,
    state: Any,
    rounds: TripCount = UNKNOWN_TRIP_COUNT,
    variables: Variables = NO_VARIABLES,
) -> StagedLoop:
    """Return a `StagedLoop`, with the attributes that an iteration assigns among its variables."""
    # The loop is recognised in a later trace by its iteration as the program has it.
    likely = Likely(variables.body, len(flatten(state)[0]))
    attributes = attributes_within(trace, test, step, state)
    if not attributes.instances:
        wrappers = _watch_attributes(attributes, test), _watch_attributes(attributes, step)
        return StagedLoop(trace, *wrappers, state, rounds, likely, variables)

    all_variables = replace(variables, instances=attributes.instances)

    def outer_test(counter: tf.Tensor, inner: Any) -> tf.Tensor:
        def run() -> tf.Tensor:
            attributes.write(inner[1])
            return test(counter, inner[0])

        outcome, after = attributes.run_apart(run)
        if not all(map(are_same, flatten(after)[0], flatten(inner[1])[0])):
            raise EffectsInTest
        return outcome

    def outer_step(counter: tf.Tensor, inner: Any) -> Any:
        def run() -> Any:
            attributes.write(inner[1])
            return step(counter, inner[0])

        return attributes.run_apart(run)

    def unpack(after: Any) -> Any:
        attributes.write(after[1])
        return after[0]

    def attempt() -> StagedLoop:
        inner = state, attributes.read()
        return StagedLoop(trace, outer_test, outer_step, inner, rounds, likely, all_variables, unpack)

    return _repeat_until_known(attributes, attempt)
