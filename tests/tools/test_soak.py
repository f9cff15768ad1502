"""A program of small functions that runs for long: NumPy's results, flat memory, no slower steps."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tools import soak


def _curve(growth: float = 0.0, slowing: float = 0.0, filling: float = 0.0) -> list[soak.Sample]:
    chance = random.Random(0)
    return [
        soak.Sample(
            seconds=2.0 * k,
            rounds=100 * k,
            kilobytes=int(700_000 + min(k, 20) * 10_000 + growth * k + chance.random() * 5000),
            milliseconds=5 + slowing * k + chance.random(),
            sizes={"fallbacks": int(3 + filling * k), "SpecializationCache": chance.randrange(1000)},
        )
        for k in range(1, 200)
    ]


def test_the_judge() -> None:
    assert soak.problems(_curve()) == []
    assert "memory grows" in soak.problems(_curve(growth=1000))[0]
    assert "slower" in soak.problems(_curve(slowing=0.1))[0]
    assert "fallbacks" in soak.problems(_curve(filling=40))[0]
    assert soak.problems(_curve()[:5]) == ["the run was too short to be judged"]


@pytest.mark.parametrize("seconds", [20, pytest.param(3600, marks=pytest.mark.long)])
def test_a_program_that_runs_for_long(seconds: float, tmp_path: Path) -> None:
    """np2tf's counters start near the limits of powers and of C's integers."""
    errors = soak.run(seconds, tmp_path / "curve.csv", near=True, period=seconds / 20)
    curve = soak.samples(tmp_path / "curve.csv")
    assert "NP2TF905" not in errors
    assert "Traceback" not in errors
    assert curve[-1].sizes["faults"] == 0
    assert curve[-1].rounds > 20
    if seconds > 60:
        assert soak.problems(curve) == []
