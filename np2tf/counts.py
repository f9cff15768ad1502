"""Counters of what ran where: whatever runs something adds to them; `runtime.report.counters` reads them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from np2tf.staging import StagingError, class_of_code

#: The counters that are plain numbers.
NUMBERS = ("compiled", "graph", "eager", "host", "host_calls", "traces")


@dataclass
class Fallback:
    """A function that ran as Python because it could not be compiled: why, where, and how often."""

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
        """What makes two of them the same."""
        return self.function, self.reason, self.code, self.path, self.line

    def __str__(self) -> str:
        return f"{self.function}: {self.reason}"


@dataclass
class TakenOver:
    """A loop that went on as compiled code while it ran.

    Attributes:
        name: of the function that it stands in.
        times: how often.
        round: how many rounds had run on the host, at the first time.
        host: seconds of these.
        compiling: seconds of translating and tracing it, and of first calls, in which XLA compiles.
        rounds: how many have run as compiled code.
        compiled: seconds of these.
        returned: how often the rest went back to the host, as that was faster, or had something to raise.
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


@dataclass
class Counts:
    """Calls so far in this process.

    Attributes:
        compiled: calls of jitted functions that ran as one XLA program.
        graph: calls of jitted functions that ran as a graph (loops in it may be compiled).
        eager: TensorFlow operations run one at a time.
        host: calls of jitted functions that ran on the host, and operations handed to NumPy from tensors.
        host_calls: how many of those were calls of jitted functions.
        traces: how often a function was traced.
        fallbacks: why functions ran unjitted, each reason once.
        loops: those that went on as compiled code while they ran, by what they are called.
    """

    compiled: int = 0
    graph: int = 0
    eager: int = 0
    host: int = 0
    host_calls: int = 0
    traces: int = 0
    fallbacks: list[Fallback] = field(default_factory=list)
    loops: dict[str, TakenOver] = field(default_factory=dict, compare=False)
    _known: dict[tuple[Any, ...], Fallback] = field(default_factory=dict, repr=False, compare=False)

    @property
    def unjitted(self) -> int:
        """Calls that ran as Python because they could not be compiled."""
        return sum(fallback.calls for fallback in self.fallbacks)

    def fell_back(self, fallback: Fallback) -> Fallback:
        """Count a call that ran unjitted; returns the entry that later calls of its kind add to."""
        known = self._known.get(fallback.key)
        if known is None:
            self._known[fallback.key] = fallback
            self.fallbacks.append(fallback)
            return fallback
        known.calls += fallback.calls
        return known

    def to_data(self) -> dict[str, Any]:
        """The counters as plain data: what a worker process sends."""
        numbers: dict[str, Any] = {name: getattr(self, name) for name in NUMBERS}
        return {**numbers, "fallbacks": [asdict(fallback) for fallback in self.fallbacks]}

    def add(self, data: Mapping[str, Any]) -> None:
        """Add the counters of another process, as `to_data` gave them."""
        for name in NUMBERS:
            setattr(self, name, getattr(self, name) + data[name])
        for fallback in data["fallbacks"]:
            self.fell_back(Fallback(**fallback))


counts = Counts()
