"""The figures of a report on a run: where the time went, what was compiled, what it cost and saved."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from np2tf.core.counts import TakenOver
from np2tf.staging.process.sampler import COMPILED, EAGER, IMPORTING, TRACING, TRANSLATING, XLA, Stack

#: The number of rows in a list of the slowest places.
SLOWEST = 10
#: The reasons why an operation ran on the host.
ON_HOST = "its arrays are NumPy arrays"
HOST_ONLY = "there is no TensorFlow version"
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
    """A jitted function.

    Attributes:
        compiled, graph: its calls as one XLA program, and as a graph, without the first runs of new code.
        host: its calls on the host; if they are short, most are not timed and count with the mean time.
        compiling: its traces, with the seconds of tracing and of first calls, in which XLA compiles.
        inlined: the number of calls that became a part of another function's compiled code.
        saved: the seconds that its compiled calls have saved; negative if NumPy was faster.
        cost: the seconds that compiling it was expected to cost when the program ended.
        is_short: whether its calls are too short to be compiled by themselves.
        library: the functions of NumPy's libraries that take its time, which XLA computes no faster.
        reasons: why calls have run on the host although there was, or could have been, code for them.
    """

    name: str
    path: str
    line: int
    compiled: Time = field(default_factory=Time)
    graph: Time = field(default_factory=Time)
    host: Time = field(default_factory=Time)
    compiling: Time = field(default_factory=Time)
    inlined: int = 0
    saved: float = 0.0
    cost: float = 0.0
    is_short: bool = False
    library: list[str] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)

    @property
    def calls(self) -> int:
        """The number of its calls that were not inside another function's compiled code."""
        return self.compiled.calls + self.graph.calls + self.host.calls

    @property
    def seconds(self) -> float:
        """The seconds of all its calls and compilations."""
        return sum(part.seconds for part in (self.compiled, self.graph, self.host, self.compiling))


@dataclass
class Loop:
    """A loop that could have continued as compiled code.

    Attributes:
        name: the name of the function that contains it.
        host: the seconds of its runs on the host that were measured.
        cost: the seconds that compiling it was expected to cost when the program ended.
        failure: why it could not be compiled: code, reason, path and line; None if nothing is known.
        is_slower: whether its compiled code was slower than NumPy.
        library: the functions of NumPy's libraries that take its time, which XLA computes no faster.
    """

    name: str
    path: str
    line: int
    host: float
    cost: float
    failure: tuple[str, str, str, int] | None
    is_slower: bool
    library: list[str]


@dataclass
class Account:
    """What compiling a function or loop has cost, and what its compiled code has saved by estimation: the
    host's seconds for the same calls or iterations, minus those of the compiled code.
    """

    name: str
    path: str
    line: int
    spent: float
    saved: float


@dataclass
class Report:
    """The report of a program's run.

    Attributes:
        seconds: the seconds from the beginning to the end.
        stacks: the same seconds, by what the main thread did.
        compiled, graph: calls of functions that ran as one XLA program, or as a TensorFlow graph.
        compiling: the traces, with the seconds of tracing and of first calls, in which XLA compiles.
        eager: operations that TensorFlow ran one at a time.
        host: operations on tensors, or beside them, that NumPy ran.
        places: the operations on the host, by line of the user's code.
        unjitted: functions that ran as Python because they could not be compiled.
        functions: the jitted functions that were called.
        loops: the loops of which compiled code ran a part.
        watched: the loops that could have continued as compiled code.
        accounts: the functions and loops for whose compilation time was spent.
    """

    seconds: float = 0.0
    stacks: dict[Stack, float] = field(default_factory=dict)
    compiled: Time = field(default_factory=Time)
    graph: Time = field(default_factory=Time)
    compiling: Time = field(default_factory=Time)
    eager: Time = field(default_factory=Time)
    host: Time = field(default_factory=Time)
    places: dict[tuple[Any, ...], Place] = field(default_factory=dict)
    unjitted: list[Place] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)
    loops: list[TakenOver] = field(default_factory=list)
    watched: list[Loop] = field(default_factory=list)
    accounts: list[Account] = field(default_factory=list)

    def add_place(self, seconds: float, name: str, path: str, line: int, why: str) -> None:
        """Count an operation that ran on the host."""
        key = (name, path, line, why)
        if key not in self.places:
            self.places[key] = Place(name=name, path=path, line=line, why=why)
        self.places[key].add(seconds)

    @property
    def fallbacks(self) -> list[Place]:
        """The slowest places that ran on the host although their data did not require it."""
        left = [place for place in self.places.values() if place.why != ON_HOST]
        return _slowest([*left, *self.unjitted])

    @property
    def host_calls(self) -> list[Place]:
        """The slowest operations on arrays that live on the host."""
        return _slowest(place for place in self.places.values() if place.why == ON_HOST)

    @property
    def times(self) -> dict[str, float]:
        """The seconds of each kind of stacks, as `np2tf.staging.process.sampler` names them."""
        times: dict[str, float] = {}
        for stack, seconds in self.stacks.items():
            times[stack.kind] = times.get(stack.kind, 0.0) + seconds
        return times

    @property
    def spent(self) -> dict[str, float]:
        """The seconds that np2tf has spent on compiling, by kind."""
        times = self.times
        return {kind: times.get(kind, 0.0) for kind in (IMPORTING, TRANSLATING, TRACING, XLA)}

    def to_data(self) -> dict[str, Any]:
        """Return the report as plain data."""
        calls = {
            COMPILED: self.compiled.calls + self.graph.calls,
            TRACING: self.compiling.calls,
            EAGER: self.eager.calls,
        }
        where = {
            kind: {"seconds": seconds, "calls": calls.get(kind, 0)} for kind, seconds in self.times.items()
        }
        functions = sorted(self.functions, key=lambda function: -function.seconds)
        return {
            "seconds": self.seconds,
            "where": where,
            "host_fallbacks": [asdict(place) for place in self.fallbacks],
            "host_calls": [asdict(place) for place in self.host_calls],
            "unjitted": [asdict(place) for place in self.unjitted],
            "functions": [asdict(function) for function in functions],
            "loops": [asdict(loop) for loop in self.loops],
            "spent": self.spent,
            "accounts": [asdict(account) for account in self.accounts],
        }


def _slowest(places: Iterable[Place]) -> list[Place]:
    return sorted(places, key=lambda place: -place.seconds)[:SLOWEST]
