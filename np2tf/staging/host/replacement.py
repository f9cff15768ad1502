"""On-stack replacement: a loop that takes long on the host continues as compiled code; watch is its entry in
the code.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Generator, Iterable, Iterator
from functools import partial
from itertools import chain, islice, repeat
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from np2tf.arrays.front.flags import fast_flags
from np2tf.core.errors import TracingTimeError
from np2tf.core.faults import note_fault
from np2tf.staging.host.followed_loops import FOLLOW, follow, often
from np2tf.staging.host.loop_context import is_possible, loop_compiler
from np2tf.staging.host.regions import Regions
from np2tf.staging.host.watched_loops import (
    REGIONS,
    WATCH,
    LoopFunction,
    WatchedLoop,
    compiles_at_once,
    hot,
    loop_costs,
    loops,
    resting,
)
from np2tf.staging.tiers import constants
from np2tf.staging.tiers.call_context import holds_array, load
from np2tf.staging.tiers.choice import loop_pays
from np2tf.staging.tiers.clock import LoopTimer, clock, import_cost, machine
from np2tf.staging.tiers.expected_savings import expected_saving
from np2tf.staging.tiers.indexed_text import indexes_text
from np2tf.staging.tiers.ledger import ledger
from np2tf.staging.tiers.outlook import Progress, running, seconds_left_of

if TYPE_CHECKING:
    from np2tf.staging.compile.concrete_function import ConcreteFunction
    from np2tf.staging.compile.loop_compiler import LoopCompiler
    from np2tf.staging.host.jit import JittedFunction


# -- loop items ----------------------------------------------------------------------------------------------
# The arrays that a loop runs over, if its iterable shows them.

#: kind of loop (`np2tf.loading.loops.loop_functions`) -> the types of its iterables, outermost first
_TYPES: dict[str, tuple[type, ...]] = {
    "items": (),
    "enumerate": (enumerate,),
    "zip": (zip,),
    "enumerate zip": (enumerate, zip),
    "reversed": (reversed,),
}


def arrays_of(iterable: Any, kind: str) -> tuple[np.ndarray, ...] | None:
    """Return the arrays from which all elements of a loop come that has not begun; None if there are other
    elements.
    """
    iterables = [iterable]
    for iterator_type in _TYPES[kind]:
        (iterator,) = iterables
        if type(iterator) is not iterator_type:
            return None
        arguments: Any = iterator.__reduce__()[1]
        if iterator_type is enumerate:
            inner, first = arguments
            if first != 0:
                return None
            iterables = [inner]
        else:
            iterables = list(arguments)
    if kind in ("enumerate", "zip", "enumerate zip"):
        iterables = [_iterated_array(iterator) for iterator in iterables]
    if all(type(array) is np.ndarray and array.ndim for array in iterables):
        return tuple(iterables)
    return None


#: The type of an iterator over an array.
_ITERATOR = type(iter(np.zeros(1)))


def _iterated_array(iterator: Any) -> Any:
    """Return the array behind an iterator at its beginning; None for other iterators."""
    if type(iterator) is not _ITERATOR:
        return None
    reduction: Any = iterator.__reduce__()
    return reduction[1][0] if reduction[2:] in ((), (0,)) else None


# -- replacement ---------------------------------------------------------------------------------------------
# On-stack replacement: a loop that takes long on the host continues as compiled code while it runs.
#
# The code that a jitted function runs on the host has watched loops (`np2tf.loading.loops.loop_functions`).
# If a loop has run for a while, and its remaining iterations would take longer than compiling, it is
# compiled as a function whose arguments are the variables of the loop, and the remaining iterations run
# there. If it cannot be staged, the loop continues on the host.
#
# A loop whose runs are short, but many, is entered as compiled code instead. When all its runs have taken
# long enough, a run begins in compiled code (or after its first iteration, which binds the names that the
# loop only assigns). Its function is measured and budgeted like a jitted function.
#
# See Hölzle, Ungar: Optimizing dynamically-dispatched calls with run-time type feedback (PLDI 1994).

#: The iterations of a `while`, as numbers.
UNLIMITED_ROUNDS = range(2**62)


class _Timing:
    """The clock of a run on the host.

    Attributes:
        is_due: whether to try once more, after the first iteration, to enter the loop as compiled code.
        seconds: the seconds when the clock was last read.
        first: the seconds of the first iterations.
        acts: how often Python had acted at side exits by then.
    """

    __slots__ = ("acts", "first", "is_due", "seconds", "timer")

    timer: LoopTimer

    def __init__(self) -> None:
        self.is_due, self.seconds, self.first, self.acts = False, 0.0, 0.0, 0

    def start(self) -> None:
        """Start the clock."""
        self.timer = LoopTimer()

    def read(self) -> float:
        """Return the seconds since the start."""
        self.seconds = self.timer.seconds
        return self.seconds


def part_sizes(size: int) -> Generator[int, float | None, None]:
    """Yield the numbers of iterations that compiled code runs at once, and receive the seconds of each part.

    The first part has `size` iterations. The parts become longer, and shorter before an iteration that only
    the host can run. They end if not even the smallest part can run, for which None is received.
    """
    least = size
    while True:
        seconds = yield size
        if seconds is not None:
            growth = min(constants.PART_GROWTH, constants.LONGEST_PART / max(seconds, 1e-9))
            size = max(int(size * growth), 1)
            least = min(least, size)
        elif size > least:
            size = max(size // constants.PART_GROWTH, least)
        else:
            return


class Balance:
    """What compiled iterations of a running loop take, and when to compare them with the host again: the
    machine's load may have changed, and Python may have to act at side exits more often.
    """

    __slots__ = ("_exits", "_is_urgent", "_next_review", "_reviewed", "_rounds", "_seconds")

    def __init__(self) -> None:
        self._exits, self._rounds, self._seconds = 0, 0, 0.0
        self._reviewed, self._next_review = 0.0, constants.REVIEW_LOOP
        self._is_urgent = False

    def note(self, rounds: int, seconds: float, at_exit: bool) -> None:
        """Record a part that compiled code has run."""
        self._exits += at_exit
        self._rounds += rounds
        self._seconds += seconds
        self._reviewed += seconds

    def is_lost(self, per_round: float) -> bool:
        """Return whether compiled code is no faster than the host, given the host's seconds of an iteration,
        and begin again to count.
        """
        is_slower = self._seconds > constants.FASTER * self._rounds * per_round
        self._exits, self._rounds, self._seconds = 0, 0, 0.0
        return is_slower

    def review_soon(self) -> None:
        """Let the next comparison come as soon as compiled code has run for as long as in all warm trials."""
        self._reviewed, self._is_urgent = 0.0, True

    def rounds_to_compare(self, per_round: float) -> int:
        """Return how many iterations the host should run now for comparison; 0 if none."""
        rounds = max(1, int(constants.WARM_TRIAL / per_round))
        if self._is_urgent and self._reviewed >= constants.WARM_TRIALS * constants.WARM_TRIAL:
            self._reviewed, self._is_urgent = 0.0, False
            return rounds
        if self._exits >= constants.EXITS_TO_COUNT:
            if self._seconds > constants.FASTER * self._rounds * per_round:
                # So few that Python need not act in them, which would not be comparable.
                return min(rounds, max(1, self._rounds // (2 * self._exits)))
            self._exits = 0
        wait = max(self._next_review, constants.REVIEW_LOOP_FACTOR * rounds * per_round)
        if self._reviewed < wait:
            return 0
        self._reviewed, self._next_review = 0.0, 2.0 * wait
        return rounds


class _Frame(NamedTuple):
    """What a loop's function takes from the frame of the loop.

    Attributes:
        variables: the variables of the frame.
        names: its globals.
        first: the first values of names that every iteration binds anew. Their values before an iteration do
            not matter, and the same value asks for no other code.
    """

    variables: dict[str, Any]
    names: dict[str, Any]
    first: dict[str, Any]

    @classmethod
    def of(cls, frame: types.FrameType, first: dict[str, Any] | None = None) -> _Frame:
        """Return what is in a frame now."""
        return cls(dict(frame.f_locals), frame.f_globals, {} if first is None else first)

    def arguments(self, function: LoopFunction) -> list[Any]:
        """Return the values of the parameters that are variables."""
        for name in function.rebound:
            if not isinstance(self.variables[name], np.ndarray):
                self.first.setdefault(name, self.variables[name])
        first = {name: self.first[name] for name in function.rebound if name in self.first}
        return [first[name] if name in first else self.variables[name] for name in function.parameters]


class _Items:
    """The iterable of a loop, if its elements come from arrays.

    Args:
        arrays: the arrays; none for a loop over numbers.
        iterable: the iterable.
    """

    __slots__ = ("_iterator", "arrays")

    def __init__(self, arrays: tuple[np.ndarray, ...], iterable: Any) -> None:
        self.arrays = arrays
        self._iterator = iter(iterable) if arrays else None

    def part(self, numbers: range) -> Iterable[Any]:
        """Return the elements with some numbers; the elements before have been passed on."""
        return numbers if self._iterator is None else islice(self._iterator, len(numbers))

    def skip(self, count: int) -> None:
        """Skip elements that compiled code has used."""
        if self._iterator is not None and count:
            next(islice(self._iterator, count, count), None)


class LoopRun:
    """The iterations of a watched loop, in parts; None stands for a part that runs as compiled code.

    Attributes:
        is_over: whether compiled code has reached the loop's break, or the end of its test.
        exit: the number of the side exit at which compiled code has left an iteration, whose rest Python runs
            next; 0 if it has not.
        regions: the numerical parts of its body, for a loop that is not compiled as a whole.
    """

    __slots__ = (
        "_balance",
        "_code",
        "_frame",
        "_items",
        "_loop",
        "_note",
        "_numbers",
        "_on_host",
        "_pending",
        "_per_round",
        "_policy",
        "_progress",
        "_report_entry",
        "_results",
        "_rounds_left",
        "_seconds_of_part",
        "_taken_over",
        "exit",
        "is_over",
        "regions",
    )

    _frame: _Frame
    _rounds_left: range

    def __init__(
        self,
        numbers: range,
        loop: WatchedLoop,
        arrays: tuple[np.ndarray, ...] = (),
        iterable: Any = None,
    ) -> None:
        self._numbers, self._loop, self._items = numbers, loop, _Items(arrays, iterable)
        self.exit = 0
        self.regions = Regions()
        self._progress = Progress(None if loop.is_while else len(numbers), loop.may_end_early)
        # The seconds of an iteration without what runs at side exits, if it has any.
        self._per_round = float("inf")
        self._policy: Generator[int, float | None, None] | None = None
        self._seconds_of_part: float | None = None
        self.is_over = self._taken_over = False
        self._results: tuple[Any, ...] | None = None
        self._balance = Balance()
        # The loop's code once it is traced, which XLA may be compiling in a thread.
        self._code: ConcreteFunction | None = None
        # What Python runs next: the rest of an iteration at a side exit, or iterations for comparison.
        self._on_host = range(0)
        # The exception of a signal's handler, which is raised once the loop's variables have their values.
        self._pending: BaseException | None = None
        # Receives the host's seconds, and the seconds without long calls of jitted functions.
        self._note: Callable[[float, float], None] | None = None

    def __iter__(self) -> Iterator[Iterable[Any] | None]:
        running.loops.append(self._progress)
        try:
            yield chain.from_iterable(self._parts())
            goes_on = self._taken_over
            while goes_on:
                yield None
                if self._pending is not None:
                    raise self._pending
                goes_on = False
                if self.exit:
                    yield self._part(self._on_host)
                    self.exit, self._on_host = 0, range(0)
                    goes_on = self._goes_on(sys._getframe(1))
                elif self._on_host:
                    part, self._on_host = self._on_host, range(0)
                    self._rounds_left = self._rounds_left[len(part) :]
                    start, acts = perf_counter(), self._acts_in(sys._getframe(1))
                    yield self._part(part)
                    frame = sys._getframe(1)
                    if acts == self._acts_in(frame):
                        self._compare((perf_counter() - start) / len(part))
                    goes_on = self._goes_on(frame)
            if self._taken_over and len(self._rounds_left) and not self._loop.is_while:
                yield self._part(self._rounds_left)
        finally:
            # A generator that nobody finishes is closed late, and perhaps in another thread.
            if self._progress in running.loops:
                running.loops.remove(self._progress)

    def _acts_in(self, frame: types.FrameType) -> int:
        """Return how often Python has acted at side exits."""
        return 0 if self._acts is None else frame.f_locals.get(self._acts, 0)

    def _compare(self, per_round: float) -> None:
        """Compare compiled code with what an iteration has just taken on the host. It is given up if it is
        slower twice in a row: something else may have slowed it down for a moment.
        """
        if not self._balance.is_lost(per_round):
            self._loop.gain.is_losing = False
        elif self._loop.gain.is_losing:
            self._give_up()
        else:
            self._loop.gain.is_losing = True
            self._balance.review_soon()
        self._per_round = per_round

    def _goes_on(self, frame: types.FrameType) -> bool:
        """Return whether compiled code continues after Python has run some iterations, or the rest of one."""
        if self._loop.refused or self._policy is None or not len(self._rounds_left):
            return False
        if not (self._on_host or compiles_at_once()):
            self._on_host = self._rounds_left[: self._balance.rounds_to_compare(self._per_round)]
        self._frame = _Frame.of(frame, self._frame.first)
        self._note_progress(len(self._numbers) - len(self._rounds_left), frame)
        return all(name in self._frame.variables for name in self._loop.function.parameters)

    def _part(self, numbers: range) -> Iterable[Any]:
        """Return the loop's iterable for some numbers; the numbers before have been passed on."""
        if self._loop.is_while:
            return repeat(None, len(numbers))
        return self._items.part(numbers)

    def _parts(self) -> Iterator[Iterable[Any]]:
        """Yield the numbers, piece by piece; the clock is read between the pieces."""
        numbers, position, timing = self._numbers, 0, _Timing()
        try:
            size: int | None = self._begin(timing, sys._getframe(1))
            while size is not None and position < len(numbers):
                yield self._part(numbers[position : position + size])
                position += size
                size = self._size_of_next(position, size, timing, sys._getframe(1))
            if not self._taken_over and position < len(numbers) and not self._loop.is_while:
                yield self._part(numbers[position:])
        finally:
            # In a loop that breaks, the last measurement is some iterations old.
            if timing.seconds and not self._taken_over:
                self._note_end(min(position, len(numbers)), timing)

    def _begin(self, timing: _Timing, frame: types.FrameType) -> int | None:
        """Return the number of iterations before the clock is read for the first time; None if it is not.

        What np2tf does between iterations must not raise into the loop: if it fails, the host runs the rest.
        Compiled code raises what the program raises.
        """
        try:
            is_due = self._loop.is_due
        except Exception as error:
            self._refuse_after(error)
            return None
        timing.is_due = is_due and self._enter(frame, self._numbers)
        if self._taken_over:
            return None
        try:
            self._progress.is_candidate = self._is_candidate(frame)
            timing.start()
        except Exception as error:
            self._refuse_after(error)
            return None
        return 1

    def _size_of_next(self, position: int, size: int, timing: _Timing, frame: types.FrameType) -> int | None:
        """Read the clock after some iterations, and return the number of iterations until it is read again;
        None if it is not, as compiled code takes over. Of a loop that cannot be compiled, the clock tells
        how long the program goes on.
        """
        if timing.is_due and position == 1 < len(self._numbers):
            self._enter(frame, self._numbers[1:])
            if self._taken_over:
                return None
        try:
            return self._measure(position, size, timing, frame)
        except Exception as error:
            self._refuse_after(error)
            return None

    def _measure(self, position: int, size: int, timing: _Timing, frame: types.FrameType) -> int | None:
        before, seconds = timing.seconds, timing.read()
        self._note_progress(position, frame)
        self._progress.is_candidate = self._is_candidate(frame)
        acts = self._acts_in(frame)
        if position <= constants.LOADING_ROUNDS:
            timing.first, timing.acts = timing.timer.own_seconds, acts
        else:
            if acts == timing.acts:
                self._per_round = min(self._per_round, (seconds - before) / size)
            timing.acts = acts
        is_hot = seconds >= constants.HOT_LOOP and position > constants.LOADING_ROUNDS
        if (is_hot or compiles_at_once()) and position < len(self._numbers):
            self._loop.short = 0
            hot.count += 1
            waits = self._code is not None or not self._runs_in_regions(position, timing, frame)
            if waits and self._continues(position, timing, frame):
                self.regions.clear()
                return None
        return max(1, min(2 * size, int(position * constants.CLOCK_PERIOD / seconds) if seconds else size))

    def _note_progress(self, position: int, frame: types.FrameType) -> None:
        """Record how much of the loop is done."""
        progress, distance = self._progress, self._loop.distance
        progress.position = position
        if distance is None:
            return
        try:
            left = float(eval(distance, frame.f_globals, frame.f_locals))
        except Exception:  # of the names' values: nothing tells how much is left
            return
        progress.note_distance(left)

    @property
    def _acts(self) -> str | None:
        """The variable that counts how often Python acts at side exits; None for a loop without any."""
        function = self._loop.function
        return function.acts if function.exits or self._loop.with_exits is not None else None

    def _continues(self, position: int, timing: _Timing, frame: types.FrameType) -> bool:
        """Return whether compiled code takes over after some iterations: the loop is worth compiling, was
        traced, and XLA, which compiles in a thread while the host goes on, has ended.
        """
        if self._code is None and self._continue_compiled(position, timing, frame):
            self._code = self._compile_beside(frame)
        if self._code is None or self._code.is_compiling:
            return False
        loop, self._frame = self._loop, _Frame.of(frame, self._frame.first)
        self._rounds_left = self._numbers[position:]
        if not loop.function.exits:
            self._per_round = timing.seconds / position
        self._report_entry = loop.note_replacement(position, timing.seconds)
        self._taken_over = True
        return True

    def _compile_beside(self, frame: types.FrameType) -> ConcreteFunction | None:
        """Return the code of the traced loop, which XLA compiles in a thread if nobody wants it at once."""
        _, jitted_function = self._loop.functions(frame.f_globals)
        assert jitted_function is not None
        arguments, places = self._arguments(self._numbers), self._loop.changing_places
        return loop_compiler(jitted_function).compile_beside(arguments, places, not compiles_at_once())

    def _runs_in_regions(self, position: int, timing: _Timing, frame: types.FrameType) -> bool:
        """Return whether parts of the loop's body are compiled, or may soon be, and not the whole loop."""
        whole, at_once = self._loop.whole, compiles_at_once()
        acts_often = timing.acts * constants.LEAST_ROUNDS_AN_ACT > position
        is_cut = (whole.function.acts_always or acts_often) and not at_once
        if not whole.regions or not (is_cut or self._is_refused):
            return False

        def pays(region: WatchedLoop, left: float) -> bool:
            saving = expected_saving(region.code, frame.f_globals)
            return is_possible() if at_once else self._pays(timing.seconds, left, saving, region)

        left = self._progress.multiple_left(position - constants.LOADING_ROUNDS)
        return self.regions.decide(whole.regions, position, left, pays)

    @property
    def _is_refused(self) -> bool:
        """True if the loop cannot be compiled, or is no faster, neither as a whole nor with side exits."""
        variant = self._loop.whole.with_exits
        return self._loop.whole.refused and (variant is None or variant.refused)

    def _is_candidate(self, frame: types.FrameType) -> bool:
        """Return whether the loop may still be compiled, with what it calls."""
        if self._is_refused or self._loop.least:  # its trace has taken too long
            return False
        return bool(expected_saving(self._loop.code, frame.f_globals) >= constants.EXPECTED_SAVING)

    def _continue_compiled(self, position: int, timing: _Timing, frame: types.FrameType) -> bool:
        """Return whether the loop is worth compiling after some iterations, and was traced.

        A loop that may have side exits is compiled with them if Python seldom acts there: as a whole it would
        be a graph, because of what it prints, or could not be compiled.
        """
        whole, at_once = self._loop.whole, compiles_at_once()
        variants = [whole] if whole.with_exits is None else [whole, whole.with_exits]
        if timing.acts * constants.LEAST_ROUNDS_AN_ACT <= position:
            variants.reverse()
        elif at_once and position < constants.LEAST_ROUNDS_AN_ACT:
            return False  # whether Python acts in most iterations is not known yet
        for loop in variants:
            if loop.refused:
                continue
            self._loop = loop
            left = None if at_once else self._seconds_left(position, timing)
            if not (
                is_possible()
                if left is None
                else self._pays(timing.seconds, left, expected_saving(loop.code, frame.f_globals))
            ):
                return False
            if self._take_over(frame, left if left is None else left * self._runs_left(timing.seconds)):
                return True
            if not loop.refused:
                return False
        return False

    def _seconds_left(self, position: int, timing: _Timing) -> float:
        """Return the seconds that the host would still take for the loop, without long calls."""
        rounds = position - constants.LOADING_ROUNDS
        passed = timing.timer.own_seconds - timing.first
        if self._acts is not None:
            # What Python does at side exits does not count. If it always acts, nothing is known.
            passed = min(passed, self._per_round * rounds) if self._per_round < float("inf") else 0.0
        return passed * self._progress.multiple_left(rounds)

    def _note_end(self, rounds: int, timing: _Timing) -> None:
        try:
            self._loop.per_round = timing.seconds / rounds
            timing.timer.note_spent(timing.seconds)
            own_seconds = timing.timer.own_seconds
            self._loop.note_run(own_seconds)
            if self._note is not None:
                self._note(timing.seconds, own_seconds)
        except Exception as error:
            self._refuse_after(error)

    def _refuse_after(self, error: Exception) -> None:
        """Leave the loop on the host from now on, because np2tf itself has failed."""
        note_fault(error, self._loop.code, self._loop.function.of)
        self._loop.refused = True

    def _enter(self, frame: types.FrameType, rounds_left: range) -> bool:
        """Run the rest as compiled code, if that is faster; return whether to try again one iteration
        later.
        """
        try:
            entry = self._entry(frame, rounds_left)
        except Exception as error:
            self._refuse_after(error)
            return False
        if isinstance(entry, bool):
            return entry
        compiler, arguments = entry
        start, loop, compile_seconds = perf_counter(), self._loop, compiler.compile_seconds
        result, timing = compiler.enter(arguments, loop.changing_places)
        if result is not None:
            self._taken_over = True
            self._rounds_left = rounds_left[len(rounds_left) :]
            self._items.skip(len(rounds_left))
            self.is_over = loop.function.tells and bool(result[-1])
            self._results = result[: len(loop.function.results)]
        try:
            loop.note_host_run(result is None and timing is None)
            if result is None:
                self._note = partial(compiler.note_host_run, timing)
            else:
                entry_of_report = loop.note_replacement(rounds_left.start - self._numbers.start, 0.0)
                compiling = compiler.compile_seconds - compile_seconds
                compiled = perf_counter() - start - compiling
                entry_of_report.rounds += len(rounds_left)
                entry_of_report.compiling += compiling
                entry_of_report.compiled += compiled
                if loop.per_round:
                    entry_of_report.saved += loop.per_round * len(rounds_left) - compiled
        except Exception as error:
            self._refuse_after(error)
        return False

    def _entry(
        self, frame: types.FrameType, rounds_left: range
    ) -> tuple[LoopCompiler, tuple[Any, ...]] | bool:
        """Return the compiler and its arguments; if the rest cannot be compiled, whether to try again one
        iteration later.
        """
        hot.count += 1
        if not is_possible():
            return False
        self._frame = _Frame.of(frame)
        if any(name not in self._frame.variables for name in self._loop.function.parameters):
            return True
        arguments = self._arguments(rounds_left)
        jitted_function = self._stageable_function(frame, arguments)
        return False if jitted_function is None else (loop_compiler(jitted_function), arguments)

    def _stageable_function(
        self, frame: types.FrameType, arguments: tuple[Any, ...]
    ) -> JittedFunction | None:
        """Return the loop's function, if it can be staged, and works on arrays."""
        loop = self._loop
        about_arrays = fast_flags.tensors or loop.function.says_numpy or holds_array(arguments)
        if not about_arrays or indexes_text(loop.code, arguments) or loop.is_refused(arguments):
            loop.refused = True
            return None
        # Finding out that a loop cannot be staged needs no TensorFlow, but the translator, which takes longer
        # to load than the questions above.
        _, jitted_function = loop.functions(frame.f_globals)
        loop.refused |= jitted_function is None
        return jitted_function

    def _pays(
        self,
        seconds_passed: float,
        seconds_left: float,
        saving: float = constants.EXPECTED_SAVING,
        region: WatchedLoop | None = None,
    ) -> bool:
        """Return whether the rest of the loop, without long calls, takes longer than compiling it.

        Args:
            saving: the share of its time that compiled code is expected to save.
            region: a part of the loop's body, if only this is to be compiled.
        """
        loop = region or self._loop
        seconds_left *= self._runs_left(seconds_passed)
        is_measured = loop.record is not None and loop.record.ratio >= 0.0 and not loop.cost
        record = loop.record if is_measured else None
        return (
            loop_pays(seconds_left, loop.expected_seconds + import_cost(), saving, record)
            and is_possible()
            and loop_costs.seconds < clock.host_seconds + seconds_passed + seconds_left
        )

    def _runs_left(self, seconds_passed: float) -> float:
        """Return how many times as long as this run still takes the loop will run, in runs to come, too, of
        which the loops around it tell; at least 1.
        """
        whole, run_left = self._loop.whole, self._progress.seconds_left(None)
        left = seconds_left_of(whole.host_seconds + seconds_passed, since=0.0)
        return max(left / run_left, 1.0) if run_left else 1.0

    def _take_over(self, frame: types.FrameType, seconds_left: float | None) -> bool:
        """Return whether the loop was traced; `seconds_left` is the time that the host would still take, or
        None if the trace may take any time.
        """
        loop, self._frame = self._loop, _Frame.of(frame)
        if any(name not in self._frame.variables for name in loop.function.parameters):
            return False
        start, compile_seconds = perf_counter(), clock.compile_seconds
        arguments = self._arguments(self._numbers)
        jitted_function = self._stageable_function(frame, arguments)
        if jitted_function is None:
            return False
        loading = perf_counter()
        load()
        loading = perf_counter() - loading
        limit = None
        if seconds_left is not None:
            limit = constants.PATIENCE_OF_LOOPS * seconds_left * machine.slowdown
            if loop.record is not None:
                limit = max(limit, constants.FIRST_CALL_GAIN * loop.record.cost)
        why = loop_compiler(jitted_function).compile_ahead(arguments, loop.changing_places, limit)
        seconds, noted = perf_counter() - start, clock.compile_seconds - compile_seconds
        loop.note_compilation(seconds - loading, noted - loading)
        if why is not None and why.kind is TracingTimeError and limit is not None:
            loop.least, loop.failure = constants.GIVEN_UP_FACTOR * limit, why
            return False
        if why is not None and not why.kind.is_momentary:
            loop.refuse(arguments, {}, why)
        if why is not None:
            loop.note_failure(why)
        return why is None

    def _arguments(self, numbers: range) -> tuple[Any, ...]:
        function = self._loop.function
        values = self._frame.arguments(function)
        if function.kind == "while":
            return (*values, len(numbers))
        values += [*self._items.arrays, numbers.start, numbers.stop]
        return (*values, numbers.step) if function.kind == "steps" else tuple(values)

    def finish(self) -> tuple[Any, ...]:
        """Run the rest as compiled code, as far as it can and is faster; return the results.

        The loop itself runs iterations that compiled code cannot, so its errors and handlers stay in effect.
        """
        if self._results is not None:
            return self._results
        start, variables = self._rounds_left.start, self._frame.variables
        if self._policy is None:
            self._policy = self._sizes(self._frame.names)
        try:
            while not self._is_done and (size := self._next_size()) is not None and not self._on_host:
                self._seconds_of_part = self._run(size)
        except BaseException as error:  # a handler has raised between two parts
            self._pending, self.is_over = error, False
        self._items.skip(self._rounds_left.start - start if len(self._rounds_left) else 0)
        return tuple(variables[name] for name in self._loop.function.results)

    @property
    def has_exits(self) -> bool:
        """True if compiled code may leave an iteration, and `finish` returns what Python needs then."""
        return bool(self._loop.function.exits)

    def _next_size(self) -> int | None:
        """Return the length of the next part; None if no part can run."""
        assert self._policy is not None
        try:
            return self._policy.send(self._seconds_of_part)
        except StopIteration:
            pass
        except Exception as error:
            self._refuse_after(error)
        self._policy = None
        return None

    def _sizes(self, names: dict[str, Any]) -> Generator[int, float | None, None]:
        """Yield the lengths of the parts that compiled code is to run, and receive the seconds of each."""
        _, jitted_function = self._loop.functions(names)
        assert jitted_function is not None
        size = max(1, int(constants.FIRST_TRIAL / self._per_round))
        duration = yield size
        if duration is not None:
            loop_costs.seconds += duration
            self._loop.note(duration)
            size = yield from self._warm_trials(jitted_function)
            if size:
                yield from part_sizes(size)
        self._report_entry.returned += 1

    def _warm_trials(self, jitted_function: JittedFunction) -> Generator[int, float | None, int]:
        """Yield the lengths of warm trials, and receive the seconds of each; return the length if compiled
        code is faster, and else 0.
        """
        size, trace_count = max(1, int(constants.WARM_TRIAL / self._per_round)), jitted_function.trace_count
        if compiles_at_once():
            return size
        for _ in range(constants.WARM_TRIALS):
            duration = yield size
            if duration is None:
                return 0
            if jitted_function.trace_count > trace_count:
                break
            self._loop.ratio = duration / (size * self._per_round)
            if self._loop.ratio <= constants.FASTER:
                return size
        if not self.exit:
            # The host runs as much now, for the first of two comparisons.
            self._on_host = self._rounds_left[:size]
        return size

    def _give_up(self) -> None:
        """Leave the loop on the host, which was faster."""
        self._loop.refused = self._loop.whole.refused = True
        self._progress.is_candidate = False
        ledger.lost += 1

    @property
    def _is_done(self) -> bool:
        return self.is_over or self.exit > 0 or bool(self._on_host) or not len(self._rounds_left)

    def _run(self, size: int) -> float | None:
        """Run `size` iterations as compiled code; return the seconds, or None, with nothing done, if it
        cannot. At a side exit fewer iterations run, and the result is what all of them would take.
        """
        function, start, compile_seconds = self._loop.function, perf_counter(), clock.compile_seconds
        part = self._rounds_left[:size]
        _, jitted_function = self._loop.functions(self._frame.names)
        assert jitted_function is not None
        result = loop_compiler(jitted_function).run_now(self._arguments(part), self._loop.changing_places)
        seconds = perf_counter() - start
        if result is not None:
            flags = result[len(function.results) :]
            if not (self._loop.is_while and function.exits and int(flags[-2]) == len(part)):
                self._frame.variables.update(zip(function.results, result))
            done = self._note_exit(part, *flags[-2:]) if function.exits else len(part)
            self._rounds_left = self._rounds_left[done:]
            self.is_over = function.tells and bool(flags[0]) and not self.exit
            part = part[:done]
        try:
            self._note_part(len(part), seconds, clock.compile_seconds - compile_seconds, result is None)
        except Exception as error:
            self._refuse_after(error)
        return None if result is None else seconds * size / max(len(part), 1)

    def _note_exit(self, part: range, place: Any, number: Any) -> int:
        """Record at which side exit compiled code has left an iteration, if at any, and return the number of
        iterations that have begun.

        Args:
            place: the number of the iteration in a `for`, and the iterations that were left in a `while`.
            number: the number of the exit; 0 if the part has come to its end.
        """
        self.exit = int(number)
        if not self.exit:
            return len(part)
        done = len(part) - int(place) if self._loop.is_while else part.index(int(place)) + 1
        self._on_host = part[done - 1 : done]
        return done

    def _note_part(self, rounds: int, seconds: float, compiling: float, is_discarded: bool) -> None:
        entry, running = self._report_entry, max(seconds - compiling, 0.0)
        entry.compiling += compiling
        entry.compiled += running
        if not compiling:
            self._balance.note(rounds, seconds, self.exit > 0)
            # Under tier compile, one iteration was timed, which tells too little.
            is_known = self._per_round < float("inf") and not compiles_at_once()
            if is_known and not is_discarded:
                on_host = rounds * self._per_round
                entry.saved += on_host - seconds
                ledger.note_gain(on_host, seconds)
                self._loop.note_compiled(seconds, on_host)
            if not (is_discarded or self.is_over or self.exit or compiles_at_once()):
                self._on_host = self._rounds_left[: self._balance.rounds_to_compare(self._per_round)]
        if is_discarded:
            self._loop.note_discarded_call()
        else:
            # The number of iterations of a loop that is over is not known.
            entry.rounds += 1 if self.is_over else rounds


# -- watching ------------------------------------------------------------------------------------------------
# The entry of instrumented code: `watch` returns the parts in which a loop runs.


def _is_of_main(frame: types.FrameType) -> bool:
    return frame.f_globals.get("__name__") == "__main__"


class _Watching:
    """Holds `watch` as a method, because programs list the functions of a module."""

    def watch(self, numbers: Any, key: str) -> Iterable[Any]:
        """Return the parts of a loop over `numbers`; for a `while` (None), none unless it is watched."""
        # Inner loops of a few iterations are run very often: they are told first.
        if rest := resting.get(key, 0):
            resting[key] = rest - 1
            return () if numbers is None else (numbers,)
        try:
            is_range = type(numbers) is range
            if is_range:
                try:
                    count = len(numbers)
                except OverflowError:
                    return (numbers,)  # more numbers than any loop can run over
                if count < constants.SHORT_LOOP:
                    return (numbers if key in often else _followed(numbers, key),)
            loop = loops.get(key)
            if loop is not None and loop.refused and loop.with_exits is not None:
                loop = loop.with_exits
            if loop is not None and loop.function.in_module and not _is_of_main(sys._getframe(1)):
                loop = None
            if numbers is None:
                if loop is None or not loop.may_be_watched(constants.HOT_LOOP):
                    return ()
                return LoopRun(UNLIMITED_ROUNDS, loop)
            if loop is None or loop.is_hopeless:
                return (_followed(numbers, key),)
            if loop.function.items:
                return _watched_items(numbers, loop)
            if not is_range or not loop.may_be_watched(constants.HOT_LOOP / count):
                return (numbers,)
            return LoopRun(numbers, loop)
        except Exception as error:
            note_fault(error)
            return () if numbers is None else (numbers,)

    def follow(self, iterable: Any, key: str, may_end_early: bool) -> Any:
        """Return the iterable of a loop that is not watched."""
        return follow(iterable, key, may_end_early)

    def regions(self, parts: Iterable[Any]) -> Iterable[Any]:
        """Return the regions of a loop that runs in these parts; there are none before it is hot."""
        return parts.regions if type(parts) is LoopRun else ()


_watching = _Watching()
watch = _watching.watch


def _watched_items(iterable: Any, loop: WatchedLoop) -> Iterable[Any]:
    """Return the parts in which a loop runs over an iterable that may consist of arrays."""
    arrays = arrays_of(iterable, loop.function.kind)
    count = 0 if arrays is None else min(map(len, arrays))
    if count < constants.SHORT_LOOP and loop.function.key in often:
        resting[loop.function.key] = constants.UNWATCHED_RUNS
    if count < constants.SHORT_LOOP or not loop.may_be_watched(constants.HOT_LOOP / count):
        return (_followed(iterable, loop.function.key),)
    return LoopRun(range(count), loop, arrays or (), iterable)


def _followed(iterable: Any, key: str) -> Any:
    """Return what a loop that is not watched this time runs over."""
    loop = loops.get(key)
    return follow(iterable, key, loop is None or loop.may_end_early)


#: The globals that instrumented code needs.
NAMES = {WATCH: watch, REGIONS: _watching.regions, FOLLOW: _watching.follow}
