"""A second process runs what the first has traced, without a trace; and traces anew whatever has changed."""

from __future__ import annotations

import json
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.warm_python import warm_python

ROOT = Path(__file__).resolve().parents[3]
#: The module whose loops go on as compiled code after their first iteration.
MODELS = """
import numpy as np
import parts

SCALE = 0.5
WEIGHTS = np.array([1.0, 2.0, 3.0])
SHIFTS = np.array([0, 1, 1])


def damp(x, factor=0.25):
    return x * factor + SCALE


def with_callee(x, steps):
    total = 0.0
    for k in range(steps):
        x = damp(x) + parts.drift(x, k) * WEIGHTS
        total += x.sum()
    return x, total


def with_writes(x, steps):
    for k in range(1, steps):
        x[k % 3] = x[(k - 1) % 3] * 0.5 + k
    return x


def with_constants(x, steps):
    for k in range(steps):
        for shift in SHIFTS:
            x = x + 0.1 * np.roll(x, shift)
    return x


def with_test(x, limit):
    count = 0
    while x.sum() < limit:
        x = x * 1.5
        count += 1
    return x, count


def with_exit(x, steps, seen):
    for k in range(steps):
        x = x * 0.5 + k
        if k % 8 == 7:
            seen.append(float(x.sum()))
    return x


class Grid:
    spacing = 0.5

    def __init__(self, u):
        self.u, self.time, self.steps = u, 0.0, 0

    def slope(self):
        return (np.roll(self.u, -1) - np.roll(self.u, 1)) / self.spacing

    def step(self, dt):
        self.u = self.u - dt * self.slope()
        self.time += dt
        self.steps += 1

    def run(self, steps):
        for k in range(steps):
            self.step(0.01)


def with_object(x, steps):
    grid = Grid(x)
    grid.run(steps)
    return grid.u, grid.time, grid.steps


def with_state(x, steps):
    state, history = {"x": x, "n": 0}, [0.0, 0.0]
    for k in range(steps):
        state["x"] = state["x"] * 0.5 + 1.0
        history[0] = state["x"].sum()
    return state, history


def that_draws(x, steps):
    rng = np.random.default_rng(7)
    for k in range(steps):
        x = x + rng.random(3)
    return x
"""
PARTS = """
import numpy as np

RATE = 0.125


def drift(x, k):
    return np.tanh(x) * RATE + k
"""
PROGRAM = """
import json
import tensorflow
import np2tf
np2tf.install(["models", "parts"])
import numpy as np
from np2tf.core.counts import counts
from np2tf.staging.host import replacement
from np2tf.staging.host.watched_loops import WatchedLoop, compiled_loops
from np2tf.staging.tiers import constants

take_over = replacement.LoopRun._take_over
replacement.LoopRun._take_over = lambda rounds, frame, left: take_over(rounds, frame, 1e9)
replacement.LoopRun._pays = lambda *_: replacement._is_possible()
WatchedLoop._is_faster_compiled = False
for name, value in (("HOT_LOOP", 0.0), ("LOADING_ROUNDS", 0), ("FASTER", float("inf")), ("SHORT_LOOP", 2)):
    setattr(constants, name, value)
import models
import calls

found = {}
for name, call in calls.CALLS.items():
    before = counts.traces, counts.compiled + counts.graph
    value = call(models, np)
    found[name] = [repr(value), counts.traces - before[0], counts.compiled + counts.graph - before[1]]
print(json.dumps(found))
"""
CALLS = """
X = (0.5, 1.0, 2.0)
CALLS = {
    "with_callee": lambda models, np: models.with_callee(np.array(X), 20),
    "with_writes": lambda models, np: models.with_writes(np.array(X), 20),
    "with_constants": lambda models, np: models.with_constants(np.array(X), 10),
    "with_test": lambda models, np: models.with_test(np.array(X), 1e5),
    "with_exit": lambda models, np: (seen := [], models.with_exit(np.array(X), 40, seen)),
    "with_object": lambda models, np: models.with_object(np.array(X), 20),
    "with_state": lambda models, np: models.with_state(np.array(X), 20),
    "that_draws": lambda models, np: models.that_draws(np.array(X), 20),
}
"""


def process(folder: Path, **variables: str) -> dict[str, list[Any]]:
    """Run the program, and return for each call its result, the traces, and the calls of compiled code."""
    environment = {
        **os.environ,
        "NP2TF_CACHE": "on",
        "NP2TF_CACHE_DIR": str(folder / "cache"),
        "PYTHONPATH": str(ROOT),
        **variables,
    }
    ran = subprocess.run(
        [warm_python(), "program.py"], capture_output=True, text=True, cwd=folder, env=environment
    )
    assert ran.returncode == 0, ran.stderr
    assert "NP2TF905" not in ran.stderr
    return json.loads(ran.stdout)  # type: ignore[no-any-return]


def write(folder: Path, **texts: str) -> Path:
    """Write the modules of the program."""
    for name, text in {"models": MODELS, "parts": PARTS, "program": PROGRAM, "calls": CALLS, **texts}.items():
        (folder / f"{name}.py").write_text(text)
    return folder


def test_the_second_process_traces_nothing(tmp_path: Path) -> None:
    first, second = process(write(tmp_path)), process(tmp_path)
    print(json.dumps([first, second], indent=1))
