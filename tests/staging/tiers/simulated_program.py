"""A program of which only the times are real: its functions and loops take seconds of a clock that is told to
go on, and np2tf's own choice decides, of these measurements, what it compiles.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest

from np2tf.staging.host import host_function
from np2tf.staging.host.host_function import HostFunction
from np2tf.staging.host.replacement import Balance, part_sizes
from np2tf.staging.tiers import budget, clock, comparison, constants, ledger, outlook
from np2tf.staging.tiers.budget import Budget
from np2tf.staging.tiers.choice import (
    loop_pays,
    lose,
    note_compiled_call,
    note_host_call,
    prefers_host,
    stays_on_host,
)
from np2tf.staging.tiers.clock import Costs
from np2tf.staging.tiers.comparison import Comparison
from np2tf.staging.tiers.ledger import IMPORT, TRANSLATE
from np2tf.staging.tiers.outlook import Progress, pays, running

#: The seconds of importing TensorFlow, and the factor by which other processes slow the machine down at most.
IMPORT_SECONDS, MOST_LOAD = 2.0, 5.5


class World:
    """The clock, and what the program would take without np2tf.

    Attributes:
        now: the seconds since its beginning.
        host: the seconds that the same work takes on NumPy, at the same load.
        load: returns the factor by which other processes slow the machine down, now.
        largest: the seconds of the most expensive thing that was compiled, without the import of TensorFlow.
        slowest: the seconds by which the slowest compiled call was slower than the host.
    """

    def __init__(self, load: Callable[[], float] = lambda: 1.0) -> None:
        self.now = self.host = self.largest = self.slowest = 0.0
        self.load, self.has_tensorflow, self.worst = load, False, 0.0
        self.loop_costs = Costs(constants.LOOP_COMPILE_SECONDS)

    def install(self, patch: pytest.MonkeyPatch) -> None:
        """Give np2tf this clock, and a process in which nothing has happened."""
        for module in (clock, outlook, ledger, comparison, host_function):
            for name in ("perf_counter", "process_time", "thread_time"):
                patch.setattr(module, name, lambda: self.now, raising=False)
        patch.setattr(
            budget, "time", SimpleNamespace(perf_counter=lambda: self.now, monotonic=lambda: self.now)
        )
        patch.setattr(clock.clock, "host_seconds", 0.0)
        patch.setattr(clock.clock, "compile_seconds", 0.0)
        patch.setattr(budget, "_all_costs", Costs())
        patch.setattr(budget, "_queue", budget._Queue())
        patch.setattr(running, "loops", [])
        patch.setattr(clock.machine, "_slowdown", 1.0)
        patch.setattr(clock.machine, "_last_reading", float("inf"))
        ledger.ledger.__init__()  # type: ignore[misc]

    def pass_time(self, seconds: float, host: float | None = None) -> float:
        """Let so many seconds pass, at the present load, for work that takes `host` seconds on NumPy."""
        factor = self.load()
        self.now += seconds * factor
        self.host += (seconds if host is None else host) * factor
        return seconds * factor

    def spend(self, seconds: float) -> float:
        """Let seconds pass that the program would not take without np2tf."""
        return self.pass_time(seconds, 0.0)

    def import_tensorflow(self) -> None:
        """Import TensorFlow, unless it is."""
        if not self.has_tensorflow:
            self.has_tensorflow = True
            ledger.ledger.note(IMPORT, self.spend(IMPORT_SECONDS))

    @property
    def import_cost(self) -> float:
        """The expected seconds of importing TensorFlow."""
        return 0.0 if self.has_tensorflow else constants.IMPORT_SECONDS

    @property
    def regret(self) -> float:
        """The seconds that the program has lost so far."""
        return self.now - self.host

    def look(self) -> None:
        """Note by how much the regret exceeds what may be lost without a prediction."""
        allowed = constants.ALLOWED_SHARE * self.host + constants.ALLOWED_SECONDS
        self.worst = max(self.worst, self.regret - allowed)


class _FailedTrace(Exception):
    pass


@dataclass(eq=False)
class Function:
    """A function with arrays of several sizes.

    Args:
        host, compiled: return the seconds of a call, given the size.
        trace, xla: the seconds of compiling it for a size.
        can_be_compiled: whether a trace succeeds.
    """

    world: World
    host: Callable[[int], float]
    compiled: Callable[[int], float]
    trace: float = 0.5
    xla: float = 0.5
    can_be_compiled: bool = True
    traces: int = 0
    _timings: dict[int, Comparison] = field(default_factory=dict)
    _code: set[int] = field(default_factory=set)
    _refused: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._host = HostFunction(len)
        self._budget = Budget(self._host)

    def __call__(self, size: int = 0) -> None:
        """Call the function: on the host, or compiled, as np2tf chooses."""
        self._call(size)
        self.world.look()

    def _call(self, size: int) -> None:
        world, host = self.world, self._host
        if host.is_short:
            return self._run(size)
        if not world.has_tensorflow:
            is_early = host.own_seconds < constants.COMPILE_SECONDS
            cost = world.import_cost + constants.COMPILE_SECONDS
            if is_early or not pays(host.own_seconds, host.since, cost):
                return self._run(size)
            world.import_tensorflow()
        if size in self._refused or (not self.traces and not self._budget.is_open):
            return self._run(size)
        timing = self._timings.setdefault(size, Comparison(since=world.now))
        has_code = size in self._code
        if stays_on_host(timing, self._budget):
            lose(timing, self._budget)
            return self._run(size)
        if prefers_host(timing, self._budget, has_code, None, self.traces > 0):
            return self._run(size, timing)
        if not has_code and not self._compile(size):
            return self._run(size)
        start = world.now
        if not has_code:
            world.spend(self.xla)
        world.slowest = max(world.slowest, self.compiled(size) - self.host(size))
        world.pass_time(self.compiled(size), self.host(size))
        note_compiled_call(timing, self._budget, world.now - start, 0.0, has_code, not has_code)
        return None

    def _compile(self, size: int) -> bool:
        self.world.largest = max(self.world.largest, self.trace + self.xla)
        self.traces += 1
        try:
            with self._budget.count_trace():
                self.world.spend(self.trace)
                if not self.can_be_compiled:
                    raise _FailedTrace
        except _FailedTrace:
            self._refused.add(size)
            return False
        self._code.add(size)
        return True

    def _run(self, size: int, timing: Comparison | None = None) -> None:
        host = self._host
        note = None if timing is None else lambda: note_host_call(timing, host.latest, host.latest_own)
        host.time(lambda: self.world.pass_time(self.host(size)), (), {}, note)


@contextmanager
def told_loop(count: int, may_end_early: bool = False) -> Iterator[Progress]:
    """A loop of the program that np2tf watches."""
    progress = Progress(count, may_end_early)
    running.loops.append(progress)
    try:
        yield progress
    finally:
        running.loops.remove(progress)


@dataclass(eq=False)
class Loop:
    """A time loop that may continue as compiled code.

    Args:
        rounds: the iterations that its range promises.
        ends_after: those after which it ends.
        host, compiled: the seconds of an iteration.
        cost: the seconds of translating, tracing and compiling it.
    """

    world: World
    rounds: int
    host: float
    compiled: float
    cost: float = 2.0
    ends_after: int | None = None
    can_be_compiled: bool = True

    def run(self) -> None:
        """Run the loop."""
        world, start, done = self.world, self.world.now, 0
        end = self.rounds if self.ends_after is None else min(self.ends_after, self.rounds)
        is_refused = False
        with told_loop(self.rounds, self.ends_after is not None) as progress:
            while done < end:
                world.pass_time(self.host)
                done += 1
                progress.position = done
                world.look()
                passed = world.now - start
                left = passed * progress.multiple_left(done)
                cost = world.loop_costs.mean + world.import_cost
                if is_refused or passed < constants.HOT_LOOP:
                    continue
                if not loop_pays(left, cost, constants.EXPECTED_SAVING, None):
                    continue
                is_refused = True
                world.import_tensorflow()
                world.largest = max(world.largest, self.cost)
                world.loop_costs.seconds += self.cost
                world.loop_costs.tries += 1
                ledger.ledger.note(TRANSLATE, world.spend(self.cost))
                world.look()
                if self.can_be_compiled:
                    done = self._continue(done, end, passed / done)
                else:
                    ledger.ledger.lost += 1

    def _continue(self, done: int, end: int, per_round: float) -> int:
        """Run parts as compiled code, and return the number of iterations that are done."""
        size = max(1, int(constants.WARM_TRIAL / per_round))
        self.world.slowest = max(self.world.slowest, size * (self.compiled - self.host))
        for _ in range(constants.WARM_TRIALS):
            seconds = self._part(min(size, end - done), per_round)
            done = min(done + size, end)
            if done == end or seconds <= constants.FASTER * size * per_round:
                break
        else:
            ledger.ledger.lost += 1
            return done
        sizes, balance = part_sizes(size), Balance()
        part = next(sizes)
        while done < end:
            part = min(part, end - done)
            seconds = self._part(part, per_round)
            done += part
            balance.note(part, seconds, at_exit=False)
            part = sizes.send(seconds)
            compared = min(balance.rounds_to_compare(per_round), end - done)
            if compared:
                per_round = self.world.pass_time(compared * self.host) / compared
                done += compared
                if balance.is_lost(per_round):
                    ledger.ledger.lost += 1
                    break
        return done

    def _part(self, rounds: int, per_round: float) -> float:
        seconds = self.world.pass_time(rounds * self.compiled, rounds * self.host)
        ledger.ledger.note_gain(rounds * per_round, seconds)
        self.world.look()
        return seconds


def uneven_load(draw: random.Random, world: list[World]) -> Callable[[], float]:
    """Return a load that other processes put on the machine: they come and go every few seconds, and take up
    to 80 % of the processor.
    """
    until, factor = 0.0, 1.0

    def load() -> float:
        nonlocal until, factor
        if world[0].now >= until:
            until = world[0].now + draw.expovariate(0.5)
            factor = 1.0 / (1.0 - draw.choice((0.0, 0.0, draw.uniform(0.0, 0.8))))
        return factor * draw.uniform(0.95, 1.1)

    return load
