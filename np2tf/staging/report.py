"""Measures a report by timing every entry into the library and into compiled code, and holds its figures."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from time import perf_counter
from typing import Any
from weakref import WeakSet

import tensorflow as tf

from np2tf.arrays.entry import default_floats
from np2tf.arrays.operands.numpy_warnings import user_location
from np2tf.arrays.tensors.storage import current_scope
from np2tf.core.counts import Fallback, TakenOver, counts
from np2tf.core.faults import note_fault
from np2tf.staging.compile.compiler import Compiler
from np2tf.staging.compile.concrete_function import ConcreteFunction
from np2tf.staging.compile.loop_compiler import LoopCompiler
from np2tf.staging.host.host_function import HostFunction
from np2tf.staging.host.jit import JittedFunction
from np2tf.staging.objects.user_code import code_of, first_line, place_of
from np2tf.staging.tiers.history import decisions

# -- report --------------------------------------------------------------------------------------------------
# The figures of a report on a program's time. Measuring and printing them is elsewhere.

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


# -- timing --------------------------------------------------------------------------------------------------
# Measures a report: every entry into the op library and into compiled code is timed while a report is made.
#
# Without a report nothing is slowed down: the timing functions replace the functions that they time, and
# are removed again.


class _State(threading.local):
    def __init__(self) -> None:
        self.inside = False
        self.callers: list[JittedFunction] = []


class Watch:
    """Times operations and calls, from its creation until `stop`."""

    def __init__(self) -> None:
        self.report = Report()
        self._state = _State()
        self._called: WeakSet[ConcreteFunction] = WeakSet()
        self._undo = [default_floats.replace_entry_points(self._operation), self._methods()]
        decisions.disable()
        counts.loops.clear()
        self._start = perf_counter()

    def stop(self) -> Report:
        """Stop timing, and return the report."""
        self.report.seconds = perf_counter() - self._start
        self.report.loops = sorted(counts.loops.values(), key=lambda loop: (loop.path, loop.line))
        while self._undo:
            self._undo.pop()()
        return self.report

    # -- operations ------------------------------------------------------------------------------------------

    def _operation(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        state, report = self._state, self.report
        host_only = getattr(function, "host_only", False)

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            if state.inside or current_scope() is not None or not tf.executing_eagerly():
                return function(*args, **kwargs)
            eager, host = counts.eager, counts.host
            state.inside = True
            start = perf_counter()
            try:
                return function(*args, **kwargs)
            finally:
                state.inside = False
                try:
                    add(perf_counter() - start, counts.eager > eager, counts.host > host)
                except Exception as error:
                    note_fault(error)

        def add(seconds: float, is_eager: bool, is_handed_over: bool) -> None:
            if is_eager and not is_handed_over:
                report.eager.add(seconds)
            else:
                report.host.add(seconds)
                why = HOST_ONLY if host_only else HANDED_OVER if is_handed_over else ON_HOST
                report.add_place(seconds, name, *user_location(), why)

        return wrapper

    # -- jitted functions ------------------------------------------------------------------------------------

    def _methods(self) -> Callable[[], None]:
        """Time the methods through which jitted functions run, and return a function that undoes it."""
        methods: tuple[tuple[type, Callable[..., Any], Callable[..., Any]], ...] = (
            (JittedFunction, JittedFunction.__call__, self._time_call),
            (HostFunction, HostFunction.run_timed, self._on_host),
            (Compiler, Compiler.run_on_host, self._time_host_call),
            (Compiler, Compiler.run_unjitted, self._time_fallback),
            (LoopCompiler, LoopCompiler.compile_ahead, self._in_loop),
            (LoopCompiler, LoopCompiler.run_now, self._in_loop),
            (LoopCompiler, LoopCompiler.enter, self._in_loop),
            (ConcreteFunction, ConcreteFunction.__init__, self._time_trace),
            (ConcreteFunction, ConcreteFunction.retrace, self._time_trace),
            (ConcreteFunction, ConcreteFunction.__call__, self._time_run),
        )
        before = [(owner, method.__name__, method) for owner, method, _ in methods]
        for owner, method, make in methods:
            setattr(owner, method.__name__, _around(make, method))

        def undo() -> None:
            for owner, name, function in before:
                setattr(owner, name, function)

        return undo

    def _function(self, jitted_function: JittedFunction | None) -> Function:
        code = getattr(getattr(jitted_function, "__wrapped__", None), "__code__", None)
        if jitted_function is None or code is None:
            return self.report.functions.setdefault(None, Function("<unknown>", "<unknown>", 0))
        function = self.report.functions.get(code)
        if function is None:
            new_function = Function(
                jitted_function.__wrapped__.__qualname__, code.co_filename, code.co_firstlineno
            )
            function = self.report.functions[code] = new_function
        return function

    def _current(self) -> Function:
        callers = self._state.callers
        return self._function(callers[-1] if callers else None)

    @contextmanager
    def _time_call(self, jitted_function: JittedFunction, *_: Any) -> Iterator[None]:
        self._state.callers.append(jitted_function)
        if current_scope() is not None:
            self._function(jitted_function).inlined += 1
        # The function's work is not part of the operation that called it, such as vectorize.
        inside, self._state.inside = self._state.inside, False
        try:
            yield
        finally:
            self._state.callers.pop()
            self._state.inside = inside

    @contextmanager
    def _in_loop(self, compiler: Compiler, *_: Any) -> Iterator[None]:
        """Time a loop that continues as compiled code: as a part of its jitted function, or by itself."""
        callers = self._state.callers
        if callers:
            yield
            return
        callers.append(compiler._jitted)
        try:
            yield
        finally:
            callers.pop()

    @contextmanager
    def _on_host(self, *_: Any) -> Iterator[None]:
        function, start = self._current(), perf_counter()
        # The time of its loops as compiled code is not the host's.
        elsewhere = function.seconds - function.host.seconds
        try:
            yield
        finally:
            elsewhere = function.seconds - function.host.seconds - elsewhere
            function.host.add(max(perf_counter() - start - elsewhere, 0.0))

    @contextmanager
    def _time_host_call(self, compiler: Compiler, fallback: Fallback | None, *_: Any) -> Iterator[None]:
        start = perf_counter()
        try:
            yield
        finally:
            if fallback is not None:
                self._add_unjitted(perf_counter() - start, fallback)

    @contextmanager
    def _time_fallback(self, compiler: Compiler, error: Exception, *_: Any) -> Iterator[None]:
        start = perf_counter()
        try:
            yield
        finally:
            seconds = perf_counter() - start
            reason = first_line(error)
            path, line = place_of(error, compiler.code)
            self._add_unjitted(seconds, Fallback(compiler.name, reason, code_of(error), path, line))

    def _add_unjitted(self, seconds: float, fallback: Fallback) -> None:
        self.report.add_unjitted(
            seconds, fallback.function, fallback.path, fallback.line, fallback.reason, fallback.code
        )

    @contextmanager
    def _time_trace(self, *_: Any) -> Iterator[None]:
        start = perf_counter()
        try:
            yield
        finally:
            seconds = perf_counter() - start
            self.report.compiling.add(seconds)
            self._current().compiling.add(seconds)

    @contextmanager
    def _time_run(self, concrete_function: ConcreteFunction, *_: Any) -> Iterator[None]:
        start = perf_counter()
        try:
            yield
        finally:
            seconds = perf_counter() - start
            total, function = self.report, self._current()
            if concrete_function in self._called:
                kind = "compiled" if concrete_function.how == "xla" else "graph"
                getattr(total, kind).add(seconds)
                getattr(function, kind).add(seconds)
            else:
                self._first(concrete_function, seconds, total, function)

    def _first(
        self, concrete_function: ConcreteFunction, seconds: float, total: Report, function: Function
    ) -> None:
        """Count a first call without its time, which is mostly that of XLA's compilation."""
        self._called.add(concrete_function)
        kind = "compiled" if concrete_function.how == "xla" else "graph"
        for part in (total, function):
            getattr(part, kind).calls += 1
            part.compiling.seconds += seconds


def _begin(scope: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """Return an entered with block; None if entering it failed, which only the report lacks."""
    try:
        block = scope(*args)
        block.__enter__()
    except Exception as error:
        note_fault(error)
        return None
    return block


def _end(block: Any) -> None:
    try:
        if block is not None:
            block.__exit__(None, None, None)
    except Exception as error:
        note_fault(error)


def _around(scope: Callable[..., Any], function: Callable[..., Any]) -> Callable[..., Any]:
    """Return `function` inside the with block that `scope` makes from the arguments."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        block = _begin(scope, args)
        try:
            return function(*args, **kwargs)
        finally:
            _end(block)

    return call
