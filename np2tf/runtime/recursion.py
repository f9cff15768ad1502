"""Functions that call themselves: how far a trace follows them, and how deep they may go on the host.

While tracing, such a call becomes part of the graph: it must end by numbers and shapes, known then.
"""

from __future__ import annotations

import sys
import threading
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from np2tf.staging import StagingError
from np2tf.tnp.cells import Region

#: So many calls of functions within themselves become part of one graph, so deep within one another, and
#: from within so many staged branches and loops of their own.
MOST_CALLS, DEEPEST, MOST_STAGED = 100, 32, 3
#: On the host an operator and a helper may stand between a call and the next one, which NumPy's code has not.
FRAMES_PER_CALL = 6


class Calls:
    """The calls of jitted functions that one trace has entered."""

    def __init__(self) -> None:
        self._open: dict[Any, list[Region]] = {}
        self._again = 0

    @contextmanager
    def entering(self, function: Any, region: Region) -> Iterator[None]:
        """Within the with block, trace a call of `function`.

        Raises:
            StagingError: it calls itself without an end in sight.
        """
        within = self._open.setdefault(function, [])
        if within:
            self._again += 1
            if len({id(one) for one in [*within, region]}) > MOST_STAGED + 1:
                name = function.__wrapped__.__qualname__
                raise StagingError(f"data decide how often {name} calls itself", "NP2TF523")
            if self._again > MOST_CALLS or len(within) > DEEPEST:
                name = function.__wrapped__.__qualname__
                raise StagingError(f"{name} calls itself too often for a graph", "NP2TF523")
        within.append(region)
        try:
            yield
        finally:
            within.pop()


class HostCalls(threading.local):
    """The calls of one function that are running on the host in this thread, one within another."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.depth = 0
        code = getattr(function, "__code__", None)
        self._calls_itself = code is not None and _calls_itself(code)

    def run(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """``function(*args, **kwargs)``, where calls within calls go as deep as they do without np2tf."""
        self.depth += 1
        try:
            if self.depth != 1 or not self._calls_itself:
                return function(*args, **kwargs)
            with _deep_stack:
                return function(*args, **kwargs)
        finally:
            self.depth -= 1


def _calls_itself(code: types.CodeType) -> bool:
    """Whether a function, or one inside it, seems to."""
    inner = [const for const in code.co_consts if isinstance(const, types.CodeType)]
    return _mentions(code, code.co_name) or any(map(_calls_itself, inner))


def _mentions(code: types.CodeType, name: str) -> bool:
    """Whether a function, or one inside it, reads a global, a variable around it or an attribute so named."""
    inner = [const for const in code.co_consts if isinstance(const, types.CodeType)]
    return name in (*code.co_names, *code.co_freevars) or any(_mentions(one, name) for one in inner)


class _DeepStack:
    """A context in which Python's own limit to recursion allows for np2tf's frames between the user's."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._before = 0

    def __enter__(self) -> None:
        with self._lock:
            if not self._users:
                self._before = sys.getrecursionlimit()
                sys.setrecursionlimit(self._before * FRAMES_PER_CALL)
            self._users += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._users -= 1
            if not self._users:
                sys.setrecursionlimit(self._before)


_deep_stack = _DeepStack()
