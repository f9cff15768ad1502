"""Running a package's own, untouched tests: on plain NumPy, or translated, in one of several modes."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path

from tools.packages.catalogue import ROOT, Package

#: How the translated package runs, as environment variables. "default": as a user runs it. "compile": every
#: jitted function is compiled at its first call. "tensorflow": every single operation is done by TensorFlow.
MODES: Mapping[str, Mapping[str, str]] = {
    "default": {},
    "compile": {"NP2TF_TIER": "compile"},
    "tensorflow": {"NP2TF_EAGER": "tensorflow", "NP2TF_JIT": "off"},
}
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
        messages: test id -> the first line of what went wrong.
        output: what pytest printed.
    """

    outcomes: Mapping[str, str]
    messages: Mapping[str, str]
    seconds: float
    output: str

    @property
    def passed(self) -> set[str]:
        """The tests that pass."""
        return {name for name, outcome in self.outcomes.items() if outcome == "passed"}


def run(package: Package, folder: Path, mode: str = NUMPY, timeout: float = 1800) -> Run:
    """Run the tests in the unpacked `folder`; `mode` is NUMPY or a name in MODES.

    Where nothing fails but what may fail by chance, on NumPy as well, there is a second try and a third.
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
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "MPLBACKEND": "Agg",
        "OMP_NUM_THREADS": "1",
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "PYTHONDONTWRITEBYTECODE": "1",
        **package.environment,
        **MODES.get(mode, {}),
    }
    translating = [] if mode == NUMPY else [*_plugin(), "--np2tf", package.module]
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch, "report.xml")
        command = [sys.executable, "-m", "pytest", *_QUIET, *translating, f"--junitxml={report}"]
        started = time.perf_counter()
        try:
            done = subprocess.run(
                [*command, *package.arguments],
                cwd=folder,
                env=environment,
                capture_output=True,
                text=True,
                timeout=timeout,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Run({}, {}, timeout, f"the tests took more than {timeout:g} s")
        seconds = time.perf_counter() - started
        outcomes, messages = _read(report)
    return Run(outcomes, messages, seconds, done.stdout + done.stderr)


def _plugin() -> list[str]:
    """How pytest finds the plugin: by entry point where np2tf is installed, else by name."""
    installed = any(one.value == PLUGIN for one in entry_points(group="pytest11"))
    return [] if installed else ["-p", PLUGIN]


def _read(report: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Outcome and message by test id; of several entries for a test (subtests, teardown) the worst counts."""
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
