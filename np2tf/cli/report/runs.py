"""Runs a program by np2tf run, and reads the report of the run in the form that a page shows."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# -- runs ----------------------------------------------------------------------------------------------------
# The report of a run (`np2tf run --report json`), in the form that a page shows.


@dataclass(frozen=True)
class Part:
    """A part of the time of a run: the class of its colour, and its description."""

    kind: str
    name: str
    seconds: float
    calls: int
    unit: str


@dataclass(frozen=True)
class RanFunction:
    """A jitted function: its calls and seconds, by tier."""

    name: str
    place: str
    compiled: int
    compiled_seconds: float
    host: int
    host_seconds: float
    traces: int
    compiling: float
    inlined_functions: int = 0
    """Calls that became a part of another's compiled code."""

    @property
    def each_compiled(self) -> float | None:
        """The seconds of a call as compiled code."""
        # A first call counts with the seconds that are known to be no part of XLA's compilation.
        return self.compiled_seconds / self.compiled if self.compiled_seconds else None

    @property
    def each_host(self) -> float | None:
        """The seconds of a call on the host."""
        return self.host_seconds / self.host if self.host else None

    @property
    def ratio(self) -> float | None:
        """Return how many times faster a call is as compiled code."""
        seconds = self.each_host, self.each_compiled
        return seconds[0] / seconds[1] if seconds[0] and seconds[1] else None


@dataclass(frozen=True)
class Run:
    """One run of a program.

    Attributes:
        command: the command as the user gave it.
        functions: the jitted functions, the slowest first.
        reasons: functions that could not be compiled: name, place, code, reason, calls.
        on_host: the code that stayed on NumPy and took a part of the time: its share, place and sentence.
        spent, saved: the seconds that np2tf has spent on compiling, and saved by estimation.
    """

    command: str
    status: int
    seconds: float
    parts: list[Part] = field(default_factory=list)
    functions: list[RanFunction] = field(default_factory=list)
    reasons: list[tuple[str, str, str, str, int]] = field(default_factory=list)
    on_host: list[tuple[float, str, str]] = field(default_factory=list)
    spent: float = 0.0
    saved: float = 0.0

    @property
    def compiled_functions(self) -> list[RanFunction]:
        """The functions that ran as compiled code."""
        return [function for function in self.functions if function.compiled]

    @property
    def inlined_functions(self) -> list[RanFunction]:
        """The functions that ran only as a part of other functions' compiled code."""
        return [
            function
            for function in self.functions
            if function.inlined_functions and not function.compiled and not function.host
        ]

    @property
    def called_functions(self) -> list[RanFunction]:
        """The functions that were called by themselves."""
        return [function for function in self.functions if function.compiled or function.host]


#: The class of a part's colour, its description, the kinds of times in it, and what is counted in it.
_PARTS = (
    ("staged", "compiled code", ("compiled",), "calls"),
    ("compiling", "translating, tracing, compiling", ("translating", "tracing", "xla"), "traces"),
    ("called", "importing TensorFlow", ("importing",), ""),
    ("eager", "TensorFlow, one operation at a time", ("eager",), "operations"),
    ("host", "NumPy and Python", ("numpy",), ""),
    ("plain", "other libraries, and np2tf itself", ("elsewhere", "np2tf"), ""),
)


def run_of(command: str, status: int, report: Mapping[str, Any], folder: str) -> Run:
    """Return the run that a report describes, with paths relative to `folder`."""
    parts = []
    for kind, name, keys, unit in _PARTS:
        times = [report["where"][key] for key in keys if key in report["where"]]
        seconds, calls = (sum(time[what] for time in times) for what in ("seconds", "calls"))
        parts.append(Part(kind, name, seconds, calls, unit))
    functions = [_function(row, folder) for row in report["functions"]]
    reasons = [
        (row["name"], _place(row, folder), row["code"], row["why"], row["calls"])
        for row in report["unjitted"]
    ]
    on_host = [(row["share"], _place(row, folder), row["text"]) for row in report["on_host"]]
    gains = [account["saved"] for account in report["accounts"]]
    spent = sum(report["spent"].values()) - sum(gain for gain in gains if gain < 0)
    saved = sum(gain for gain in gains if gain > 0)
    return Run(command, status, report["seconds"], parts, functions, reasons, on_host, spent, saved)


def _function(row: Mapping[str, Any], folder: str) -> RanFunction:
    compiled_time, graph = row["compiled"], row["graph"]
    return RanFunction(
        row["name"],
        _place(row, folder),
        compiled_time["calls"] + graph["calls"],
        compiled_time["seconds"] + graph["seconds"],
        row["host"]["calls"],
        row["host"]["seconds"],
        row["compiling"]["calls"],
        row["compiling"]["seconds"],
        row["inlined"],
    )


def _place(row: Mapping[str, Any], folder: str) -> str:
    path = str(row["path"]).removeprefix(folder.rstrip("/") + "/")
    return f"{path}:{row['line']}"


def milliseconds(seconds: float | None) -> str:
    """Return a time in milliseconds, with the decimals that mean something; an empty text for None."""
    if seconds is None:
        return ""
    return f"{1000 * seconds:.{0 if seconds >= 0.1 else 1 if seconds >= 0.01 else 3}f}"


# -- running -------------------------------------------------------------------------------------------------
# Runs a program by `np2tf run`, and reads its report.

_PYTHON = re.compile(r"python(\d(\.\d+)?)?(\.exe)?")
#: pytest itself does not belong to the program.
_NOT_TRANSLATED = ("pytest", "_pytest")


class CommandError(ValueError):
    """Raised for a command that cannot be run translated."""


def run_and_read(command: str, packages: Sequence[str], folder: Path) -> Run:
    """Run a command in the current folder, and read its report, with paths relative to `folder`.

    Args:
        command: `pytest …`, `python FILE …` or `python -m MODULE …`.
        packages: the packages that tests test.

    Raises:
        CommandError: the command has another form, or has left no report.
    """
    with tempfile.TemporaryDirectory() as place:
        file = Path(place, "report.json")
        options = ["run", "--report", "json", "--report-file", str(file)]
        words = [*options, *program_of(command, packages)]
        start = "import sys; from np2tf.cli.main import main; main(sys.argv[1:])"
        # The report may go to standard output, so the program's own output goes elsewhere.
        process = subprocess.run([sys.executable, "-c", start, *words], check=False, stdout=2)
        if not file.is_file():
            raise CommandError(f"`{command}` wrote no report; it exited with status {process.returncode}")
        return run_of(
            command, process.returncode, json.loads(file.read_text(encoding="utf-8")), os.path.abspath(folder)
        )


def program_of(command: str, packages: Sequence[str]) -> list[str]:
    """Return the arguments of `np2tf run` for a command; raise CommandError if it cannot run translated."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise CommandError(f"--run: {error}") from None
    program = os.path.basename(words[0]) if words else ""
    if _PYTHON.fullmatch(program) and words[1:2] == ["-m"] and len(words) > 2:
        program, arguments = words[2], words[3:]
        return _tests(arguments, packages) if program == "pytest" else ["-m", program, *arguments]
    if _PYTHON.fullmatch(program) and len(words) > 1 and not words[1].startswith("-"):
        return words[1:]
    if program in ("pytest", "py.test"):
        return _tests(words[1:], packages)
    raise CommandError(
        '--run takes "pytest …", "python FILE …" or "python -m MODULE …", not ' + (command or "nothing")
    )


def _tests(arguments: Sequence[str], packages: Sequence[str]) -> list[str]:
    """Return the command that runs pytest in one process, for its report, with the packages translated."""
    exclusions = [word for name in _NOT_TRANSLATED for word in ("--exclude", name)]
    plugin = ["-p", "np2tf.imports.pytest_plugin"]
    package_options = (
        [] if "--np2tf" in arguments else [word for name in packages for word in ("--np2tf", name)]
    )
    alone = ["-n0"] if importlib.util.find_spec("xdist") is not None else []
    return [*exclusions, "-m", "pytest", *plugin, *package_options, *alone, *arguments]
