"""On-stack replacement: a loop that takes long on the host goes on as compiled code, from where it stands.

The code that a jitted function runs on the host has its loops watched (`np2tf.imports.loop_functions`). Once
a loop has run for a while, and what is left of it would take longer than compiling it, it is compiled as a
function of its own, whose arguments are the variables of the loop; the rest of its rounds run there. If it
cannot be staged, the loop goes on as if nothing had been.

See Hölzle, Ungar: Optimizing dynamically-dispatched calls with run-time type feedback (PLDI 1994).
"""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Iterable, Iterator
from itertools import chain, repeat
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from np2tf.config import config
from np2tf.counts import Fallback, TakenOver, counts
from np2tf.runtime.array_search import holds_array
from np2tf.runtime.clock import IMPORT_SECONDS, TOO_LONG_TO_TRACE, Costs, Stopwatch, clock
from np2tf.runtime.loop_function import WATCH, LoopFunction
from np2tf.runtime.surroundings import is_recording, load, tensorflow
from np2tf.tnp.promotion_mode import by_numpys_rules
from np2tf.tnp.quick import quick

if TYPE_CHECKING:
    from np2tf.runtime.compiling import Compiler
    from np2tf.runtime.jit import Jitted

#: Seconds that a loop must have run, and what is left of it must take at least, by so many times what
#: compiling it is expected to take.
HOT, WORTH = 0.05, 3.0
#: Seconds that a loop is expected to take to compile, until some have been.
EXPECTED = 0.8
#: A range of fewer numbers is not watched; the clock is looked at every so many seconds.
SHORT, PERIOD = 16, 0.005
#: A loop that is over before it would be hot is watched only once in so many times.
UNWATCHED = 15
#: So for a `while` once that has been so some times in a row: nobody knows how many rounds it will have.
SURELY_SHORT = 3
#: Seconds of rounds, as the host takes them, that compiled code is tried on: cold first, as XLA compiles, and
#: then warm.
FIRST_TRIAL, WARM_TRIAL = 0.005, 0.02
#: Compiled code runs in parts that become so many times longer.
LONGER = 8
#: A loop that compiled code could not go on with so often stays on the host.
MOST_DISCARDED = 100
#: The rounds of a `while`, as numbers.
UNLIMITED = range(2**62)
#: Compiled code must take less than this share of the time that the host takes.
FASTER = 0.9


class _Loop:
    """A loop of the program, and its function.

    Attributes:
        refused: whether it has turned out that it cannot be compiled, or is no faster.
        least: seconds that tracing it takes at least.
        per_round: seconds that its rounds took, on average, when the clock was last looked at.
        compiling: seconds of translating and tracing it.
        unwatched: how often it has run since without anybody looking.
        short: how often it has been watched, and not been found to be hot, since it was.
        is_while: whether nobody knows how many rounds it has.
        changing: the places of the arguments that are other numbers every time.
    """

    def __init__(self, known: LoopFunction, code: types.CodeType) -> None:
        self.known = known
        self.refused = False
        self.least = self.per_round = self.compiling = 0.0
        self.unwatched = self.short = 0
        self.is_while = known.kind == "while"
        self._discarded = 0
        count = len(known.parameters)
        changing = {k for k, name in enumerate(known.parameters) if name in known.results}
        self.changing = frozenset({*changing, count, count + 1})
        self._code = code
        self._made: dict[int, tuple[types.FunctionType, Jitted | None]] = {}

    def may_be_watched(self, least: float) -> bool:
        """Whether to watch it this time, where it is hot if its rounds take `least` seconds."""
        if self.refused:
            return False
        was_short = self.short > SURELY_SHORT if self.is_while else 0.0 < self.per_round < least
        if was_short and self.unwatched < UNWATCHED:
            self.unwatched += 1
            return False
        self.unwatched = 0
        self.short += 1
        return True

    def shown(self, done: int, seconds: float) -> TakenOver:
        """Note for a report that it goes on as compiled code after so many rounds, and seconds."""
        known = self.known
        found = counts.loops.setdefault(known.key, TakenOver(known.of, self.path, known.line, round=done))
        found.times += 1
        found.host += seconds
        found.compiling += self.compiling
        self.compiling = 0.0
        return found

    def was_discarded(self) -> None:
        """Note that compiled code could not do some rounds, which happens where one raises."""
        self._discarded += 1
        self.refused = self.refused or self._discarded >= MOST_DISCARDED

    @property
    def path(self) -> str:
        """The file that it stands in."""
        return self._code.co_filename

    @property
    def translated(self) -> list[Jitted]:
        """What has been made of it, for each module that it has run in."""
        return [jitted for _, jitted in self._made.values() if jitted is not None]

    def functions(self, names: dict[str, Any]) -> tuple[types.FunctionType, Jitted | None]:
        """The loop's function as the source has it, with these globals, and translated."""
        made = self._made.get(id(names))
        if made is None:
            plain = types.FunctionType(self._code, names, self.known.of)
            plain.__qualname__ = f"{self.known.of}: loop"
            plain.__module__ = names.get("__name__", "")
            made = self._made[id(names)] = plain, _translated(plain, self.known)
        return made


class _Hot:
    """How often a loop has been found to be hot."""

    count = 0


hot = _Hot()
#: By what the instrumented code calls them.
_loops: dict[str, _Loop] = {}


def compiled_loops(of: str, path: str) -> int:
    """How often loops of a function have gone on as compiled code, by its name and its file."""
    return sum(
        jitted.compiled_count + jitted.graph_count
        for loop in _loops.values()
        if loop.known.of == of and loop.path == path
        for jitted in loop.translated
    )


def add(loops: tuple[tuple[tuple[Any, ...], types.CodeType], ...]) -> None:
    """Note the functions of a module's loops."""
    for known, code in loops:
        loop = _Loop(LoopFunction(*known), code)
        _loops[loop.known.key] = loop


def _translated(plain: types.FunctionType, known: LoopFunction) -> Jitted | None:
    # Only here: it loads the translator.
    translator = importlib.import_module("np2tf.imports.callees")
    try:
        return translator.staged_loop(plain, known)  # type: ignore[no-any-return]
    except Exception as error:  # np2tf's own fault is no reason to break off a loop that works without it
        told = f"{type(error).__name__}: {error}"
        counts.fell_back(Fallback(known.of, told, "NP2TF905", plain.__code__.co_filename, known.line))
        return None


class Rounds:
    """The rounds of a watched loop, in parts: None stands for those that are to run as compiled code.

    Attributes:
        is_over: whether compiled code has come to where the loop breaks off, or its test no longer holds.
    """

    __slots__ = ("_frame", "_left", "_loop", "_numbers", "_per_round", "_shown", "_taken_over", "is_over")

    def __init__(self, numbers: range, loop: _Loop) -> None:
        self._numbers, self._loop = numbers, loop
        self.is_over = self._taken_over = False

    def __iter__(self) -> Iterator[Iterable[Any] | None]:
        yield chain.from_iterable(self._pieces())
        if self._taken_over:
            yield None
            if len(self._left) and not self._loop.is_while:
                yield self._left

    def _pieces(self) -> Iterator[Iterable[Any]]:
        """The numbers, piece by piece; the clock is looked at between the pieces."""
        numbers, loop, count = self._numbers, self._loop, len(self._numbers)
        done, size, stopwatch = 0, 1, Stopwatch()
        while done < count:
            yield repeat(None, size) if loop.is_while else numbers[done : done + size]
            done += size
            passed = stopwatch.seconds
            if passed >= HOT and done < count:
                loop.short = 0
                hot.count += 1
                if loop.refused:
                    if not loop.is_while:
                        yield numbers[done:]
                    return
                own = max(passed - stopwatch.in_long_calls, 0.0)
                # A loop whose end is not known is taken to have come half the way.
                left = WORTH * own if loop.is_while else own / done * (count - done)
                if self._pays(passed, left):
                    self._taken_over = self._is_taken_over(sys._getframe(1), left)
                    if self._taken_over:
                        self._left, self._per_round = numbers[done:], passed / done
                        self._shown = loop.shown(done, passed)
                        return
            size = max(1, min(2 * size, int(done * PERIOD / passed) if passed else size))
        loop.per_round = stopwatch.seconds / count

    def _pays(self, passed: float, left: float) -> bool:
        """Whether what is left of the loop, but for long calls, takes longer than compiling it."""
        cost = max(_costs.mean, self._loop.least) + (0.0 if quick.tensors else IMPORT_SECONDS)
        return left > WORTH * cost and _is_possible() and _costs.seconds < clock.spent + passed + left

    def _is_taken_over(self, frame: types.FrameType, left: float) -> bool:
        """Whether the loop of a frame has been traced, while it would have taken `left` seconds more."""
        variables, loop = frame.f_locals, self._loop
        if any(name not in variables for name in loop.known.parameters):
            return False
        self._frame = dict(variables), frame.f_globals
        begun, compiling = perf_counter(), clock.compiling
        # It needs no TensorFlow to tell that a loop cannot be staged.
        _, jitted = loop.functions(frame.f_globals)
        given = self._arguments(variables, self._numbers)
        if jitted is None or not (quick.tensors or loop.known.says_numpy or holds_array(given)):
            loop.refused = True
            return False
        load()
        limit = left / WORTH
        why = jitted._compiler.get_ready(given, loop.changing, limit)
        seconds = perf_counter() - begun
        loop.compiling += seconds
        # Translating it is a part of compiling, too.
        clock.compiling = compiling + seconds
        _costs.seconds += seconds
        _costs.tries += 1
        if why is not None and why.code == TOO_LONG_TO_TRACE:
            loop.least = 2 * limit
            return False
        loop.refused = why is not None
        return not loop.refused

    def _arguments(self, variables: dict[str, Any], numbers: range) -> tuple[Any, ...]:
        known = self._loop.known
        given = [variables[name] for name in known.parameters]
        if known.kind == "while":
            return (*given, len(numbers))
        given += [numbers.start, numbers.stop]
        return (*given, numbers.step) if known.kind == "steps" else tuple(given)

    def finish(self) -> tuple[Any, ...]:
        """Run as much of what is left as compiled code can, and is faster at; what its results are then.

        What it cannot do is left to the loop itself: so errors, and what handles them, are the program's own.
        """
        variables, names = self._frame
        del self._frame
        _, jitted = self._loop.functions(names)
        assert jitted is not None
        compiler, trace_count = jitted._compiler, jitted.trace_count
        for seconds in (FIRST_TRIAL, WARM_TRIAL):
            size = max(1, int(seconds / self._per_round))
            passed = self._run(size, compiler, variables)
            if passed is None:
                self._shown.returned += 1
                break
            if self._is_done:
                break
            if seconds == FIRST_TRIAL:
                _costs.seconds += passed
                trace_count = jitted.trace_count
            elif passed > FASTER * size * self._per_round or jitted.trace_count > trace_count:
                self._loop.refused = True
                self._shown.returned += 1
            else:
                self._run_all(size, compiler, variables)
        return tuple(variables[name] for name in self._loop.known.results)

    @property
    def _is_done(self) -> bool:
        return self.is_over or not len(self._left)

    def _run_all(self, size: int, compiler: Compiler, variables: dict[str, Any]) -> None:
        """Run what is left, in parts that become longer, and shorter before what compiled code cannot do."""
        least = size
        while not self._is_done:
            if self._run(size, compiler, variables) is not None:
                size *= LONGER
            elif size > least:
                size = max(size // LONGER, least)
            else:
                self._shown.returned += 1
                break

    def _run(self, size: int, compiler: Compiler, variables: dict[str, Any]) -> float | None:
        """Run so many rounds as compiled code; the seconds, or None, and nothing done, if it cannot."""
        known, shown, begun = self._loop.known, self._shown, perf_counter()
        part = self._left[:size]
        result = compiler.run_now(self._arguments(variables, part), self._loop.changing)
        seconds = perf_counter() - begun
        if shown.rounds:
            shown.compiled += seconds
        else:  # XLA compiles at the first call
            shown.compiling += seconds
        if result is None:
            self._loop.was_discarded()
            return None
        self._left = self._left[size:]
        variables.update(zip(known.results, result))
        self.is_over = known.tells and bool(result[-1])
        # How many rounds a loop has had that is over is not known.
        shown.rounds += 1 if self.is_over else len(part)
        return seconds


#: Of loops.
_costs = Costs(EXPECTED)


def _is_possible() -> bool:
    """Whether loops on the host may be compiled here and now."""
    if config.jit == "off" or config.tier != "auto" or not quick.numpy or not by_numpys_rules():
        return False
    if tensorflow.is_known and (is_recording() or tensorflow.graphs.stack):
        return False
    return "raise" not in np.geterr().values()


def _is_of_main(frame: types.FrameType) -> bool:
    return frame.f_globals.get("__name__") == "__main__"


def watch(numbers: Any, key: str) -> Iterable[Any]:
    """The parts in which a loop runs over `numbers`; of a `while` there are none unless it is watched.

    Args:
        numbers: what the loop is over; None for a `while`.
        key: of the loop.
    """
    loop = _loops.get(key)
    if loop is not None and loop.known.in_module and not _is_of_main(sys._getframe(1)):
        loop = None
    if numbers is None:
        return () if loop is None or not loop.may_be_watched(HOT) else Rounds(UNLIMITED, loop)
    if type(numbers) is not range or loop is None or loop.refused:
        return (numbers,)
    try:
        count = len(numbers)
    except OverflowError:
        return (numbers,)  # more than a loop can ever run over
    if count < SHORT or not loop.may_be_watched(HOT / count):
        return (numbers,)
    return Rounds(numbers, loop)


#: The globals that instrumented code reads.
NAMES = {WATCH: watch}
