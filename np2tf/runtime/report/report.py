"""The figures of a report on a program's time. Measuring and printing them is elsewhere."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from np2tf.counts import TakenOver

#: The number of rows in a list of the slowest places.
SLOWEST = 10

#: The reasons why an operation ran on the host.
ON_HOST = "its arrays are on the host"
HOST_ONLY = "NumPy's own: there is no TensorFlow version"
HANDED_OVER = "handed from TensorFlow to NumPy"


@dataclass
class Time:
    """A number of calls, and their seconds."""

    calls: int = 0
    seconds: float = 0.0

    def add(self, seconds: float) -> None:
        """Count one call."""
        self.calls += 1
        self.seconds += seconds


@dataclass
class Place(Time):
    """Operations or calls on the host at one line of the user's code."""

    name: str = ""
    path: str = ""
    line: int = 0
    why: str = ""
    code: str = ""


@dataclass
class Function:
    """A jitted function. `inlined` counts the calls that became a part of another function's compiled
    code.
    """

    name: str
    path: str
    line: int
    compiled: Time = field(default_factory=Time)
    graph: Time = field(default_factory=Time)
    host: Time = field(default_factory=Time)
    compiling: Time = field(default_factory=Time)
    inlined: int = 0

    @property
    def seconds(self) -> float:
        """The seconds of all its calls and compilations."""
        return sum(part.seconds for part in (self.compiled, self.graph, self.host, self.compiling))


@dataclass
class Report:
    """The report of a program's run.

    Attributes:
        seconds: the seconds from the beginning to the end.
        compiled, graph: calls of functions that ran as one XLA program, or as a TensorFlow graph.
        compiling: the traces, with the seconds of tracing and of first calls, in which XLA compiles.
        eager: operations that TensorFlow ran one at a time.
        host: operations that NumPy ran.
        places: the operations on the host, by line of the user's code.
        unjitted: functions that ran as Python because they could not be compiled.
        functions: all jitted functions that were called.
        loops: the loops of which compiled code ran a part.
    """

    seconds: float = 0.0
    compiled: Time = field(default_factory=Time)
    graph: Time = field(default_factory=Time)
    compiling: Time = field(default_factory=Time)
    eager: Time = field(default_factory=Time)
    host: Time = field(default_factory=Time)
    places: dict[tuple[Any, ...], Place] = field(default_factory=dict)
    unjitted: dict[tuple[Any, ...], Place] = field(default_factory=dict)
    functions: dict[Any, Function] = field(default_factory=dict)
    loops: list[TakenOver] = field(default_factory=list)

    def add_place(self, seconds: float, name: str, path: str, line: int, why: str) -> None:
        """Count an operation that ran on the host."""
        key = (name, path, line, why)
        if key not in self.places:
            self.places[key] = Place(name=name, path=path, line=line, why=why)
        self.places[key].add(seconds)

    def add_unjitted(self, seconds: float, name: str, path: str, line: int, why: str, code: str) -> None:
        """Count a call that ran as Python because it could not be compiled."""
        key = (name, path, line, why)
        if key not in self.unjitted:
            self.unjitted[key] = Place(name=name, path=path, line=line, why=why, code=code)
        self.unjitted[key].add(seconds)

    @property
    def fallbacks(self) -> list[Place]:
        """The slowest places that ran on the host although their data did not require it."""
        left = [place for place in self.places.values() if place.why != ON_HOST]
        return _slowest([*left, *self.unjitted.values()])

    @property
    def host_calls(self) -> list[Place]:
        """The slowest operations on arrays that live on the host."""
        return _slowest(place for place in self.places.values() if place.why == ON_HOST)

    @property
    def other_seconds(self) -> float:
        """The seconds outside of np2tf: Python, other libraries, the imports."""
        parts = (self.compiled, self.graph, self.compiling, self.eager, self.host)
        return max(0.0, self.seconds - sum(part.seconds for part in parts))

    def to_data(self) -> dict[str, Any]:
        """Return the report as plain data."""
        times = {name: asdict(getattr(self, name)) for name in ("compiled", "graph", "eager", "host")}
        compilation = {"traces": self.compiling.calls, "seconds": self.compiling.seconds}
        functions = sorted(self.functions.values(), key=lambda function: -function.seconds)
        return {
            "seconds": self.seconds,
            "where": {**times, "compiling": compilation, "other": {"seconds": self.other_seconds}},
            "host_fallbacks": [asdict(place) for place in self.fallbacks],
            "host_calls": [asdict(place) for place in self.host_calls],
            "unjitted": [asdict(place) for place in self.unjitted.values()],
            "functions": [asdict(function) for function in functions],
            "loops": [asdict(loop) for loop in self.loops],
        }


def _slowest(places: Iterable[Place]) -> list[Place]:
    return sorted(places, key=lambda place: -place.seconds)[:SLOWEST]
