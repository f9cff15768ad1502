"""The regions of a running loop: numerical parts of its body, which run as compiled code if that pays.

A region is measured on the host once its loop is hot. If what it will take in the rest of the loop is worth
compiling, it is compiled as a function of the variables that it reads; the loop's own statements run where
compiled code cannot, or is slower. So what a region raises comes from the program's own lines.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from time import perf_counter
from typing import TYPE_CHECKING, Any

from np2tf.core.counts import TakenOver
from np2tf.core.errors import TracingTimeError
from np2tf.core.faults import note_fault
from np2tf.staging.host.loop_context import is_possible, loop_compiler
from np2tf.staging.host.watched_loops import WatchedLoop
from np2tf.staging.tiers import constants
from np2tf.staging.tiers.call_context import holds_array
from np2tf.staging.tiers.clock import LoopTimer, clock, machine
from np2tf.staging.tiers.comparison import Comparison

if TYPE_CHECKING:
    from np2tf.staging.compile.loop_compiler import LoopCompiler

#: Returns whether compiling a loop pays that the host would still run for some seconds.
Pays = Callable[[WatchedLoop, float], bool]


class Region:
    """A region in a run of its loop."""

    __slots__ = (
        "_compiler",
        "_entry",
        "_given",
        "_loop",
        "_misses",
        "_result",
        "_rounds",
        "_seconds",
        "_timer",
        "_timing",
        "is_over",
    )

    def __init__(self, loop: WatchedLoop) -> None:
        self._loop = loop
        self.is_over = loop.refused
        self._compiler: LoopCompiler | None = None
        # The seconds for compiling it at its next beginning; 0.0 if that does not pay yet.
        self._given = self._seconds = 0.0
        self._rounds = self._misses = 0
        self._timer: LoopTimer | None = None
        self._timing: Comparison | None = None
        self._result: tuple[Any, ...] = ()
        self._entry: TakenOver | None = None

    @property
    def is_compiled(self) -> bool:
        """True if it is compiled, or will be at its next beginning."""
        return not self.is_over and (self._compiler is not None or self._given > 0.0)

    def consider(self, rounds: float, pays: Pays) -> None:
        """Decide whether to compile the region.

        Args:
            rounds: the number of iterations that are expected to be left.
            pays: tells whether that is worth it.
        """
        if self.is_over or self.is_compiled or self._rounds < constants.ROUNDS_OF_REGION:
            return
        # A call of compiled code takes some of what it saves.
        per_round = self._seconds / self._rounds - constants.CALL_SECONDS / constants.EXPECTED_SAVING
        if per_round < 0.0:
            self.is_over = True
        elif pays(self._loop, per_round * rounds):
            self._given = constants.PATIENCE_OF_LOOPS * per_round * rounds * machine.slowdown

    def enter(self) -> bool:
        """Run the region as compiled code, and return whether it has run; if not, start the clock."""
        if self.is_over:
            return False
        try:
            call = self._prepare(sys._getframe(1)) if self.is_compiled else None
        except Exception as error:
            self._refuse_after(error)
            return False
        if call is not None and self._runs(*call):
            return True
        try:
            self._timer = None if self.is_over else LoopTimer()
        except Exception as error:
            self._refuse_after(error)
        return False

    def _runs(self, compiler: LoopCompiler, arguments: tuple[Any, ...]) -> bool:
        """Run the region as compiled code if that is faster; exceptions are those of the program."""
        start = perf_counter()
        result, self._timing = compiler.enter(arguments, self._loop.changing_places)
        try:
            self._note_call(result is not None, perf_counter() - start)
        except Exception as error:
            self._refuse_after(error)
        if result is None:
            return False
        self._result = result
        return True

    def take(self) -> tuple[Any, ...]:
        """Return the values of the names that compiled code has bound."""
        result, self._result = self._result, ()
        return result

    def leave(self) -> None:
        """Stop the clock, where the host has run the region."""
        timer, timing = self._timer, self._timing
        if timer is None:
            return
        try:
            self._timer = self._timing = None
            self._rounds += 1
            self._seconds += timer.own_seconds
            if timing is not None and self._compiler is not None:
                self._compiler.note_host_run(timing, timer.seconds, timer.own_seconds)
        except Exception as error:
            self._refuse_after(error)

    def _prepare(self, frame: types.FrameType) -> tuple[LoopCompiler, tuple[Any, ...]] | None:
        """Return the region's compiler and its arguments; None if it cannot be compiled now."""
        variables = frame.f_locals
        names = self._loop.function.parameters
        if not is_possible() or any(name not in variables for name in names):
            return None
        arguments = tuple(variables[name] for name in names)
        if self._compiler is None:
            self._compiler = self._compile(frame.f_globals, arguments)
            self._given = 0.0
        return None if self._compiler is None else (self._compiler, arguments)

    def _compile(self, names: dict[str, Any], arguments: tuple[Any, ...]) -> LoopCompiler | None:
        """Return the compiler with the code for the arguments; None if there can be none."""
        loop, start, compile_seconds = self._loop, perf_counter(), clock.compile_seconds
        _, jitted_function = loop.functions(names)
        about_arrays = loop.function.says_numpy or holds_array(arguments)
        if jitted_function is None or not about_arrays or loop.is_refused(arguments):
            self.is_over = loop.refused = True
            return None
        compiler = loop_compiler(jitted_function)
        why = compiler.compile_ahead(arguments, loop.changing_places, self._given)
        loop.note_compilation(perf_counter() - start, clock.compile_seconds - compile_seconds)
        if why is None:
            return compiler
        self.is_over = True
        if why.kind is TracingTimeError:
            loop.least = constants.GIVEN_UP_FACTOR * self._given
            return None
        if not why.kind.is_momentary:
            loop.refuse(arguments, {}, why)
        loop.refused = True
        return None

    def _note_call(self, has_run: bool, seconds: float) -> None:
        if has_run:
            self._misses = 0
            if self._entry is None:  # XLA compiles at the first call
                self._loop.compiling_seconds += seconds
                self._loop.note(seconds)
                self._entry = self._loop.note_replacement(self._rounds, self._seconds)
            else:
                self._entry.compiled += seconds
                ratio = seconds * self._rounds / self._seconds
                self._loop.ratio = min(ratio, self._loop.ratio) if self._loop.ratio >= 0.0 else ratio
            self._entry.rounds += 1
        elif self._timing is None:
            self._misses += 1
            self.is_over = self._misses >= constants.MISSES_OF_REGION

    def _refuse_after(self, error: Exception) -> None:
        """Leave the region on the host from now on, because np2tf itself has failed."""
        note_fault(error, self._loop.code, self._loop.function.of)
        self.is_over = self._loop.refused = True
        self._timer = None


class Regions(list[Region]):
    """The regions of a run of a loop: none before the loop is hot, or if none can be compiled."""

    def __init__(self) -> None:
        super().__init__()
        # The iterations that were done when the loop was hot; -1 before.
        self._start = -1

    def decide(self, loops: list[WatchedLoop], rounds: int, multiple_left: float, pays: Pays) -> bool:
        """Return whether the loop is not to be compiled as a whole, because its regions are, or may soon be.

        Args:
            loops: the regions.
            rounds: the number of iterations that are done.
            multiple_left: what is left of the loop as a multiple of that.
            pays: tells whether compiling pays.
        """
        if self._start < 0:
            self._start = rounds
            self.extend(map(Region, loops))
        for region in self:
            region.consider(rounds * multiple_left, pays)
        if all(region.is_over for region in self):
            self.clear()
            return False
        is_new = rounds - self._start < 2 * constants.ROUNDS_OF_REGION
        return is_new or any(region.is_compiled for region in self)
