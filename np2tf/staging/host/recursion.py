"""Recursive functions: how far a trace follows them, and how deep they may recurse on the host.

While tracing, a recursive call becomes part of the graph: numbers and shapes known then must end the
recursion.
"""

from __future__ import annotations

import functools
import sys
import threading
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from np2tf.core.errors import RecursionLimitError
from np2tf.staging.objects.code_names import codes_within
from np2tf.staging.objects.user_objects import wrapped_function

if TYPE_CHECKING:
    from np2tf.arrays.tensors.storage import StagingScope


#: The limits for a graph: the number of recursive calls, and the number of staged branches and loops of the
#: function around them.
MOST_CALLS, MOST_STAGED = 100, 3
#: On the host there may be frames of an operator and a helper between two calls, which NumPy's code does not
#: have.
FRAMES_PER_CALL = 8
#: The greatest recursion limit that Python takes.
_MOST_FRAMES = 2**31 - 1
#: The number of functions that the search for recursion through other functions follows.
MOST_FUNCTIONS = 100


@functools.cache
def deepest() -> int:
    """Return how deep recursive calls may be in a graph.

    XLA of TensorFlow before 2.21 may compute an operand once more for each of its readers: it takes more than
    20 GB for 32 calls that each reverse an array.
    """
    import tensorflow as tf  # while tracing it is there; the host does not need it

    return 32 if tuple(map(int, tf.__version__.split(".")[:2])) >= (2, 21) else 12


class TracedCalls:
    """The calls of jitted functions that one trace has entered."""

    def __init__(self) -> None:
        self._scopes: dict[Any, list[StagingScope]] = {}
        self._again = 0

    @contextmanager
    def enter(self, function: Any, scope: StagingScope) -> Iterator[None]:
        """Trace a call of `function` within the with block.

        Raises:
            StagingError: if the function calls itself too often, or data decide how often.
        """
        within = self._scopes.setdefault(function, [])
        if within:
            self._again += 1
            if len({id(call) for call in [*within, scope]}) > MOST_STAGED + 1:
                name = function.__wrapped__.__qualname__
                raise RecursionLimitError(f"data decide how often {name} calls itself")
            if self._again > MOST_CALLS or len(within) > deepest():
                name = function.__wrapped__.__qualname__
                raise RecursionLimitError(f"{name} calls itself too often for a graph")
        within.append(scope)
        try:
            yield
        finally:
            within.pop()


class HostCalls(threading.local):
    """The calls of one function that are running on the host in this thread, one inside another."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.depth = 0
        self.calls_itself = _calls_itself(function)

    def run(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Return ``function(*args, **kwargs)``, with recursion as deep as without np2tf."""
        self.depth += 1
        try:
            if self.depth != 1 or not self.calls_itself:
                return function(*args, **kwargs)
            with _deep_stack:
                return function(*args, **kwargs)
        finally:
            self.depth -= 1


def allow_deep_recursion(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that may recurse through `np2tf.jit` as deep as without np2tf."""

    def call(*args: Any, **kwargs: Any) -> Any:
        if _deep_stack.users:
            return function(*args, **kwargs)
        with _deep_stack:
            return function(*args, **kwargs)

    return call


def _calls_itself(function: Callable[..., Any]) -> bool:
    """Return whether a function, or one inside it, seems to call itself, directly or through functions of its
    module.
    """
    code = getattr(function, "__code__", None)
    if code is None:
        return False
    alone = any(inner_code.co_name in _names(inner_code) for inner_code in codes_within(code))
    return alone or code.co_name in _names_of_called(function)


def _names_of_called(function: Callable[..., Any]) -> set[str]:
    """Return the names that a function and all functions that it reads as globals use."""
    names: set[str] = set()
    stack, ids = [function], {id(function)}
    while stack and len(ids) < MOST_FUNCTIONS:
        pending_function = stack.pop()
        own_names = _names(pending_function.__code__)  # type: ignore[attr-defined]
        names |= own_names
        space = pending_function.__globals__  # type: ignore[attr-defined]
        for name in own_names & space.keys():
            callee = wrapped_function(space[name]) or space[name]
            if type(callee) is types.FunctionType and id(callee) not in ids:
                ids.add(id(callee))
                stack.append(callee)
    return names


def _names(code: types.CodeType) -> set[str]:
    """Return the globals, closure variables and attributes that a function, or one inside it, reads."""
    return {
        name for inner_code in codes_within(code) for name in (*inner_code.co_names, *inner_code.co_freevars)
    }


class _DeepStack:
    """A context that raises Python's recursion limit to make room for np2tf's frames between the user's.

    Attributes:
        users: the number of threads and calls in the context.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.users = 0
        self._before = 0

    def __enter__(self) -> None:
        with self._lock:
            if not self.users:
                self._before = sys.getrecursionlimit()
                sys.setrecursionlimit(min(self._before * FRAMES_PER_CALL, _MOST_FRAMES))
            self.users += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self.users -= 1
            if not self.users:
                with suppress(RecursionError):  # another thread's call is deeper than that
                    sys.setrecursionlimit(self._before)


_deep_stack = _DeepStack()
