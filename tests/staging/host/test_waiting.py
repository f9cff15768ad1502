"""Functions that wait: once they are known to be tiny, their calls are those of the source's functions."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from np2tf.staging.callees.eager_callees import eager_version
from np2tf.staging.host import watched_loops
from np2tf.staging.host.waiting import NAMES, WAIT, WaitingFunction
from np2tf.staging.host.watched_loops import WatchedLoop
from np2tf.staging.tiers import constants
from tests.helpers.replacing import imported

SOURCE = f"""
@{WAIT}
def tiny(x):
    return x + 1


class Owner:
    @{WAIT}
    def tiny(self, x):
        return x + 1


def call(count):
    for _ in range(count):
        tiny(1)


def call_method(owner, count):
    for _ in range(count):
        owner.tiny(1)
"""
#: More calls than are made before the wrapper is asked to leave, and leaves.
CALLS = 2 * constants.CALLS_TO_LEAVE * (constants.MOST_UNTIMED + 1)


@pytest.fixture
def module() -> Iterator[Any]:
    """Return a module with a function and a method that wait."""
    made: Any = types.ModuleType("of_tiny_functions")
    sys.modules[made.__name__] = made
    vars(made).update(NAMES, np=np)
    exec(SOURCE, vars(made))
    yield made
    del sys.modules[made.__name__]


def is_waiting(function: Any) -> bool:
    """Return whether this is np2tf's object, and not the source's function."""
    return type(function) is WaitingFunction


def test_a_function_leaves(module: Any) -> None:
    assert is_waiting(module.tiny)
    module.call(CALLS)
    assert not is_waiting(module.tiny)
    assert module.tiny(1) == 2


def test_a_method_leaves(module: Any) -> None:
    module.call_method(module.Owner(), CALLS)
    assert not is_waiting(vars(module.Owner)["tiny"])
    assert module.Owner().tiny(1) == 2


def test_it_leaves_every_module_that_has_it(module: Any) -> None:
    other: Any = types.ModuleType("with_tiny_functions")
    other.renamed = module.tiny
    sys.modules[other.__name__] = other
    try:
        module.call(CALLS)
    finally:
        del sys.modules[other.__name__]
    assert not is_waiting(module.tiny)
    assert other.renamed is module.tiny


HOLDERS: dict[str, Callable[[Any], Any]] = {
    "a list": lambda module: [module.tiny],
    "a variable of a running function": lambda module: module.tiny,
    "an attribute of an object": lambda module: types.SimpleNamespace(f=module.tiny),
    "a closure": lambda module: (lambda function: lambda: function)(module.tiny),
    "a class": lambda module: type("Holder", (), {"f": module.tiny}),
}


@pytest.mark.parametrize("hold", HOLDERS.values(), ids=HOLDERS)
def test_it_is_the_same_object_where_the_program_holds_it(module: Any, hold: Callable[[Any], Any]) -> None:
    """Only its calls are those of the source's function."""
    held, holder = module.tiny, hold(module)
    module.call(CALLS)
    assert module.tiny is held
    assert not is_waiting(held)
    assert (held(1), held(x=2), held.__name__, isinstance(held, WaitingFunction)) == (2, 3, "tiny", True)
    with pytest.raises(TypeError, match=r"tiny\(\) missing 1 required positional argument: 'x'"):
        held()
    del holder


def test_a_method_stays_in_its_class_while_a_bound_method_is_held(module: Any) -> None:
    owner = module.Owner()
    handler = owner.tiny
    module.call_method(owner, CALLS)
    assert handler == owner.tiny
    assert handler(1) == owner.tiny(1) == 2


def test_a_trace_gets_calls_back(module: Any) -> None:
    """What traced code calls is np2tf's object, which is traced; and so it stays."""
    module.call(CALLS)
    assert not is_waiting(module.tiny)
    assert eager_version(module.tiny) is module.tiny
    assert is_waiting(module.tiny)
    module.call(4 * CALLS)
    assert not is_waiting(module.tiny)
    module.tiny.translate()
    assert is_waiting(module.tiny)


LOOPS = """
import np2tf
import numpy as np


@np2tf.jit
def cluster(field, start):
    stack, free = [start], np.ones_like(field)
    while len(stack) > 0:
        k = stack.pop()
        free[k] = 0.0
        if field[k - 1] > 0.5 and free[k - 1] > 0.5:
            stack.append(k - 1)
    return free


@np2tf.jit
def halved(field):
    steps = 0
    while np.abs(field).max() > 1e-3:
        field, steps = field / 2, steps + 1
    return field, steps
"""


@pytest.mark.parametrize(("name", "pays"), [("cluster", False), ("halved", True)], ids=["a list", "arrays"])
def test_a_while_that_no_trace_can_follow_saves_nothing(name: str, pays: bool) -> None:
    function = imported(LOOPS)[name]
    assert function._host.is_hopeless != pays


def test_whether_compiling_pays_is_not_asked_at_every_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call of half a millisecond would take a tenth longer for the question."""
    function = imported(LOOPS)["halved"]
    host, asked = function._host, []
    monkeypatch.setattr(type(function), "_pays", lambda *_: bool(asked.append(host.own_seconds)))
    for _ in range(1000):
        host.note(0.01, 0.01)
        function._needs_tensorflow((np.ones(2),), {})
    assert asked[0] >= constants.COMPILE_SECONDS
    assert len(asked) < 40
    assert asked[-1] > 8.0


WHILES = """
import numpy as np


def steps(x, count):
    for _ in range(5000):
        done = 0
        while done < count:
            x, done = np.sqrt(x), done + 1
    return done
"""


def test_a_while_that_is_always_short_is_seldom_asked_about(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its runs count as long as the last that was measured, and it is watched again from time to time."""
    steps = imported(WHILES)["steps"]
    (loop,) = (one for one in watched_loops.loops.values() if one.is_while and one.function.of == "steps")
    asked = []
    may_be_watched = WatchedLoop.may_be_watched

    def noted(one: WatchedLoop, least: float) -> bool:
        answer = may_be_watched(one, least)
        if one is loop:
            asked.append(answer)
        return answer

    monkeypatch.setattr(WatchedLoop, "may_be_watched", noted)
    assert steps(2.0, 3) == 3
    assert len(asked) < 50
    assert sum(asked) >= 5
    assert loop.host_seconds > 1e-3
