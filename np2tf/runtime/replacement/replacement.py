"""On-stack replacement: a loop that takes long on the host continues as compiled code while it runs.

The code that a jitted function runs on the host has watched loops (`np2tf.imports.loops.functions`). If a
loop has run for a while, and its remaining iterations would take longer than compiling, it is compiled as a
function whose arguments are the variables of the loop, and the remaining iterations run there. If it cannot
be staged, the loop continues on the host.

A loop whose runs are short, but many, is entered as compiled code instead. When all its runs have taken long
enough, a run begins in compiled code (or after its first iteration, which binds the names that the loop only
assigns). Its function is measured and budgeted like a jitted function.

See Hölzle, Ungar: Optimizing dynamically-dispatched calls with run-time type feedback (PLDI 1994).
"""

from __future__ import annotations

import sys
import threading
import types
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import chain, islice, repeat
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from np2tf.config import config
from np2tf.runtime.decisions.decisions import PAYS
from np2tf.runtime.environment.call_context import is_recording, load, tensorflow
from np2tf.runtime.environment.clock import IMPORT_SECONDS, clock, machine
from np2tf.runtime.introspection.array_search import holds_array
from np2tf.runtime.replacement.loop_timer import LoopTimer
from np2tf.runtime.replacement.watched_loop import FASTER, WatchedLoop, hot, loop_costs
from np2tf.staging import TracingTimeError
from np2tf.tnp._front.fast_flags import fast_flags
from np2tf.tnp._front.promotion_mode import uses_numpy_rules

if TYPE_CHECKING:
    from np2tf.runtime.compilation.loop_compiler import LoopCompiler
    from np2tf.runtime.jit.jitted_function import JittedFunction


#: The seconds that a loop must have run, and the factor by which its remaining time must exceed the expected
#: cost of compiling it.
HOT, WORTH = 0.05, 3.0
#: The clock is read once in this many seconds.
PERIOD = 0.005
#: The length of the trials of compiled code, in seconds of the host: a cold trial, in which XLA compiles, and
#: a warm trial.
FIRST_TRIAL, WARM_TRIAL = 0.005, 0.02
#: Compiled code runs in parts, each this many times as long as the last, until a part takes LONGEST seconds.
#: Between two parts, handlers of signals run, and what other threads have written is read again.
LONGER, LONGEST = 8, 0.25
#: The first iterations, which also load modules and make caches, do not say how long the other iterations
#: will take.
LOADING_ROUNDS = 1
#: The iterations of a `while`, as numbers.
UNLIMITED_ROUNDS = range(2**62)


class LoopRun:
    """The iterations of a watched loop, in parts; None stands for a part that runs as compiled code.

    Attributes:
        is_over: whether compiled code has reached the loop's break, or the end of its test.
    """

    __slots__ = (
        "_arrays",
        "_frame",
        "_iterator",
        "_loop",
        "_note",
        "_numbers",
        "_pending",
        "_per_round",
        "_report_entry",
        "_results",
        "_rounds_left",
        "_taken_over",
        "is_over",
    )

    def __init__(
        self, numbers: range, loop: WatchedLoop, arrays: tuple[np.ndarray, ...] = (), iterable: Any = None
    ) -> None:
        self._numbers, self._loop, self._arrays = numbers, loop, arrays
        self._iterator = iter(iterable) if arrays else None
        self.is_over = self._taken_over = False
        self._results: tuple[Any, ...] | None = None
        # The exception of a signal's handler, which is raised once the loop's variables have their values.
        self._pending: BaseException | None = None
        # Receives the host's seconds, and the seconds without long calls of jitted functions.
        self._note: Callable[[float, float], None] | None = None

    def __iter__(self) -> Iterator[Iterable[Any] | None]:
        yield chain.from_iterable(self._parts())
        if self._taken_over:
            yield None
            if self._pending is not None:
                raise self._pending
            if len(self._rounds_left) and not self._loop.is_while:
                yield self._part(self._rounds_left)

    def _part(self, numbers: range) -> Iterable[Any]:
        """Return the loop's iterable for some numbers; the numbers before have been passed on."""
        if self._loop.is_while:
            return repeat(None, len(numbers))
        if self._iterator is None:
            return numbers
        return islice(self._iterator, len(numbers))

    def _parts(self) -> Iterator[Iterable[Any]]:
        """Yield the numbers, piece by piece; the clock is read between the pieces."""
        numbers, loop, count = self._numbers, self._loop, len(self._numbers)
        position, size, seconds, first = 0, 1, 0.0, 0.0
        is_due = loop.is_due and self._enter(sys._getframe(1), numbers)
        if self._taken_over:
            return
        timer = LoopTimer()
        try:
            while position < count:
                yield self._part(numbers[position : position + size])
                position += size
                if is_due and position == 1 < count:
                    self._enter(sys._getframe(1), numbers[1:])
                    if self._taken_over:
                        return
                seconds = timer.seconds
                if position <= LOADING_ROUNDS:
                    first = timer.own_seconds
                elif seconds >= HOT and position < count:
                    loop.short = 0
                    hot.count += 1
                    if loop.refused:
                        if not loop.is_while:
                            yield self._part(numbers[position:])
                        return
                    # A loop with an unknown end is assumed to be half done.
                    left = timer.own_seconds - first
                    left *= WORTH if loop.is_while else (count - position) / (position - LOADING_ROUNDS)
                    if self._pays(seconds, left):
                        self._taken_over = self._take_over(sys._getframe(1), left)
                        if self._taken_over:
                            self._rounds_left, self._per_round = numbers[position:], seconds / position
                            self._report_entry = loop.note_replacement(position, seconds)
                            return
                size = max(1, min(2 * size, int(position * PERIOD / seconds) if seconds else size))
        finally:
            # In a loop that breaks, the last measurement is some iterations old.
            if seconds and not self._taken_over:
                loop.per_round = seconds / min(position, count)
                timer.note_spent(seconds)
                own_seconds = timer.own_seconds
                loop.note_run(own_seconds)
                if self._note is not None:
                    self._note(seconds, own_seconds)

    def _enter(self, frame: types.FrameType, rounds_left: range) -> bool:
        """Run the rest as compiled code, if that is faster; return whether to try again one iteration
        later.
        """
        loop = self._loop
        hot.count += 1
        if not _is_possible():
            return False
        variables = dict(frame.f_locals)
        if any(name not in variables for name in loop.function.parameters):
            return True
        arguments = self._arguments(variables, rounds_left)
        jitted_function = self._stageable_function(frame, arguments)
        if jitted_function is None:
            return False
        start, compiler = perf_counter(), loop_compiler(jitted_function)
        result, cache = compiler.enter(arguments, loop.changing_places)
        loop.note_host_run(result is None and cache is None)
        if result is None:
            self._note = partial(compiler.note_host_run, cache)
            return False
        self._taken_over = True
        entry = loop.note_replacement(rounds_left.start - self._numbers.start, 0.0)
        entry.rounds += len(rounds_left)
        entry.compiled += perf_counter() - start
        self._rounds_left = rounds_left[len(rounds_left) :]
        self._skip(len(rounds_left))
        self.is_over = loop.function.tells and bool(result[-1])
        self._results = result[: len(loop.function.results)]
        return False

    def _stageable_function(
        self, frame: types.FrameType, arguments: tuple[Any, ...]
    ) -> JittedFunction | None:
        """Return the loop's function, if it can be staged, and works on arrays."""
        loop = self._loop
        # Finding out that a loop cannot be staged needs no TensorFlow.
        _, jitted_function = loop.functions(frame.f_globals)
        about_arrays = fast_flags.tensors or loop.function.says_numpy or holds_array(arguments)
        if jitted_function is None or not about_arrays or loop.is_refused(arguments):
            loop.refused = True
            return None
        return jitted_function

    def _skip(self, count: int) -> None:
        """Skip `count` elements of the loop's iterable, which compiled code has used."""
        if self._iterator is not None and count:
            next(islice(self._iterator, count, count), None)

    def _pays(self, seconds_passed: float, seconds_left: float) -> bool:
        """Return whether the rest of the loop, without long calls, takes longer than compiling it."""
        loop, import_seconds = self._loop, 0.0 if fast_flags.tensors else IMPORT_SECONDS * machine.slowdown
        if loop.record is not None and loop.record.ratio >= 0.0 and not loop.cost:
            pays = seconds_left * (1.0 - loop.record.ratio) > PAYS * (loop.expected_seconds + import_seconds)
        else:
            pays = seconds_left > WORTH * (loop.expected_seconds + import_seconds)
        return (
            pays
            and _is_possible()
            and loop_costs.seconds < clock.host_seconds + seconds_passed + seconds_left
        )

    def _take_over(self, frame: types.FrameType, seconds_left: float) -> bool:
        """Return whether the loop was traced; `seconds_left` is the time that the host would still take."""
        variables, loop = frame.f_locals, self._loop
        if any(name not in variables for name in loop.function.parameters):
            return False
        self._frame = dict(variables), frame.f_globals
        start, compile_seconds = perf_counter(), clock.compile_seconds
        arguments = self._arguments(variables, self._numbers)
        jitted_function = self._stageable_function(frame, arguments)
        if jitted_function is None:
            return False
        load()
        limit = seconds_left / WORTH
        if loop.record is not None:
            limit = max(limit, PAYS * loop.record.cost)
        why = loop_compiler(jitted_function).compile_ahead(arguments, loop.changing_places, limit)
        seconds = perf_counter() - start
        loop.compiling_seconds += seconds
        # Translating the loop is a part of compiling, too.
        clock.compile_seconds = compile_seconds + seconds
        loop_costs.seconds += seconds
        loop_costs.tries += 1
        loop.note(seconds)
        if why is not None and why.kind is TracingTimeError:
            loop.least = 2 * limit
            return False
        if why is not None and not why.kind.is_momentary:
            loop.refuse(arguments, why)
        loop.refused = why is not None
        return not loop.refused

    def _arguments(self, variables: dict[str, Any], numbers: range) -> tuple[Any, ...]:
        function = self._loop.function
        values = [variables[name] for name in function.parameters]
        if function.kind == "while":
            return (*values, len(numbers))
        values += [*self._arrays, numbers.start, numbers.stop]
        return (*values, numbers.step) if function.kind == "steps" else tuple(values)

    def finish(self) -> tuple[Any, ...]:
        """Run the rest as compiled code, as far as it can and is faster; return the results.

        The loop itself runs iterations that compiled code cannot, so its errors and handlers stay in effect.
        """
        if self._results is not None:
            return self._results
        variables, names = self._frame
        del self._frame
        start = self._rounds_left.start
        try:
            self._run_parts(variables, names)
        except BaseException as error:  # a handler has raised between two parts
            self._pending, self.is_over = error, False
        self._skip(self._rounds_left.start - start if len(self._rounds_left) else 0)
        return tuple(variables[name] for name in self._loop.function.results)

    def _run_parts(self, variables: dict[str, Any], names: dict[str, Any]) -> None:
        """Run the rest as compiled code, as far as it can and is faster, after trials; update the variables.

        Args:
            variables: the loop's variables.
            names: the globals of the loop's code.
        """
        _, jitted_function = self._loop.functions(names)
        assert jitted_function is not None
        compiler, trace_count = loop_compiler(jitted_function), jitted_function.trace_count
        for seconds in (FIRST_TRIAL, WARM_TRIAL):
            size = max(1, int(seconds / self._per_round))
            duration = self._run(size, compiler, variables)
            if duration is None:
                self._report_entry.returned += 1
                break
            if self._is_done:
                break
            if seconds == FIRST_TRIAL:
                loop_costs.seconds += duration
                self._loop.note(duration)
                trace_count = jitted_function.trace_count
                continue
            self._loop.ratio = duration / (size * self._per_round)
            if duration > FASTER * size * self._per_round or jitted_function.trace_count > trace_count:
                self._loop.refused = True
                self._report_entry.returned += 1
            else:
                self._run_all(size, compiler, variables)

    @property
    def _is_done(self) -> bool:
        return self.is_over or not len(self._rounds_left)

    def _run_all(self, size: int, compiler: LoopCompiler, variables: dict[str, Any]) -> None:
        """Run the rest in parts that become longer, and shorter before an iteration that only the host can
        run.
        """
        least = size
        while not self._is_done:
            seconds = self._run(size, compiler, variables)
            if seconds is not None:
                size = max(int(size * min(LONGER, LONGEST / max(seconds, 1e-9))), 1)
                least = min(least, size)
            elif size > least:
                size = max(size // LONGER, least)
            else:
                self._report_entry.returned += 1
                break

    def _run(self, size: int, compiler: LoopCompiler, variables: dict[str, Any]) -> float | None:
        """Run `size` iterations as compiled code; return the seconds, or None, with nothing done, if it
        cannot.
        """
        function, entry, start = self._loop.function, self._report_entry, perf_counter()
        part = self._rounds_left[:size]
        result = compiler.run_now(self._arguments(variables, part), self._loop.changing_places)
        seconds = perf_counter() - start
        if entry.rounds:
            entry.compiled += seconds
        else:  # XLA compiles at the first call
            entry.compiling += seconds
        if result is None:
            self._loop.note_discarded_call()
            return None
        self._rounds_left = self._rounds_left[size:]
        variables.update(zip(function.results, result))
        self.is_over = function.tells and bool(result[-1])
        # The number of iterations of a loop that is over is not known.
        entry.rounds += 1 if self.is_over else len(part)
        return seconds


class _LongCalls(threading.local):
    """The calls that this thread runs on the host because compiled code takes long for them."""

    depth = 0


_long_calls = _LongCalls()


@contextmanager
def replace_loops() -> Iterator[None]:
    """Replace hot loops in the block in every tier, because whole functions are not compiled."""
    _long_calls.depth += 1
    try:
        yield
    finally:
        _long_calls.depth -= 1


def loop_compiler(jitted_function: JittedFunction) -> LoopCompiler:
    """Return the compiler of a loop's function."""
    load()
    from np2tf.runtime.compilation.loop_compiler import LoopCompiler

    return LoopCompiler.of(jitted_function)


def _is_possible() -> bool:
    """Return whether loops on the host may be compiled in the present context."""
    if (
        config.jit == "off"
        or (config.tier != "auto" and not _long_calls.depth)
        or not fast_flags.numpy
        or not uses_numpy_rules()
    ):
        return False
    if tensorflow.is_known and (is_recording() or tensorflow.graphs.stack):
        return False
    return "raise" not in np.geterr().values()
