"""Forbidden in-place changes by a trace are found and undone: then the host runs the call."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import np2tf
from np2tf.core.containers import SET
from np2tf.core.errors import ContainerChangeError
from np2tf.staging.objects.user_objects import OBJECTS
from np2tf.staging.values.carried_values import STATE
from np2tf.staging.values.containers import MutationGuard, guard_closures


def test_everything_inside_is_guarded() -> None:
    """Lists, dicts and objects, wherever they are, get back what they held; tuples are gone through."""
    inner, table = [1, 2], {"a": [3]}
    box = SimpleNamespace(table=table, inner=(inner,))
    guard = MutationGuard(OBJECTS.reachable([(box, [inner])]))
    assert not guard.restore()
    inner.append(3)
    table["a"].clear()
    table["b"] = 4
    box.new = 5
    del box.inner
    assert guard.restore()
    assert (inner, table, vars(box)) == ([1, 2], {"a": [3]}, {"table": table, "inner": (inner,)})
    assert box.inner[0] is inner
    assert not guard.restore()


def test_equal_items_are_no_same_items() -> None:
    """A new object that is equal to the old object is a change."""
    holder = [[0.0]]
    guard = MutationGuard(STATE.reachable([holder]))
    before = holder[0]
    holder[0] = [0.0]
    with pytest.raises(ContainerChangeError):
        guard.check()
    assert holder[0] is before
    guard.check()


def test_sets_keep_their_order() -> None:
    """A set gets back its items; an item more or less is a change."""
    for change in (lambda s: s.add("new"), lambda s: s.discard("b"), lambda s: s.clear()):
        words = {"a", "b", "c"}
        order = list(words)
        guard = MutationGuard([(SET, words)])
        change(words)
        assert guard.restore()
        assert words == set(order)


def test_closures() -> None:
    """Lists that functions know from around them, and functions that they know, are guarded."""
    log: list[Any] = []

    def inner() -> None:
        log.append(1)

    def outer() -> None:
        inner()

    guard = guard_closures(outer)
    outer()
    with pytest.raises(ContainerChangeError):
        guard.check()
    assert log == []


LOG: list[Any] = []
BOX = SimpleNamespace(count=0, items={"n": 0})


def counts_calls(x: Any) -> Any:
    LOG.append(len(LOG))
    BOX.count += 1
    BOX.items["n"] += 2
    return x * BOX.count


@pytest.mark.filterwarnings("ignore::np2tf.core.counts.UnjittedWarning")
@pytest.mark.parametrize("tier", ["compile", "host"])
def test_calls_act_once_each(tier: str) -> None:
    """A function that changes objects outside changes them once in each call, as without np2tf."""
    LOG.clear()
    BOX.count, BOX.items["n"] = 0, 0
    jitted = np2tf.jit(counts_calls, tier=tier)
    for n in range(1, 4):
        np.testing.assert_array_equal(jitted(np.arange(3.0)), np.arange(3.0) * n)
        assert (LOG, BOX.count, BOX.items) == (list(range(n)), n, {"n": 2 * n})
