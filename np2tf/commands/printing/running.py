"""Runs a program by `np2tf run`, and reads its report."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from np2tf.report.runs import Run, run_of

_PYTHON = re.compile(r"python(\d(\.\d+)?)?(\.exe)?")
#: pytest itself does not belong to the program.
_NOT_TRANSLATED = ("pytest", "_pytest")


class CommandError(ValueError):
    """Raised for a command that cannot be run translated."""


def run_and_read(command: str, packages: Sequence[str], folder: Path) -> Run:
    """Run a command in the current folder, and read its report.

    Args:
        command: `pytest …`, `python FILE …` or `python -m MODULE …`.
        packages: the packages that tests test.
        folder: the folder to which paths are relative.

    Raises:
        CommandError: the command has another form, or has left no report.
    """
    with tempfile.TemporaryDirectory() as place:
        file = Path(place, "report.json")
        options = ["run", "--report", "json", "--report-file", str(file)]
        words = [*options, *program_of(command, packages)]
        start = "import sys; from np2tf.commands import main; main(sys.argv[1:])"
        # The report may go to standard output, so the program's own output goes elsewhere.
        process = subprocess.run([sys.executable, "-c", start, *words], check=False, stdout=2)
        if not file.is_file():
            raise CommandError(f"`{command}` has left no report; it ended with status {process.returncode}")
        return run_of(
            command, process.returncode, json.loads(file.read_text(encoding="utf-8")), os.path.abspath(folder)
        )


def program_of(command: str, packages: Sequence[str]) -> list[str]:
    """Return the arguments of `np2tf run` for a command.

    Raises:
        CommandError: the command cannot be run translated.
    """
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
