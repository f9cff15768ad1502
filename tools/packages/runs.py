"""Run a package's own, unchanged tests: on plain NumPy, or translated, in one of several modes."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from pathlib import Path

from tools.packages.catalogue import ROOT, Package

#: Mode -> the environment variables that set it. "default": the package runs as a user runs it. "compile":
#: every jitted function is compiled at its first call. "tensorflow": TensorFlow does every single operation.
MODES: Mapping[str, Mapping[str, str]] = {
    "default": {},
    "compile": {"NP2TF_TIER": "compile"},
    "tensorflow": {"NP2TF_EAGER": "tensorflow", "NP2TF_JIT": "off"},
}
#: Mode -> the seconds that one test may take. Some tests do millions of operations.
TEST_LIMITS = {"tensorflow": 200}
NUMPY = "numpy"
PLUGIN = "np2tf.imports.pytest_plugin"
_QUIET = ("-q", "-p", "no:cacheprovider", "-p", "no:warnings", "-o", "addopts=")
_TRIES = 3
_RANKS = ("passed", "skipped", "failed", "error")


@dataclass(frozen=True)
class Run:
    """One run of a package's tests.

    Attributes:
        outcomes: test id -> passed, skipped, failed or error.
        messages: test id -> the first line of the failure.
        seconds: how long the run took.
        output: the text that pytest printed.
        errors: test id -> the last line of the failure.
        ended: whether the tests ended in time.
    """

    outcomes: Mapping[str, str]
    messages: Mapping[str, str]
    seconds: float
    output: str
    errors: Mapping[str, str] = field(default_factory=dict)
    ended: bool = True

    @property
    def passed(self) -> set[str]:
        """Return the tests that pass."""
        return {name for name, outcome in self.outcomes.items() if outcome == "passed"}


def run(package: Package, folder: Path, mode: str = NUMPY, timeout: float = 1800) -> Run:
    """Run the tests in the unpacked `folder`.

    If only tests fail that may also fail on NumPy by chance, the run is repeated up to two times.

    Args:
        package: the package.
        folder: its unpacked sources.
        mode: NUMPY or a name in MODES.
        timeout: the seconds that the run may take.
    """
    for _ in range(_TRIES):
        last = _run_once(package, folder, mode, timeout)
        wrong = {
            (name.rpartition("::")[2], outcome)
            for name, outcome in last.outcomes.items()
            if outcome in ("failed", "error")
        }
        if not wrong or wrong - {(name, "failed") for name in package.by_chance}:
            break
    return last


def _run_once(package: Package, folder: Path, mode: str, timeout: float) -> Run:
    modules = () if mode == NUMPY else (package.module,)
    environment = {"PYTHONPATH": str(ROOT), **package.environment, **MODES.get(mode, {})}
    limit = [f"--timeout={TEST_LIMITS[mode]}"] if mode in TEST_LIMITS else []
    return execute(folder, [*limit, *package.arguments], modules, timeout, environment)


def execute(
    folder: Path,
    arguments: Sequence[str],
    modules: Sequence[str] = (),
    timeout: float = 1800,
    environment: Mapping[str, str] | None = None,
    python: str = sys.executable,
) -> Run:
    """Run pytest in a folder.

    Args:
        folder: the folder in which pytest runs.
        arguments: the arguments of pytest.
        modules: the modules that are translated.
        timeout: the seconds that the run may take.
        environment: further environment variables.
        python: the interpreter.
    """
    variables = {
        **os.environ,
        "MPLBACKEND": "Agg",
        "OMP_NUM_THREADS": "1",
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "PYTHONDONTWRITEBYTECODE": "1",
        **(environment or {}),
    }
    translating = [*(_plugin() if modules else ()), *(f"--np2tf={name}" for name in modules)]
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch, "report.xml")
        command = [python, "-m", "pytest", *_QUIET, *translating, f"--junitxml={report}", *arguments]
        started = time.perf_counter()
        output = _output_of(command, folder, variables, timeout, Path(scratch, "output.txt"))
        seconds = time.perf_counter() - started
        if output is None:
            return Run({}, {}, seconds, f"the tests took more than {timeout:g} s", ended=False)
        return Run(*_read(report), seconds, output, _last_lines(report))


def _output_of(
    command: list[str], folder: Path, variables: Mapping[str, str], timeout: float, kept: Path
) -> str | None:
    """Return the output of a command; None if it exceeds the time limit. Then its child processes are ended
    as well.
    """
    with kept.open("w+", encoding="utf-8", errors="replace") as file:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            process.wait(timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return None
    return kept.read_text(encoding="utf-8", errors="replace")


def _plugin() -> list[str]:
    """Return the options by which pytest finds the plugin: none if np2tf is installed, else the plugin's
    name.
    """
    installed = any(entry_point.value == PLUGIN for entry_point in entry_points(group="pytest11"))
    return [] if installed else ["-p", PLUGIN]


def _read(report: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Return outcome and message by test id. Of several entries for one test (subtests, teardown) the worst
    counts.
    """
    outcomes: dict[str, str] = {}
    messages: dict[str, str] = {}
    if not report.exists():
        return outcomes, messages
    for case in ElementTree.parse(report).iter("testcase"):
        name = f"{case.get('classname')}::{case.get('name')}"
        outcome = "passed"
        for child in case:
            kind = {"failure": "failed", "error": "error", "skipped": "skipped"}.get(child.tag)
            if kind is not None and _RANKS.index(kind) > _RANKS.index(outcome):
                outcome = kind
                messages[name] = (child.get("message") or "").split("\n")[0]
        if _RANKS.index(outcome) >= _RANKS.index(outcomes.get(name, "passed")):
            outcomes[name] = outcome
    return outcomes, messages


def _last_lines(report: Path) -> dict[str, str]:
    """Return the last line of each failure, by test id."""
    found: dict[str, str] = {}
    for case in ElementTree.parse(report).iter("testcase") if report.exists() else ():
        for child in case:
            if child.tag in ("failure", "error"):
                lines = [line for line in (child.text or "").splitlines() if line.strip()]
                told = [line[1:].strip() for line in lines if re.match(r"E\s+\S", line)]
                name = f"{case.get('classname')}::{case.get('name')}"
                found[name] = (told or lines or [child.get("message") or ""])[-1][:300]
    return found
