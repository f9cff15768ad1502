"""Guards the values that a function reads besides its arguments against changes while it is traced."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from np2tf.pytree.containers import SET
from np2tf.pytree.registry import DEEPEST
from np2tf.runtime.arguments.capture_stand_ins import bind_stand_ins
from np2tf.runtime.arguments.captures import bind_again, current
from np2tf.runtime.introspection.places import Place
from np2tf.runtime.introspection.user_objects import OBJECTS
from np2tf.runtime.structures.mutation_guard import MutationGuard
from np2tf.staging import VariableChangeError


@contextmanager
def guard_captures(captures: list[Place], sets: list[set[Any]]) -> Iterator[None]:
    """Undo and refuse a trace's changes of globals, closures and sets, which would not happen in every call.

    Meanwhile they hold the arrays of the trace.
    """
    with bind_stand_ins(captures):
        before = current(captures)
        guard = MutationGuard(
            [*OBJECTS.reachable(before, DEEPEST), *((SET, constant_set) for constant_set in sets)]
        )
        has_changes = False
        try:
            yield
        finally:
            has_changes = guard.restore()
            has_changes = bind_again(captures, before) or has_changes
    if has_changes:
        message = "a set, or a global or closure variable, is changed as no graph can change it"
        raise VariableChangeError(message)
