"""Counters of the operations and calls on each tier.

The code that runs an operation adds to them; `collect` reads them, for a block.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from np2tf.core.errors import StagingError, class_of_code
from np2tf.core.own_warnings import warn_at
from np2tf.core.settings import program

#: The number of reasons that are told apart.
MOST_FALLBACKS = 1000
#: The counters that are plain numbers.
NUMBERS = ("compiled", "graph", "eager", "host", "host_calls", "traces")


@dataclass
class Fallback:
    """A function that ran as Python because it could not be compiled: the reason, the place, and the number
    of calls.
    """

    function: str
    reason: str
    code: str = StagingError.code
    path: str = ""
    line: int = 0
    calls: int = 1

    @property
    def kind(self) -> type[StagingError]:
        """The class of errors that the code stands for."""
        return class_of_code(self.code)

    @property
    def key(self) -> tuple[Any, ...]:
        """The values by which two fallbacks are equal."""
        return self.function, self.reason, self.code, self.path, self.line

    def __str__(self) -> str:
        return f"{self.function}: {self.reason}"


@dataclass
class TakenOver:
    """A loop whose remaining iterations ran as compiled code after it had begun on the host.

    Attributes:
        name: the name of the function that contains the loop.
        round: the number of iterations that had run on the host at the first takeover.
        host: the seconds of these iterations.
        compiling: the seconds of translating and tracing the loop, and of first calls, in which XLA compiles.
        rounds: the number of iterations that ran as compiled code.
        compiled: the seconds of these iterations.
        returned: how often the host ran the rest of the loop, because the host was faster or had to raise an
            error.
        saved: the seconds that the host would have taken for the compiled iterations, minus their seconds.
    """

    name: str
    path: str
    line: int
    times: int = 0
    round: int = 0
    host: float = 0.0
    compiling: float = 0.0
    rounds: int = 0
    compiled: float = 0.0
    returned: int = 0
    saved: float = 0.0


@dataclass
class Counts:
    """The calls and operations of this process so far.

    Attributes:
        compiled: calls of jitted functions that ran as one XLA program.
        graph: calls of jitted functions that ran as a graph (XLA may have compiled loops in it).
        eager: TensorFlow operations that ran one at a time.
        host: calls of jitted functions that ran on the host, and operations on tensors that NumPy ran.
        fallbacks: the reasons why functions ran unjitted, each reason once.
        loops: the loops of which compiled code ran a part, by name.
    """

    compiled: int = 0
    graph: int = 0
    eager: int = 0
    host: int = 0
    host_calls: int = 0
    traces: int = 0
    fallbacks: list[Fallback] = field(default_factory=list)
    loops: dict[str, TakenOver] = field(default_factory=dict, compare=False)
    _fallback_by_key: dict[tuple[Any, ...], Fallback] = field(default_factory=dict, repr=False, compare=False)

    @property
    def unjitted(self) -> int:
        """The number of calls that ran as Python because the function could not be compiled."""
        return sum(fallback.calls for fallback in self.fallbacks)

    def fell_back(self, fallback: Fallback) -> Fallback:
        """Count a call that ran unjitted, and return the entry that counts all calls with its key."""
        entry = self._fallback_by_key.get(fallback.key)
        if entry is None and len(self.fallbacks) >= MOST_FALLBACKS:
            # Reasons may name values, of which a program that runs for long has any number.
            return fallback
        if entry is None:
            self._fallback_by_key[fallback.key] = fallback
            self.fallbacks.append(fallback)
            return fallback
        entry.calls += fallback.calls
        return entry

    def to_data(self) -> dict[str, Any]:
        """Return the counters as plain data, which a worker process can send."""
        numbers: dict[str, Any] = {name: getattr(self, name) for name in NUMBERS}
        return {**numbers, "fallbacks": [asdict(fallback) for fallback in self.fallbacks]}

    def add(self, data: Mapping[str, Any]) -> None:
        """Add the counters of another process, as returned by its `to_data`."""
        for name in NUMBERS:
            setattr(self, name, getattr(self, name) + data[name])
        for fallback in data["fallbacks"]:
            self.fell_back(Fallback(**fallback))


counts = Counts()


@contextmanager
def collect() -> Iterator[Counts]:
    """Count operations and calls in the with block; the result is complete when the block ends."""
    numbers = {name: getattr(counts, name) for name in NUMBERS}
    calls = {fallback.key: fallback.calls for fallback in counts.fallbacks}
    result = Counts()
    try:
        yield result
    finally:
        for name, before in numbers.items():
            setattr(result, name, getattr(counts, name) - before)
        for fallback in counts.fallbacks:
            more = fallback.calls - calls.get(fallback.key, 0)
            if more:
                result.fell_back(replace(fallback, calls=more))


class UnjittedWarning(UserWarning):
    """Warns that a function which should be compiled runs as Python."""


def tell_unjitted(why: Fallback, more: str = "") -> None:
    """Warn at the place of the reason, unless np2tf has chosen the function by itself in a program as it is:
    then the report tells.
    """
    if program.starts_as_source and not program.is_verbose:
        return
    message = f"{why.code} {why.path}:{why.line}: {why.function} runs unjitted: {why.reason}{more}"
    warn_at(message, UnjittedWarning, why.path, why.line)
