"""Fixtures for tests of on-stack replacement: loops that are hot after or before their first iteration."""

from __future__ import annotations

import linecache
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest

import np2tf
from np2tf.arrays.front import tensorflow_loading
from np2tf.loading.code.translation import translation_of
from np2tf.staging.compile.loop_compiler import LoopCompiler
from np2tf.staging.host import originals, regions, replacement
from np2tf.staging.host.watched_loops import WatchedLoop
from np2tf.staging.process import boundary
from np2tf.staging.process.ending import ending
from np2tf.staging.tiers import constants
from np2tf.translator.sources.options import Options

_numbers = count()


class Taken:
    """How many loops have gone on as compiled code, how many could not, and why, and how often a region ran
    as compiled code.
    """

    def __init__(self) -> None:
        self.over = self.refused = self.regions = 0
        self.reasons: list[Any] = []


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> Iterator[Taken]:
    """Every loop is hot after its first round, and none is too slow."""
    tensorflow_loading.load()
    found = Taken()
    take_over = replacement.LoopRun._take_over

    def counted(rounds: Any, frame: Any, left: float) -> bool:
        taken_over = take_over(rounds, frame, 1e9)
        found.over += taken_over
        found.refused += not taken_over
        return taken_over

    refuse = WatchedLoop.refuse

    def noted(loop: WatchedLoop, arguments: Any, keywords: Any, why: Any) -> None:
        found.reasons.append(why)
        refuse(loop, arguments, keywords, why)

    monkeypatch.setattr(WatchedLoop, "refuse", noted)
    monkeypatch.setattr(replacement.LoopRun, "_take_over", counted)
    monkeypatch.setattr(replacement.LoopRun, "_pays", lambda *_: replacement.is_possible())
    for name, value in (
        ("HOT_LOOP", 0.0),
        ("LOADING_ROUNDS", 0),
        ("FASTER", float("inf")),
        ("SHORT_LOOP", 2),
    ):
        monkeypatch.setattr(constants, name, value)
    # Otherwise the measured time decides whether a second run begins as compiled code.
    monkeypatch.setattr(WatchedLoop, "_is_faster_compiled", False)
    with np2tf.config.using(tier="auto"):
        yield found


@pytest.fixture(params=["compiled", "compared", "beside"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Loops that compiled code runs to their end; of which the host runs an iteration after each part, for
    comparison; that XLA compiles in a thread, while the host goes on.
    """
    monkeypatch.setattr(ending, "is_ours", request.param == "beside")
    if request.param == "compared":
        for name in ("REVIEW_LOOP", "REVIEW_LOOP_FACTOR", "WARM_TRIAL", "LONGEST_PART"):
            monkeypatch.setattr(constants, name, 0.0)


@pytest.fixture
def cut(taken: Taken, monkeypatch: pytest.MonkeyPatch) -> Taken:
    """The regions of every loop are compiled after its first rounds, and none is too short or too slow."""
    runs, consider = regions.Region._runs, regions.Region.consider

    def counted(region: regions.Region, *call: Any) -> bool:
        has_run = runs(region, *call)
        taken.regions += has_run
        return has_run

    def due(region: regions.Region, rounds: float, pays: regions.Pays) -> None:
        consider(region, 1e9, pays)

    monkeypatch.setattr(regions.Region, "_runs", counted)
    monkeypatch.setattr(regions.Region, "consider", due)
    monkeypatch.setattr(LoopCompiler, "_prefers_host", lambda *_: False)
    monkeypatch.setattr(constants, "CALL_SECONDS", 0.0)
    monkeypatch.setattr(constants, "ROUNDS_OF_REGION", 1)
    monkeypatch.setattr(constants, "PATIENCE_OF_LOOPS", 1e9)
    return taken


@pytest.fixture
def entered(monkeypatch: pytest.MonkeyPatch) -> Iterator[Taken]:
    """Every loop over known rounds is entered as compiled code, and none is too slow."""
    tensorflow_loading.load()
    found = Taken()
    enter = replacement.LoopRun._enter

    def counted(rounds: Any, frame: Any, left: range) -> Any:
        outcome = enter(rounds, frame, left)
        found.over += rounds._taken_over
        found.refused += not rounds._taken_over
        return outcome

    def is_due(loop: WatchedLoop) -> bool:
        return loop._is_entered and not loop.refused

    monkeypatch.setattr(replacement.LoopRun, "_enter", counted)
    monkeypatch.setattr(WatchedLoop, "is_due", property(is_due))
    monkeypatch.setattr(LoopCompiler, "_prefers_host", lambda *_: False)
    monkeypatch.setattr(LoopCompiler, "_deadline", None)
    monkeypatch.setattr(constants, "SHORT_LOOP", 2)
    with np2tf.config.using(tier="auto"):
        yield found


def imported(source: str, name: str = "replaced") -> dict[str, Any]:
    """Return the globals of a module that is imported translated."""
    names: dict[str, Any] = {}
    execute(source, names, name)
    return names


def execute(source: str, names: dict[str, Any], name: str = "__main__") -> None:
    """Execute a module translated, with these globals."""
    path = f"/nowhere/replaced_{next(_numbers)}.py"
    linecache.cache[path] = len(source), None, source.splitlines(keepends=True), path
    made = translation_of(source.encode(), path, Options(everything=True))
    assert not any(finding.code == "NP2TF905" for finding in made.findings), made.findings
    names |= {**boundary.NAMES, **originals.NAMES, "__name__": name}
    originals.add_originals(made.originals, names)
    exec(made.code or compile(source, path, "exec"), names)
