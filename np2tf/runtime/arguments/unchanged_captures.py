"""Guards the values that a function reads besides its arguments against changes while it is traced."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from np2tf.pytree.containers import SET, Container
from np2tf.pytree.registry import DEEPEST
from np2tf.runtime.arguments.capture_stand_ins import bind_stand_ins
from np2tf.runtime.arguments.captures import bind_again, current
from np2tf.runtime.environment.concurrency import other_threads_run
from np2tf.runtime.introspection.code_names import ANYTHING, ITEMS
from np2tf.runtime.introspection.places import Place
from np2tf.runtime.introspection.user_objects import INSTANCE, OBJECTS, attributes
from np2tf.runtime.structures.mutation_guard import MutationGuard
from np2tf.staging import VariableChangeError

_NO_VALUE = object()


@contextmanager
def guard_captures(
    captures: list[Place], sets: list[set[Any]], changed_names: Callable[[], frozenset[str]]
) -> Iterator[None]:
    """Undo and refuse a trace's changes of globals, closures and sets, which would not happen in every call.

    Meanwhile they hold the arrays of the trace. Changes that other threads make in the meantime stay.

    Args:
        captures: the places of the values that the function reads by name.
        sets: the sets among its arguments.
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
        message = "a set, or a global or closure variable, is changed as no graph can change it"
        raise VariableChangeError(message)
