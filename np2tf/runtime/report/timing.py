"""Measures a report: every entry into the op library and into compiled code is timed while a report is made.

Without a report nothing is slowed down: the timing functions replace the functions that they time, and are
removed again.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any
from weakref import WeakSet

import tensorflow as tf

from np2tf.counts import Fallback, counts
from np2tf.faults import note_fault
from np2tf.runtime.compilation.compiling import Compiler
from np2tf.runtime.compilation.concrete_function import ConcreteFunction
from np2tf.runtime.compilation.loop_compiler import LoopCompiler
from np2tf.runtime.decisions.decisions import decisions
from np2tf.runtime.host.host_function import HostFunction
from np2tf.runtime.introspection.error_causes import code_of, first_line, place_of
from np2tf.runtime.jit.jitted_function import JittedFunction
from np2tf.runtime.report.report import HANDED_OVER, HOST_ONLY, ON_HOST, Function, Report
from np2tf.tnp._entry import entry_points
from np2tf.tnp._tensor.storage import current_scope
from np2tf.tnp._warnings.user_lines import user_location


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
        self._undo = [entry_points.replace(self._operation), self._methods()]
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
            (ConcreteFunction, ConcreteFunction.retrace_as_graph, self._time_trace),
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
