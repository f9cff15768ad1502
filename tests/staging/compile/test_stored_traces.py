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
import np2tf
import parts

RATES = {"slow": 0.5}
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


class Grid:
    spacing = 0.5

    def __init__(self, u):
        self.u, self.time, self.steps = u, 0.0, 0

    def rate(*owner):
        return len(owner) + 1.0

    def slope(self):
        return (np.roll(self.u, -1) - np.roll(self.u, 1)) / self.spacing

    def step(self, dt):
        self.u = self.u - dt * self.rate() * self.slope()
        self.time += dt
        self.steps += 1

    def run(self, steps):
        for k in range(steps):
            self.step(0.01)


def with_object(x, steps):
    grid = Grid(x)
    grid.run(steps)
    return grid.u, grid.time, grid.steps


@np2tf.jit(tier="compile")
def jitted(state, history, x):
    for k in range(12):
        x = x * RATES["slow"] + k
    state["x"] = x
    history[0] = x.sum()
    return state, 2 * x, None


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
import json, os
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
replacement.LoopRun._pays = lambda *_: replacement.is_possible()
WatchedLoop._is_faster_compiled = False
for name, value in (("HOT_LOOP", 0.0), ("LOADING_ROUNDS", 0), ("FASTER", float("inf")), ("SHORT_LOOP", 2)):
    setattr(constants, name, value)
import models
import calls

if "FAULTY" in os.environ:
    from np2tf.staging.compile import stored_traces

    def fail(*arguments):
        raise OSError(28, "No space left on device")

    setattr(stored_traces, os.environ["FAULTY"], fail)



def numbers(value):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [number for item in value for number in numbers(item)]
    return [] if value is None else np.ravel(value).tolist()


found = {}
for name, call in calls.CALLS.items():
    before = counts.traces, counts.compiled + counts.graph
    value = call(models, np)
    ran = counts.compiled + counts.graph - before[1]
    found[name] = [numbers(value), counts.traces - before[0], ran]
print(json.dumps(found))
"""
CALLS = """
X = (0.5, 1.0, 2.0)
CALLS = {
    "with_callee": lambda models, np: models.with_callee(np.array(X), 20),
    "with_writes": lambda models, np: models.with_writes(np.array(X), 20),
    "with_constants": lambda models, np: models.with_constants(np.array(X), 10),
    "with_test": lambda models, np: models.with_test(np.array(X), 1e5),
    "with_object": lambda models, np: models.with_object(np.array(X), 20),
    "jitted": lambda models, np: models.jitted({"x": 0, "n": 1}, [0.0, 1.0], np.array(X)),
    "that_draws": lambda models, np: models.that_draws(np.array(X), 20),
}
"""


def process(folder: Path, program: str = "program", **variables: str) -> dict[str, list[Any]]:
    """Run the program, and return for each call its result, the traces, and the calls of compiled code."""
    environment = {
        **os.environ,
        "NP2TF_CACHE": "on",
        "NP2TF_CACHE_DIR": str(folder / "cache"),
        "PYTHONPATH": str(ROOT),
        **variables,
    }
    ran = subprocess.run(
        [warm_python(), f"{program}.py"], capture_output=True, text=True, cwd=folder, env=environment
    )
    assert ran.returncode == 0, ran.stderr
    assert ("NP2TF905" in ran.stderr) is ("FAULTY" in variables), ran.stderr
    return json.loads(ran.stdout)  # type: ignore[no-any-return]


def write(folder: Path, **texts: str) -> Path:
    """Write the modules of the program."""
    for name, text in {"models": MODELS, "parts": PARTS, "program": PROGRAM, "calls": CALLS, **texts}.items():
        (folder / f"{name}.py").write_text(text)
    return folder


def expected(folder: Path) -> dict[str, list[float]]:
    """Return the results on NumPy."""
    program = PROGRAM.replace("np2tf.install", "np2tf.use_backend('numpy'); (lambda names: None)")
    (folder / "program_on_numpy.py").write_text(program)
    return {name: found[0] for name, found in process(folder, "program_on_numpy").items()}


def traced(found: dict[str, list[Any]]) -> set[str]:
    """Return the calls with a trace, and check that all have run as compiled code."""
    assert all(ran for _, _, ran in found.values()), found
    return {name for name, (_, traces, _) in found.items() if traces}


STORED = {"with_callee", "with_writes", "with_constants", "with_test", "with_object", "jitted"}


def test_the_second_process_traces_nothing(tmp_path: Path) -> None:
    first = process(write(tmp_path))
    assert traced(first) == {*STORED, "that_draws"}
    second = process(tmp_path)
    assert traced(second) == {"that_draws"}, "a stream belongs to a process"
    for name, right in expected(tmp_path).items():
        assert second[name][0] == pytest.approx(right, rel=1e-12), name
        assert second[name][0] == first[name][0], name
    folder = tmp_path / "cache" / "traces"
    assert folder.stat().st_mode & 0o077 == 0
    assert all(path.stat().st_mode & 0o077 == 0 for path in folder.iterdir())
    for path in folder.iterdir():
        path.write_bytes(path.read_bytes()[:-7])
    assert traced(process(tmp_path)) == {*STORED, "that_draws"}, "files that are not whole are no traces"
    for path in folder.iterdir():
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.write_bytes(content)
    broken = process(tmp_path)
    assert traced(broken) == {*STORED, "that_draws"}
    assert {name: found[0] for name, found in broken.items()} == {n: f[0] for n, f in first.items()}


#: What another version of the program changes, and the calls that must be traced anew for it.
CHANGES = {
    "code and values": (
        {
            "MODELS": [
                ("return x * factor + SCALE", "return x * factor - SCALE"),
                ("SHIFTS = np.array([0, 1, 1])", "SHIFTS = np.array([0, 1, 2])"),
                ("spacing = 0.5", "spacing = 0.25"),
                ('"slow": 0.5', '"slow": 0.75'),
            ],
            "CALLS": [
                ("with_writes(np.array(X), 20)", "with_writes(np.array(X, np.float32), 20)"),
                ("with_test(np.array(X), 1e5)", "with_test(np.array([*X, 3.0]), 1e5)"),
            ],
        },
        {*STORED},
    ),
    "names": (
        {
            "MODELS": [
                ("factor=0.25", "factor=0.125"),
                ("return (np.roll(self.u, -1)", "return 2 * (np.roll(self.u, -1)"),
            ],
            "CALLS": [("with_writes(np.array(X), 20)", "with_writes(np.array([1, 2, 3]), 20)")],
        },
        {"with_callee", "with_object", "with_writes"},
    ),
    "another module": ({"PARTS": [("RATE = 0.125", "RATE = 0.5")]}, {"with_callee"}),
    "a method is static now": (
        {"MODELS": [("    def rate(*owner)", "    @staticmethod\n    def rate(*owner)")]},
        {"with_object"},
    ),
    "a global": ({"MODELS": [("SCALE = 0.5", "SCALE = 0.75")]}, {"with_callee"}),
    "the callee of another module": ({"PARTS": [("np.tanh(x)", "np.sin(x)")]}, {"with_callee"}),
    "a comment": ({"MODELS": [("def damp", "# what damps\n\n\ndef damp")]}, set()),
}


def changed(texts: dict[str, list[tuple[str, str]]]) -> dict[str, str]:
    """Return the modules with these changes."""
    result = {}
    for name, changes in texts.items():
        text = globals()[name]
        for before, after in changes:
            assert text.count(before) == 1, before
            text = text.replace(before, after)
        result[name.lower()] = text
    return result


def test_what_has_changed_is_traced_anew(tmp_path: Path) -> None:
    process(write(tmp_path))
    for title, (texts, anew) in CHANGES.items():
        write(tmp_path, **changed(texts))
        found = process(tmp_path)
        assert traced(found) == {*anew, "that_draws"}, title
        for name, right in expected(tmp_path).items():
            assert found[name][0] == pytest.approx(right, rel=1e-6 if name == "with_writes" else 1e-12), (
                title,
                name,
            )
    write(tmp_path)
    assert traced(process(tmp_path, NP2TF_BOUNDS="unchecked")) == {*STORED, "that_draws"}
    assert traced(process(tmp_path)) == {"that_draws"}


@pytest.mark.parametrize("variable", ["NP2TF_DECISIONS", "NP2TF_CACHE"])
def test_stored_traces_are_turned_off_with_the_decisions(tmp_path: Path, variable: str) -> None:
    write(tmp_path)
    for _ in range(2):
        assert traced(process(tmp_path, **{variable: "off"})) == {*STORED, "that_draws"}
    assert not (tmp_path / "cache" / "traces").exists()


def test_processes_write_at_once_and_a_folder_may_be_read_only(tmp_path: Path) -> None:
    write(tmp_path)
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda _: process(tmp_path), range(2))
    assert {n: f[0] for n, f in first.items()} == {n: f[0] for n, f in second.items()}
    assert traced(process(tmp_path)) == {"that_draws"}
    (tmp_path / "cache" / "traces").chmod(0o770)  # others may write to it
    assert traced(process(tmp_path)) == {*STORED, "that_draws"}
    assert traced(process(tmp_path, NP2TF_CACHE_DIR="/dev/null/nowhere")) == {*STORED, "that_draws"}


def test_faults_lead_to_a_trace(tmp_path: Path) -> None:
    first = process(write(tmp_path))
    for step in ("stable_key", "LoadedFunction", "_outputs_of", "note_names"):
        found = process(tmp_path, FAULTY=step)
        assert traced(found) == {*STORED, "that_draws"}, step
        assert {name: found[name][0] for name in first} == {name: first[name][0] for name in first}
    write(tmp_path, **changed({"MODELS": [("SCALE = 0.5", "SCALE = 0.25")]}))
    assert process(tmp_path, FAULTY="_record_of")["with_callee"][1:] != [0, 0]
    assert "with_callee" in traced(process(tmp_path)), "it was not stored"
