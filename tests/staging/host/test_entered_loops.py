"""Loops whose runs begin as compiled code: results, effects and errors are as on NumPy."""

from __future__ import annotations

import contextlib
import io
from typing import Any

import numpy as np
import pytest

import np2tf
from np2tf.staging.host import watched_loops
from np2tf.staging.tiers import constants
from np2tf.staging.watch import Watch
from tests.fuzz.test_random_programs import _difference
from tests.helpers.differential import arguments_of, load, observe
from tests.helpers.random_programs import program
from tests.helpers.replacing import Taken, entered, imported
from tests.staging.host.test_replacement import HEAD, ROWS

__all__ = ["entered"]
#: Rows with loops over known rounds that are not entered: a name is bound in some rounds only; a `while`, and
#: a loop of four rounds; a `return`, which is left to the loop itself.
NOT_ENTERED = {
    "a variable that is bound in some rounds only",
    "while loops within loops",
    "it returns",
}
#: A graph that is entered is compared with NumPy, as a function's is.
ENTERED = {"it prints"}


@pytest.mark.parametrize("name", ROWS)
def test_loops_that_are_entered(name: str, entered: Taken) -> None:
    source, given, over = ROWS[name]
    wanted, found = [], []
    for functions, outcomes in ((load(HEAD + source), wanted), (imported(HEAD + source + "\n"), found)):
        for _ in range(2):
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                outcomes.append((observe(functions["f"], arguments_of(given)), printed.getvalue()))
    for (translated_outcome, mine_printed), (numpy_outcome, theirs_printed) in zip(
        found, wanted, strict=True
    ):
        assert translated_outcome.differs_from(numpy_outcome) is None
        assert mine_printed == theirs_printed
    if over and "for " in source and "raise" not in name and name not in NOT_ENTERED:
        assert entered.over
    if not over and name not in ENTERED:
        assert not entered.over


@pytest.mark.parametrize("start", range(80, 160, 20))
def test_loops_of_random_programs(start: int, entered: Taken) -> None:
    for seed in range(start, start + 20):
        made = program(seed)
        reference, function = load(made.source)["program"], imported(made.source)["program"]
        wanted = [observe(reference, arguments_of(call)) for call in made.calls]
        for call, numpy_outcome in zip(made.calls, wanted, strict=True):
            translated_outcome = observe(function, arguments_of(call))
            problem = _difference(translated_outcome, numpy_outcome, made, "compiled")
            assert problem is None, f"seed {seed}: {problem}\n{made.source}\n{made.calls}"
    assert entered.over


SHORT_RUNS = f"""{HEAD}
class Pairs:
    def __init__(self):
        self.known = []

    def of(self, x, limit):
        self.known = [(i, j) for i in range(len(x)) for j in range(i) if abs(x[i] - x[j]) < limit]
        return np.array(self.known, dtype=int).reshape(-1, 2)


def f(pairs, x, limit):
    energy = 0.0
    forces = np.zeros(len(x))
    for i, j in pairs.of(x, limit):
        d = x[i] - x[j]
        r = np.sqrt(d * d)
        if r == 0.0:
            continue
        forces[i] += (limit - r) * d / r
        forces[j] -= (limit - r) * d / r
        energy += 0.5 * (limit - r) ** 2
    return forces, energy
"""


def test_many_short_runs_of_ever_new_lengths(entered: Taken) -> None:
    """The array that the loop runs over is made by code that stays on the host."""
    wanted, found = load(SHORT_RUNS), imported(SHORT_RUNS)
    rng, watch = np.random.default_rng(3), Watch()
    translated_pairs, numpy_pairs = found["Pairs"](), wanted["Pairs"]()
    try:
        for _ in range(24):
            x = rng.normal(size=40)
            forces, energy = found["f"](translated_pairs, x, 0.5)
            wanted_forces, wanted_energy = wanted["f"](numpy_pairs, x, 0.5)
            np.testing.assert_allclose(forces, wanted_forces, rtol=1e-12, atol=1e-12)
            np.testing.assert_allclose(energy, wanted_energy, rtol=1e-12)
            assert type(energy) is type(wanted_energy)
    finally:
        report = watch.stop()
    (loop,) = (loop for loop in report.loops if loop.name == "f")
    assert loop.times >= 20
    (jitted,) = (
        translation
        for loop in watched_loops.loops.values()
        if loop.function.of == "f"
        for translation in loop.translations
        if loop.path == found["f"].__code__.co_filename
    )
    assert jitted.trace_count <= 6


def test_what_does_not_pay_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """A loop that has taken less time than compiling it would is looked at, and left on the host."""
    monkeypatch.setattr(constants, "ENTER_FACTOR", 0.0)
    monkeypatch.setattr(constants, "FIRST_CALL_GAIN", 0.0)
    monkeypatch.setattr(constants, "LONG_CALL", 0.0)
    source = (
        "def f(x):\n    for i in range(20):\n        x = x + np.sum(i)\n    print(end='')\n    return x\n"
    )
    found = imported(HEAD + source)["f"]
    for _ in range(200):
        np.testing.assert_array_equal(found(np.zeros(2)), [190.0, 190.0])
    loop: Any = watched_loops.loops[f"{found.__code__.co_filename}:5:4"]
    (jitted,) = loop.translations
    assert jitted.trace_count == 0 or jitted.compiled_count < 20


def test_a_function_that_is_slower_takes_its_loops_along() -> None:
    source = "def f(x):\n    for i in range(20):\n        x = x + np.sum(i)\n    return x\n"
    found = imported(HEAD + source)["f"]
    loop = watched_loops.loops[f"{found.__code__.co_filename}:5:4"]
    with np2tf.config.using(tier="auto"):
        found.lower(np.zeros(2))
        (cache,) = found._caches.values()
        cache.timing.on_host = cache.timing.is_settled = True
        np.testing.assert_array_equal(found(np.zeros(2)), [190.0, 190.0])
    loop.host_seconds, loop._latest = 1e9, 1.0
    assert not loop.is_due
    loop.note_host_run(is_final=False)
    assert loop.is_due
