"""The loops of the program that are available as functions, and their measurements."""

from __future__ import annotations

import functools
import types
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from np2tf.core import late
from np2tf.core.counts import Fallback, TakenOver, counts
from np2tf.core.errors import CalleeError, ValueNeededError
from np2tf.core.faults import note_fault
from np2tf.core.settings import config
from np2tf.staging.tiers import constants
from np2tf.staging.tiers.call_context import tier
from np2tf.staging.tiers.clock import Costs, import_cost
from np2tf.staging.tiers.history import Followed, FunctionRecord
from np2tf.staging.tiers.ledger import TRANSLATE, ledger
from np2tf.staging.tiers.outlook import pays

if TYPE_CHECKING:
    from np2tf.staging.host.jit import JittedFunction


# -- loop function -------------------------------------------------------------------------------------------
# Data of a loop that is available as a function.

#: The name that code with watched loops reads.
WATCH = "_np2tf_watch"
#: The name by which code reads the regions of a watched loop.
REGIONS = "_np2tf_regions"
#: What a loop's key, and its name, end with if its function has side exits.
WITH_EXITS, EXITS_SUFFIX = " with side exits", "_with_exits"
#: The name of a module's code in the place of a function's.
MODULE = "<module>"
#: What stands before the number of a region in its key.
REGION = " region "
#: What the name of a loop's function ends with in messages.
OF_LOOP = ": loop"


class LoopFunction(NamedTuple):
    """A loop as a function.

    The function takes `parameters`, and then the first and last number of the range, and its step if it has
    one; for a `while` it takes the maximal number of iterations.
    """

    key: str
    """The loop's name in the instrumented code."""
    name: str
    """The function's name in the tree, which nothing else has."""
    of: str
    """The name of the function that contains the loop."""
    text: str
    """The source of the function."""
    lines: tuple[int, ...]
    """The lines of the file for the lines of the text."""
    parameters: tuple[str, ...]
    results: tuple[str, ...]
    kind: str
    """The iterable: "range", "steps" (a range with a step), "while", or a kind of
    `np2tf.loading.loops.loop_functions`.
    """
    tells: bool
    """True if the function's last result says whether the loop has ended for a reason of its own."""
    items: int = 0
    """The number of arrays that the elements come from; the function takes them before the first and last
    number.
    """
    says_numpy: bool = True
    """True if the loop's text shows work on arrays."""
    distance: str = ""
    """For a `while`, an expression for what is left of it, such as `t_end - t`; empty if none is known."""
    exits: tuple[int, ...] = ()
    """The places, in the loop's body, of statements that Python runs: the function ends where the condition
    of one holds, in the middle of an iteration. Its last results say where it is and which statement it is.
    """
    exit_lines: tuple[int, ...] = ()
    """The lines of the blocks of these statements that Python runs."""
    with_exits: LoopFunction | None = None
    """The same loop with side exits, if it has such statements. The run time finds it by its key."""
    breaks: bool = False
    """True if the loop has a `break`."""
    rebound: tuple[str, ...] = ()
    """The results that every iteration binds anew: the values that they have before do not matter."""
    regions: tuple[LoopFunction, ...] = ()
    """The runs of numerical statements of the loop's body, if Python runs other statements, too. The run time
    finds them by their keys.
    """
    acts_always: bool = False
    """True if Python has statements to run in every iteration."""
    changing: tuple[str, ...] = ()
    """Parameters of a region that the loop binds in every iteration."""

    @property
    def in_module(self) -> bool:
        """True if the loop is outside of functions."""
        return self.of == MODULE

    @property
    def acts(self) -> str:
        """The variable that counts how often Python has acted at a side exit."""
        return f"{self.name.removesuffix(EXITS_SUFFIX)}_acts"

    @property
    def line(self) -> int:
        """The line of the loop in its file."""
        return self.lines[0]


# -- watched loop --------------------------------------------------------------------------------------------
# The watched loops of the program, and their measurements.


@dataclass
class Gain:
    """What compiled iterations of a loop have taken, and would have taken on the host, in seconds.

    Attributes:
        is_losing: whether they were slower at the last comparison.
        discarded: how often compiled code could not run some iterations.
    """

    seconds: float = 0.0
    host_seconds: float = 0.0
    is_losing: bool = False
    discarded: int = 0


class WatchedLoop(Followed):
    """A loop of the program, and its function.

    Attributes:
        refused: whether it cannot be compiled, or is no faster as compiled code.
        least: the seconds that tracing it takes at least.
        per_round: the mean seconds of an iteration, at the last measurement.
        compiling_seconds: the seconds of translating and tracing it.
        unwatched_runs: the number of unwatched runs since the last watched run.
        short: the number of watched runs since it was last hot.
        ratio: the seconds of its iterations as compiled code divided by the seconds on the host; -1.0 if not
            known.
        cost: the seconds that compiling it has taken; 0.0 if it has not been compiled.
        host_seconds: the seconds of all its runs on the host.
        gain: what its compiled iterations have taken.
        outer: the loops around it.
    """

    code: types.CodeType

    def __init__(self, loop_function: LoopFunction, code: types.CodeType) -> None:
        super().__init__(code)
        self.function = loop_function
        self.refused = False
        self.least = self.per_round = self.compiling_seconds = 0.0
        self.unwatched_runs = self.short = 0
        self._was_due = False
        #: Why it cannot be compiled, if that is known.
        self.failure: Fallback | None = None
        #: The same loop with side exits, for a loop that cannot be compiled as a whole; None if it has none.
        self.with_exits: WatchedLoop | None = None
        #: The same loop without side exits.
        self.whole: WatchedLoop = self
        self.ratio, self.cost = -1.0, 0.0
        self.host_seconds = self._latest = 0.0
        self.gain = Gain()
        self.outer: list[WatchedLoop] = []
        self._host_runs = 0
        self._functions: dict[int, tuple[types.FunctionType, JittedFunction | None]] = {}

    def note_failure(self, why: Fallback) -> None:
        """Refuse the loop, and its other variant if a line has failed that is in both."""
        self.refused, self.failure = True, why
        if why.kind not in (ValueNeededError, CalleeError):
            return
        inside = why.path == self.path and why.line in self.function.lines
        if self.whole is not self:
            self.whole.refused = self.whole.refused or inside
        elif self.with_exits is not None and inside and why.line not in self.with_exits.function.exit_lines:
            self.with_exits.refused = True

    @functools.cached_property
    def changing_places(self) -> frozenset[int]:
        """The places of the arguments that are different numbers every time."""
        function = self.function
        count = len(function.parameters) + function.items
        changing = {*function.results, *function.changing}
        places = {k for k, name in enumerate(function.parameters) if name in changing}
        return frozenset({*places, count, count + 1})

    @functools.cached_property
    def regions(self) -> list[WatchedLoop]:
        """The numerical parts of the loop's body."""
        found: list[WatchedLoop] = []
        while (region := loops.get(f"{self.function.key}{REGION}{len(found)}")) is not None:
            found.append(region)
        return found

    @property
    def is_hopeless(self) -> bool:
        """True if neither the loop nor a part of its body can be compiled."""
        return self.refused and all(region.refused for region in self.whole.regions)

    @functools.cached_property
    def is_while(self) -> bool:
        """True if the number of its iterations is unknown."""
        return self.function.kind == "while"

    @functools.cached_property
    def may_end_early(self) -> bool:
        """True if a `break` or a `return` may end the loop."""
        return self.function.breaks or "raise StopIteration" in self.function.text

    @functools.cached_property
    def distance(self) -> types.CodeType | None:
        """The code of an expression for what is left of a `while`; None if its test shows none."""
        text = self.function.distance
        return compile(text, "<distance>", "eval") if text else None

    def may_be_watched(self, least: float) -> bool:
        """Return whether to watch the next run, given that the loop is hot if an iteration takes `least`
        seconds.
        """
        if self.is_hopeless:
            return False
        if compiles_at_once():
            # The loop around it goes first: its compiled code contains this loop.
            self._was_due = not any(loop._is_undecided for loop in self.outer)
            return self._was_due
        # Most runs of an inner loop end here, so that whether it is due is not asked each time.
        was_short = self.short > constants.SURELY_SHORT if self.is_while else 0.0 < self.per_round < least
        unwatched = constants.UNWATCHED_RUNS << min(self.short, constants.MOST_DOUBLINGS_OF_UNWATCHED)
        if was_short and self.unwatched_runs < unwatched and not self._was_due:
            # A `while` may run very often, for very short: nothing is asked about the other runs.
            runs = unwatched - self.unwatched_runs if self.is_while else 1
            self.unwatched_runs += runs
            self.host_seconds += runs * self._latest
            if runs > 1:
                resting[self.whole.function.key] = runs - 1
            return False
        self._was_due = self.is_due
        if not self._was_due:
            self.unwatched_runs = 0
            self.short += 1
        return True

    @property
    def is_due(self) -> bool:
        """True if the loop is to be entered as compiled code, although its runs are short."""
        if compiles_at_once():
            return self._is_entered and not self.refused and self.cost > 0.0
        if self._is_faster_compiled:
            return True
        if not self._may_be_entered:
            return False
        cost = self.expected_seconds + import_cost()
        if self.host_seconds < constants.ENTER_FACTOR * self.expected_seconds:
            return False
        if not pays(self.host_seconds, 0.0, cost):
            return False
        return not any(loop._may_be_entered for loop in self.outer)

    @property
    def _is_undecided(self) -> bool:
        """True if the loop is watched, and may still be compiled at once."""
        return self._was_due and not self.refused

    @property
    def _is_entered(self) -> bool:
        """True if a run of the loop may begin as compiled code."""
        return not (self.is_while or self.function.in_module or self.function.exits)

    @property
    def _is_faster_compiled(self) -> bool:
        """True if a run of this process has continued as compiled code, and was faster for it."""
        return (
            self._is_entered and not self.refused and self.cost > 0.0 and 0.0 <= self.ratio < constants.FASTER
        )

    @property
    def _may_be_entered(self) -> bool:
        """True if its runs are long enough to be calls, and nothing is known against compiling them."""
        is_of_calls = self._is_entered and self._latest >= constants.LONG_CALL
        return is_of_calls and not self.refused and self._host_runs < constants.ENOUGH_RUNS

    def note_run(self, seconds: float) -> None:
        """Record the seconds of a run on the host."""
        self._latest = seconds
        self.host_seconds += seconds
        hot.count += self._may_be_entered

    def note_host_run(self, is_final: bool) -> None:
        """Record whether a run that could have been entered must stay on the host."""
        self._host_runs = self._host_runs + 1 if is_final else 0

    def stay_on_host(self) -> None:
        """Never enter the loop."""
        self._host_runs = constants.ENOUGH_RUNS

    def note_replacement(self, done_rounds: int, seconds: float) -> TakenOver:
        """Record for a report that the loop continues as compiled code after `done_rounds` iterations, and
        return the entry.
        """
        function = self.function
        entry = counts.loops.get(function.key)
        if entry is None:
            entry = counts.loops[function.key] = TakenOver(
                function.of, self.path, function.line, round=done_rounds
            )
        entry.times += 1
        entry.host += seconds
        entry.compiling += self.compiling_seconds
        self.compiling_seconds = 0.0
        return entry

    def note_compiled(self, seconds: float, host_seconds: float) -> None:
        """Record what compiled iterations have taken, and what they would have taken on the host."""
        self.gain.seconds += seconds
        self.gain.host_seconds += host_seconds
        self.ratio = self.gain.seconds / self.gain.host_seconds

    def note_discarded_call(self) -> None:
        """Record that compiled code could not run some iterations, which happens if an iteration raises."""
        self.gain.discarded += 1
        self.refused = self.refused or self.gain.discarded >= constants.MOST_DISCARDED

    def is_refused(self, arguments: tuple[Any, ...]) -> bool:
        """Return whether an earlier process found that the loop cannot be compiled with these arguments."""
        way = self.call_record(arguments, {})
        if way is None or way.refusal is None:
            return False
        self.failure = counts.fell_back(way.refusal.fallback)
        return True

    @property
    def expected_seconds(self) -> float:
        """The seconds that compiling the loop takes at least."""
        if self.record is None:
            return max(loop_costs.mean, self.least)
        # Without a ratio, compiling was given up; with one, the trace is stored.
        factor = constants.COST_OF_STORED if self.record.ratio >= 0.0 else constants.GIVEN_UP_FACTOR
        return max(factor * self.record.cost, self.least)

    def note_compilation(self, seconds: float, noted: float) -> None:
        """Record that the loop has been translated and traced.

        Args:
            noted: those of the seconds that are in the ledger, for importing and tracing. The others were
                translating.
        """
        ledger.note(TRANSLATE, max(seconds - noted, 0.0))
        self.compiling_seconds += seconds
        loop_costs.seconds += seconds
        loop_costs.tries += 1
        self.note(seconds)

    def note(self, cost: float) -> None:
        """Record the cost of compiling the loop."""
        if self.record is None:
            self._keep()
        self.cost += cost

    def _current_record(self) -> FunctionRecord:
        if not self.cost and self.record is not None:
            return self.record._replace(uses=self.record.uses + 1)
        return FunctionRecord((), self.cost, 1, self.ratio, 0, self._refusals)

    @property
    def path(self) -> str:
        """The file of the loop."""
        return self.code.co_filename

    @property
    def translations(self) -> list[JittedFunction]:
        """The staged versions of the loop, one for each module that it has run in."""
        return [translation for _, translation in self._functions.values() if translation is not None]

    def functions(self, names: dict[str, Any]) -> tuple[types.FunctionType, JittedFunction | None]:
        """Return the loop's function as in the source, with these globals, and its staged version."""
        pair = self._functions.get(id(names))
        if pair is None:
            plain = types.FunctionType(self.code, names, self.function.of)
            plain.__qualname__ = f"{self.function.of}{OF_LOOP}"
            plain.__module__ = names.get("__name__", "")
            why, translation = _translate(plain, self.function)
            self.failure = self.failure or why
            pair = self._functions[id(names)] = plain, translation
        return pair


def compiles_at_once() -> bool:
    """Return whether loops are compiled at once, and not when that is expected to pay."""
    return not tier.is_auto and config.tier == "compile"  # the first is fast


class _HotLoops:
    """Counts how often a loop was found to be hot, or may become hot."""

    count = 0


hot = _HotLoops()
#: The costs of compiling loops.
loop_costs = Costs(constants.LOOP_COMPILE_SECONDS)
#: The watched loops by their keys.
loops: dict[str, WatchedLoop] = {}
#: key of a loop without a range -> the number of its next runs that are not watched.
resting: dict[str, int] = {}


def compiled_loops(of: str, path: str) -> int:
    """Return how often loops of a function ran as compiled code, given its name and file."""
    translations = (translation for loop in _loops_of(of, path) for translation in loop.translations)
    return sum(translation.compiled_count + translation.graph_count for translation in translations)


def has_hopeless_loop(function: Any) -> bool:
    """Return whether a function has a `while` that cannot be translated, because it makes a list longer or
    for another reason: a trace of the function would have to run it as Python, on unknown values.
    """
    code, names = function.__code__, function.__globals__
    own_loops = _loops_of(code.co_name, code.co_filename)
    return any(loop.is_while and loop.functions(names)[1] is None for loop in own_loops)


def leave_on_host(of: str, path: str) -> None:
    """Enter no loops of a function, given its name and file, because one XLA program with them was slower."""
    for loop in _loops_of(of, path):
        loop.stay_on_host()


def _loops_of(of: str, path: str) -> list[WatchedLoop]:
    """Return the loops of a function, by its name and its file."""
    return [loop for loop in loops.values() if loop.function.of == of and loop.path == path]


def add_loops(functions: tuple[tuple[tuple[Any, ...], types.CodeType], ...]) -> None:
    """Record the functions of a module's loops."""
    new_loops = [WatchedLoop(LoopFunction(*fields), code) for fields, code in functions]
    loops.update({loop.function.key: loop for loop in new_loops})
    for loop in new_loops:
        loop.with_exits = loops.get(loop.function.key + WITH_EXITS)
        if loop.with_exits is not None:
            loop.with_exits.whole = loop
        inside = range(loop.function.line, max(loop.function.lines) + 1)
        for inner_loop in new_loops:
            if (
                inner_loop is not loop
                and inner_loop.function.of == loop.function.of
                and inner_loop.function.line in inside
            ):
                inner_loop.outer.append(loop)


def _translate(
    plain: types.FunctionType, loop_function: LoopFunction
) -> tuple[Fallback | None, JittedFunction | None]:
    try:
        return late.translator.staged_loop(plain, loop_function)  # type: ignore[no-any-return]
    except Exception as error:  # a fault of np2tf must not break a loop that works without it
        note_fault(error, plain.__code__, loop_function.of)
        return None, None
