"""Histories of programs, recorded and random, replayed through the choice of tier: what np2tf may lose is
bounded, and what a program promises is won.

The bound: at any moment, the program is behind by at most 5 % of its time, 0.3 seconds, and the cost of one
wrong prediction: the import of TensorFlow, two compilations, because the second may begin before the first is
known to be lost, and the calls that show that they are slower.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from np2tf.staging.tiers import constants
from tests.staging.tiers.simulated_program import (
    IMPORT_SECONDS,
    MOST_LOAD,
    Function,
    Loop,
    World,
    told_loop,
    uneven_load,
)

History = Callable[[World, random.Random], None]


def _ratio(draw: random.Random) -> float:
    """Compiled seconds by host seconds: from ten times faster to five times slower."""
    return 10.0 ** draw.uniform(-1.0, 0.7)


def _function(world: World, draw: random.Random, host: Callable[[int], float]) -> Function:
    ratio = _ratio(draw)
    return Function(
        world,
        host,
        lambda size: ratio * host(size) + 2e-4,
        trace=draw.uniform(0.1, 2.0),
        xla=draw.uniform(0.1, 3.0),
        can_be_compiled=draw.random() < 0.8,
    )


def _calls(world: World, draw: random.Random) -> None:
    """Calls of one function outside of loops; nobody knows when they end."""
    seconds = 10.0 ** draw.uniform(-4, 0)
    function = _function(world, draw, lambda _: seconds)
    for _ in range(int(min(draw.uniform(0.1, 40.0) / seconds, 3000))):
        function()


def _calls_in_a_loop(world: World, draw: random.Random) -> None:
    seconds = 10.0 ** draw.uniform(-4, 0)
    function = _function(world, draw, lambda _: seconds)
    count = int(min(draw.uniform(0.1, 60.0) / seconds, 800)) + 1
    end = count if draw.random() < 0.7 else draw.randrange(count)
    with told_loop(count) as progress:
        for progress.position in range(end):
            function()


def _several_functions(world: World, draw: random.Random) -> None:
    """Functions that are called in turn, some of which cannot be compiled or become slower."""
    seconds = [10.0 ** draw.uniform(-3.5, -1) for _ in range(draw.randrange(2, 8))]
    functions = [_function(world, draw, lambda _, s=s: s) for s in seconds]
    count = int(draw.uniform(1.0, 60.0) / sum(seconds)) + 1
    with told_loop(count) as progress:
        for progress.position in range(min(count, 600)):
            for function in functions:
                function()


def _two_kinds_of_calls(world: World, draw: random.Random) -> None:
    """Calls that now and then take a hundred times as long, with the same arguments."""
    seconds, share = 10.0 ** draw.uniform(-4, -2), draw.uniform(0.01, 0.3)
    present = [seconds]
    function = _function(world, draw, lambda _: present[0])
    for _ in range(draw.randrange(10, 500)):
        present[0] = seconds * (100.0 if draw.random() < share else 1.0)
        function()


def _growing_arrays(world: World, draw: random.Random) -> None:
    """Every call has another size."""
    growth = 10.0 ** draw.uniform(-5, -3)
    function = _function(world, draw, lambda size: growth * size)
    for size in range(1, draw.randrange(20, 300)):
        function(size)


def _two_sizes(world: World, draw: random.Random) -> None:
    """Sizes that alternate; one is faster as compiled code, the other slower."""
    seconds = 10.0 ** draw.uniform(-3, -1), 10.0 ** draw.uniform(-3, -1)
    ratios = _ratio(draw), _ratio(draw)
    function = Function(world, seconds.__getitem__, lambda size: seconds[size] * ratios[size])
    for k in range(draw.randrange(20, 800)):
        function(k % 2)


def _time_loops(world: World, draw: random.Random) -> None:
    """One to four time loops after another, some of which break, cannot be compiled, or lose."""
    for _ in range(draw.randrange(1, 5)):
        host = 10.0 ** draw.uniform(-3, -1)
        rounds = int(min(draw.uniform(0.2, 60.0) / host, 5000)) + 1
        loop = Loop(world, rounds, host, host * _ratio(draw), cost=draw.uniform(0.3, 6.0))
        loop.can_be_compiled = draw.random() < 0.8
        loop.ends_after = None if draw.random() < 0.7 else draw.randrange(1, rounds + 1)
        loop.run()


HISTORIES: tuple[History, ...] = (
    _calls,
    _calls_in_a_loop,
    _several_functions,
    _two_kinds_of_calls,
    _growing_arrays,
    _two_sizes,
    _time_loops,
)


def _replay(monkeypatch: pytest.MonkeyPatch, history: History, seed: int, is_busy: bool) -> World:
    draw, worlds = random.Random(seed), []
    world = World(uneven_load(draw, worlds)) if is_busy else World()
    worlds.append(world)
    with monkeypatch.context() as patch:
        world.install(patch)
        history(world, draw)
    return world


@pytest.mark.parametrize("is_busy", [False, True], ids=["quiet", "busy"])
@pytest.mark.parametrize("history", HISTORIES, ids=lambda history: history.__name__.strip("_"))
def test_the_regret_is_bounded(history: History, is_busy: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    # Of calls that differ by much, the first comparison may have seen only one sort.
    trials = constants.WARM_CALLS * (2 if history is _two_kinds_of_calls else 1)
    for seed in range(150):
        world = _replay(monkeypatch, history, seed, is_busy)
        one_wager = IMPORT_SECONDS + 2 * world.largest + trials * world.slowest
        worst = (MOST_LOAD if is_busy else 1.0) * one_wager
        assert world.worst <= worst + 1e-6, f"seed {seed}: {world.worst:.2f} s of {world.host:.1f}"


def _short_n_body(world: World) -> None:
    Loop(world, 400, 0.0047, 0.0012, cost=1.5).run()


def _orbits(world: World) -> None:
    """One call of a solver that takes 0.1 s, and would take 9 s to trace."""
    Function(world, lambda _: 0.1, lambda _: 0.02, trace=9.0)()


def _stencil(world: World) -> None:
    stencil = Function(world, lambda _: 1.3, lambda _: 0.2)
    stencil()
    stencil()


def _newton_per_point(world: World) -> None:
    """A Markov chain: a model of 200 points, which compiled code computes six times slower."""
    model = Function(world, lambda _: 0.00024, lambda _: 0.0014, trace=1.5, xla=1.0)
    with told_loop(30_000) as progress:
        for progress.position in range(30_000):
            model()


def _finite_volumes(world: World) -> None:
    Loop(world, 500, 0.0144, 0.0028, cost=3.0).run()
    world.pass_time(0.3)


def _long_simulation(world: World) -> None:
    Loop(world, 4000, 0.01, 0.002, cost=4.0).run()


def _second_loop(world: World) -> None:
    """The first loop cannot be compiled; the second would be worth it."""
    Loop(world, 100, 0.05, 0.01, cost=1.0, can_be_compiled=False).run()
    Loop(world, 4000, 0.05, 0.01, cost=3.0).run()


@pytest.mark.parametrize(
    ("program", "least", "most"),
    [
        (_short_n_body, 0.0, 0.0),
        (_orbits, 0.0, 0.0),
        (_stencil, 0.0, 0.0),
        (_newton_per_point, 0.0, 0.3),
        (_finite_volumes, -2.0, 0.3),
        (_long_simulation, -30.0, -20.0),
        (_second_loop, -160.0, -120.0),
    ],
)
def test_programs_as_they_were_measured(
    program: Callable[[World], None], least: float, most: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The seconds that a program takes more than on NumPy are between `least` and `most`."""
    world = World()
    with monkeypatch.context() as patch:
        world.install(patch)
        program(world)
    assert least <= world.regret <= most
