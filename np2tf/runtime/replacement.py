"""On-stack replacement: a loop that takes long on the host goes on as compiled code, from where it stands.

The code that a jitted function runs on the host has its loops watched (`np2tf.imports.loop_functions`). Once
a loop has run for a while, and what is left of it would take longer than compiling it, it is compiled as a
function of its own, whose arguments are the variables of the loop; the rest of its rounds run there. If it
cannot be staged, the loop goes on as if nothing had been.

See Hölzle, Ungar: Optimizing dynamically-dispatched calls with run-time type feedback (PLDI 1994).
"""

from __future__ import annotations

import functools
import importlib
import sys
import types
from collections.abc import Iterator
from itertools import chain
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from np2tf.config import config
from np2tf.counts import Fallback, counts
from np2tf.runtime.clock import IMPORT_SECONDS, TOO_LONG_TO_TRACE, Costs, Stopwatch, clock
from np2tf.runtime.decisions import FOLLOWED, PAYS, Record, Refusal, Way, decisions, key_of
from np2tf.runtime.digests import digest_of_call
from np2tf.runtime.loop_function import LoopFunction
from np2tf.runtime.surroundings import is_recording, load, tensorflow
from np2tf.runtime.unjitted import OF_THE_MOMENT
from np2tf.tnp.promotion_mode import by_numpys_rules
from np2tf.tnp.quick import quick

if TYPE_CHECKING:
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
#: Seconds of rounds, as the host takes them, that compiled code is tried on: cold first, as XLA compiles, and
#: then warm.
FIRST_TRIAL, WARM_TRIAL = 0.005, 0.02
#: Compiled code must take less than this share of the time that the host takes.
FASTER = 0.9


class _Loop:
    """A loop of the program, and its function.

    Attributes:
        refused: whether it has turned out that it cannot be compiled, or is no faster.
        least: seconds that tracing it takes at least.
        per_round: seconds that its rounds took, on average, when the clock was last looked at.
        unwatched: how often it has run since without anybody looking.
        ratio: of the seconds that its rounds take as compiled code to those on the host; -1.0 where it is not
            known.
        cost: what compiling it has taken, in seconds; 0.0 if it has not been.
        changing: the places of the arguments that are other numbers every time.
    """

    def __init__(self, known: LoopFunction, code: types.CodeType) -> None:
        self.known = known
        self.refused = False
        self.least = self.per_round = 0.0
        self.unwatched = 0
        count = len(known.parameters)
        changing = {k for k, name in enumerate(known.parameters) if name in known.results}
        self.changing = frozenset({*changing, count, count + 1})
        self.ratio, self.cost = -1.0, 0.0
        self._ways: dict[str, Way] = {}
        self._code = code
        self._made: dict[int, tuple[types.FunctionType, Jitted | None]] = {}

    @property
    def path(self) -> str:
        """The file that it stands in."""
        return self._code.co_filename

    @property
    def translated(self) -> list[Jitted]:
        """What has been made of it, for each module that it has run in."""
        return [jitted for _, jitted in self._made.values() if jitted is not None]

    @functools.cached_property
    def record(self) -> Record | None:
        """What an earlier process has found out."""
        found = decisions.record_of(self._code)
        if found is not None:
            decisions.keep(self._outcome)
        return found

    def is_refused(self, given: tuple[Any, ...]) -> bool:
        """Whether it is known from an earlier process that it cannot be compiled with these arguments."""
        way = None if self.record is None else self.record.ways.get(digest_of_call(given, {}))
        if way is None or way.refusal is None:
            return False
        counts.fell_back(way.refusal.fallback)
        return True

    @property
    def expected(self) -> float:
        """Seconds that compiling it takes at least."""
        if self.record is None:
            return max(_costs.mean, self.least)
        # Without a ratio, it has been given up.
        return max(self.record.cost if self.record.ratio >= 0.0 else 2 * self.record.cost, self.least)

    def note(self, cost: float) -> None:
        """Note what compiling it has cost."""
        if not self.cost and self.record is None:
            decisions.keep(self._outcome)
        self.cost += cost

    def refuse(self, given: tuple[Any, ...], why: Fallback) -> None:
        """Note why it cannot be compiled with these arguments."""
        self._ways[digest_of_call(given, {})] = Way(refusal=Refusal.made(why))

    def _outcome(self) -> tuple[str, Record | None]:
        """What the next process is to know."""
        before = self.record
        if not self.cost and before is not None:
            left = before._replace(followed=before.followed + 1)
            return key_of(self._code), None if left.followed > FOLLOWED else left
        return key_of(self._code), Record((), self.cost, 1, self.ratio, 0, self._ways)

    def functions(self, names: dict[str, Any]) -> tuple[types.FunctionType, Jitted | None]:
        """The loop's function as the source has it, with these globals, and translated."""
        made = self._made.get(id(names))
        if made is None:
            plain = types.FunctionType(self._code, names, self.known.of)
            plain.__module__ = names.get("__name__", "")
            made = self._made[id(names)] = plain, _translated(plain, self.known)
        return made


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
        counts.fell_back(Fallback(known.of, told, "NP2TF905", plain.__code__.co_filename, known.down + 2))
        return None


class Rounds:
    """The rounds of a watched loop.

    Attributes:
        is_hot: whether the rest is to run as compiled code.
    """

    __slots__ = ("_frame", "_left", "_loop", "_numbers", "_per_round", "is_hot")

    def __init__(self, numbers: range, loop: _Loop) -> None:
        self._numbers, self._loop = numbers, loop
        self.is_hot = False

    def __iter__(self) -> Iterator[int]:
        return chain.from_iterable(self._parts())

    def _parts(self) -> Iterator[range]:
        """The numbers, piece by piece; the clock is looked at between the pieces."""
        numbers, count = self._numbers, len(self._numbers)
        done, size, stopwatch = 0, 1, Stopwatch()
        while done < count:
            yield numbers[done : done + size]
            done += size
            passed = stopwatch.seconds
            if passed >= HOT and done < count:
                if self._loop.refused:
                    yield numbers[done:]
                    return
                left = max(passed - stopwatch.in_long_calls, 0.0) / done * (count - done)
                if self._pays(passed, left):
                    self.is_hot = self._is_taken_over(sys._getframe(1), left)
                    if self.is_hot:
                        self._left, self._per_round = numbers[done:], passed / done
                        return
            size = max(1, min(2 * size, int(done * PERIOD / passed) if passed else size))
        self._loop.per_round = stopwatch.seconds / count

    def _pays(self, passed: float, left: float) -> bool:
        """Whether what is left of the loop, but for long calls, takes longer than compiling it."""
        loop, loading = self._loop, 0.0 if quick.tensors else IMPORT_SECONDS
        if loop.record is not None and loop.record.ratio >= 0.0 and not loop.cost:
            pays = left * (1.0 - loop.record.ratio) > PAYS * (loop.expected + loading)
        else:
            pays = left > WORTH * (loop.expected + loading)
        return pays and _is_possible() and _costs.seconds < clock.spent + passed + left

    def _is_taken_over(self, frame: types.FrameType, left: float) -> bool:
        """Whether the loop of a frame has been traced, while it would have taken `left` seconds more."""
        variables, loop = frame.f_locals, self._loop
        if any(name not in variables for name in loop.known.parameters):
            return False
        self._frame = variables, frame.f_globals
        given = self._arguments(variables, self._numbers)
        if loop.is_refused(given):
            loop.refused = True
            return False
        load()
        begun, compiling = perf_counter(), clock.compiling
        _, jitted = loop.functions(frame.f_globals)
        limit = left / WORTH
        if loop.record is not None:
            limit = max(limit, PAYS * loop.record.cost)
        why = None if jitted is None else jitted._compiler.get_ready(given, loop.changing, limit)
        seconds = perf_counter() - begun
        # Translating it is a part of compiling, too.
        clock.compiling = compiling + seconds
        _costs.seconds += seconds
        _costs.tries += 1
        if why is not None and why.code == TOO_LONG_TO_TRACE:
            loop.least = 2 * limit
            loop.note(seconds)
            return False
        loop.note(seconds)
        if why is not None and why.code not in OF_THE_MOMENT:
            loop.refuse(given, why)
        loop.refused = jitted is None or why is not None
        return not loop.refused

    def _arguments(self, variables: dict[str, Any], numbers: range) -> tuple[Any, ...]:
        known = self._loop.known
        given = [variables[name] for name in known.parameters] + [numbers.start, numbers.stop]
        return (*given, numbers.step) if known.has_step else tuple(given)

    def finish(self) -> tuple[Any, ...]:
        """Run the rest of the loop; what its results are then."""
        variables, names = dict(self._frame[0]), self._frame[1]
        known, left = self._loop.known, self._left
        plain, jitted = self._loop.functions(names)
        assert jitted is not None
        result: tuple[Any, ...] = ()

        def run(numbers: range) -> float:
            nonlocal result
            begun = perf_counter()
            result = jitted._compiler.run_now(self._arguments(variables, numbers), self._loop.changing)
            variables.update(zip(known.results, result, strict=True))
            return perf_counter() - begun

        if known.breaks:
            run(left)
            return result
        for seconds in (FIRST_TRIAL, WARM_TRIAL):
            size = max(1, int(seconds / self._per_round))
            part, left = left[:size], left[size:]
            passed = run(part)
            if not len(left):
                return result
            if seconds == FIRST_TRIAL:
                _costs.seconds += passed
                self._loop.note(passed)
                traces = jitted.trace_count
        self._loop.ratio = passed / (size * self._per_round)
        if passed > FASTER * size * self._per_round or jitted.trace_count > traces:
            self._loop.refused = True
            return plain(*self._arguments(variables, left))  # type: ignore[no-any-return]
        self._loop.ratio = run(left) / (len(left) * self._per_round)
        return result


#: Of loops.
_costs = Costs(EXPECTED)


def _is_possible() -> bool:
    """Whether loops on the host may be compiled here and now."""
    if config.jit == "off" or config.tier != "auto" or not quick.host or not by_numpys_rules():
        return False
    if tensorflow.is_known and (is_recording() or tensorflow.graphs.stack):
        return False
    return "raise" not in np.geterr().values()


def watch(numbers: Any, key: str) -> Any:
    """What a loop runs over instead of `numbers`."""
    loop = _loops.get(key)
    if type(numbers) is not range or loop is None or loop.refused:
        return numbers
    try:
        count = len(numbers)
    except OverflowError:
        return numbers  # more than a loop can ever run over
    if count < SHORT:
        return numbers
    if 0.0 < loop.per_round * count < HOT and loop.unwatched < UNWATCHED:
        loop.unwatched += 1
        return numbers
    loop.unwatched = 0
    return Rounds(numbers, loop)


def is_hot(numbers: Any) -> bool:
    """Whether a loop over what `watch` gave has ended because the rest is to run as compiled code."""
    return type(numbers) is Rounds and numbers.is_hot


def finish(rounds: Rounds) -> tuple[Any, ...]:
    """Run the rest; the values of the variables that the loop leaves."""
    return rounds.finish()


#: The globals that instrumented code reads.
NAMES = {"_np2tf_watch": watch, "_np2tf_is_hot": is_hot, "_np2tf_finish": finish}
