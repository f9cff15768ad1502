"""Makes the report on a run.

The run is not changed for it. The samples of `np2tf.staging.process.sampler` tell where the time went, and
what np2tf counts and measures for its own choices tells the rest. Only in programs that work with tensors are
operations timed (`np2tf.staging.operation_times`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from time import perf_counter
from types import ModuleType

from np2tf.core.counts import counts
from np2tf.core.errors import TracingTimeError
from np2tf.staging.host.jit import JittedFunction, called
from np2tf.staging.host.watched_loops import OF_LOOP, WatchedLoop, loops
from np2tf.staging.process.sampler import Sampler
from np2tf.staging.report import Account, Function, Loop, Place, Report, Time
from np2tf.staging.tiers import constants
from np2tf.staging.tiers.clock import import_cost
from np2tf.staging.tiers.history import decisions
from np2tf.staging.tiers.library_work import library_calls


class Watch:
    """Makes a report, from its creation until `stop`, on the thread that creates it.

    Args:
        of_operations: whether to time single operations too, which needs TensorFlow.
    """

    def __init__(self, of_operations: bool = False) -> None:
        self.report = Report()
        self._undo: list[Callable[[], None]] = []
        if of_operations:
            from np2tf.staging.operation_times import time_operations

            self._undo.append(time_operations(self.report))
            # What earlier processes have measured was without this timing.
            decisions.disable()
        self._counts = counts.compiled, counts.graph, counts.traces
        self._calls = {fallback.key: fallback.calls for fallback in counts.fallbacks}
        counts.loops.clear()
        self._functions = called.functions = []
        self._start = perf_counter()
        self._sampler: Sampler | None = Sampler()

    def stop(self) -> Report:
        """Stop, and return the report."""
        if self._sampler is None:
            return self.report
        report, sampler = self.report, self._sampler
        self._sampler = called.functions = None
        sampler.stop()
        report.stacks, report.seconds = sampler.seconds, perf_counter() - self._start
        while self._undo:
            self._undo.pop()()
        report.loops = sorted(counts.loops.values(), key=lambda loop: (loop.path, loop.line))
        of_loops = {id(translation) for loop in loops.values() for translation in loop.translations}
        report.functions = [
            _function(jitted_function)
            for jitted_function in self._functions
            if id(jitted_function) not in of_loops
        ]
        report.unjitted = list(self._unjitted())
        now = counts.compiled, counts.graph, counts.traces
        for name, count, before in zip(("compiled", "graph", "compiling"), now, self._counts, strict=True):
            seconds = sum(getattr(function, name).seconds for function in report.functions)
            setattr(report, name, Time(count - before, seconds))
        report.accounts = list(accounts(report))
        report.watched = [_loop(loop) for loop in loops.values() if loop.whole is loop]
        return report

    def _unjitted(self) -> Iterable[Place]:
        """Yield the functions that ran as Python because they could not be compiled, one for each reason."""
        means = {
            (function.name, function.path): function.host.seconds / function.host.calls
            for function in self.report.functions
            if function.host.calls
        }
        for why in counts.fallbacks:
            calls = why.calls - self._calls.get(why.key, 0)
            if calls and not why.function.endswith(OF_LOOP):
                mean = means.get((why.function, why.path), 0.0)
                yield Place(calls, calls * mean, why.function, why.path, why.line, why.reason, why.code)


def _function(jitted_function: JittedFunction) -> Function:
    """Return the figures of a jitted function that has been called."""
    host, original = jitted_function._host, jitted_function._host.original
    code = getattr(original, "__code__", None) or jitted_function.__wrapped__.__code__
    function = Function(jitted_function.__wrapped__.__qualname__, code.co_filename, code.co_firstlineno)
    untimed_calls = host.granted_calls - max(jitted_function._untimed_calls, 0)
    function.host = Time(host.timed_calls + untimed_calls, host.seconds + untimed_calls * host.average)
    function.inlined = jitted_function.inline_count
    function.is_short = host.is_short
    function.library = sorted(library_calls(code, jitted_function.__wrapped__.__globals__))
    function.cost = constants.COMPILE_SECONDS + import_cost()
    compiler = jitted_function.__dict__.get("_compiler")
    if compiler is None:
        return function
    compiled, graph = jitted_function.compiled_count, jitted_function.graph_count
    seconds = sum(cache.timing.seconds for cache in compiler.caches.values())
    share = compiled / (compiled + graph) if compiled else 0.0
    function.compiled, function.graph = Time(compiled, share * seconds), Time(graph, (1 - share) * seconds)
    function.compiling = Time(jitted_function.trace_count, compiler.compile_seconds)
    function.saved, function.cost = compiler.gain, compiler.expected_seconds
    function.reasons = compiler.reasons
    return function


def _loop(loop: WatchedLoop) -> Loop:
    """Return the figures of a loop; those of its variant with side exits count if that was tried last."""
    variant = loop.with_exits if loop.refused and loop.with_exits is not None else loop
    why = variant.failure or loop.failure
    is_over = variant.refused or (why is not None and why.kind is TracingTimeError)
    names = next((vars(module) for module in _modules_of(loop.path)), {})
    return Loop(
        loop.function.of,
        loop.path,
        loop.function.line,
        loop.host_seconds + variant.host_seconds * (variant is not loop),
        variant.expected_seconds + import_cost(),
        (why.code, why.reason, why.path, why.line) if why is not None and is_over else None,
        variant.refused and variant.ratio >= constants.FASTER,
        sorted(library_calls(loop.code, names)),
    )


def _modules_of(path: str) -> list[ModuleType]:
    return [module for module in list(sys.modules.values()) if getattr(module, "__file__", None) == path]


def accounts(report: Report) -> Iterable[Account]:
    """Yield what was spent on functions and loops, and what their compiled code has saved."""
    for function in report.functions:
        if function.compiling.seconds:
            spent = function.compiling.seconds
            yield Account(function.name, function.path, function.line, spent, function.saved)
    for loop in report.loops:
        yield Account(f"{loop.name}{OF_LOOP}", loop.path, loop.line, loop.compiling, loop.saved)
    for key, watched_loop in loops.items():
        spent = watched_loop.compiling_seconds
        if spent and key not in counts.loops:
            name, line = watched_loop.function.of, watched_loop.function.line
            yield Account(f"{name}{OF_LOOP}", watched_loop.path, line, spent, 0.0)
