"""Verify one project: run it on NumPy and translated, each in its own processes, compare and time both."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

from np2tf.verify.hot import Hot, check_hot, hot_functions, places_of
from np2tf.verify.program import COUNTERS, Failure
from np2tf.verify.project import Project, ProjectError
from np2tf.verify.transcript import files_difference, own_lines, text_difference

RTOL = 1e-9
"""The relative tolerance of 64-bit floats. Nothing else may differ."""
LIMIT = 900
"""The seconds that one process may take."""
_ROOT = Path(__file__).resolve().parents[2]
_COMMAND = "from np2tf.commands import main; main()"


@dataclass
class ProjectOutcome:
    """The outcome of verifying one project. A project is equal if there is no error and no difference.

    Attributes:
        numpy_seconds: the seconds of the process of `python -m`, from start to end.
        run_seconds: the seconds of the process of `np2tf run -m`, from start to end.
        numpy_main: the seconds of the fastest of several calls of main() in one process, on NumPy.
        warm_main: the seconds of the fastest translated call of main() in one process, without the first
            call.
        counts: how many calls ran where, in the last main() of a translated process.
        hot: where each hot function of the project ran.
    """

    project: str
    code: str = ""
    error: str = ""
    numpy_seconds: float | None = None
    run_seconds: float | None = None
    numpy_main: float | None = None
    warm_main: float | None = None
    counts: dict[str, int] = field(default_factory=dict)
    hot: list[Hot] = field(default_factory=list)

    @property
    def equal(self) -> bool:
        """Return whether nothing failed and nothing differs."""
        return not self.code

    @property
    def run_ratio(self) -> float | None:
        """Return NumPy's seconds divided by the seconds of the translated process."""
        return _ratio(self.numpy_seconds, self.run_seconds)

    @property
    def warm_ratio(self) -> float | None:
        """Return NumPy's seconds divided by the seconds of a later main()."""
        return _ratio(self.numpy_main, self.warm_main)


def _ratio(numpy: float | None, translated_seconds: float | None) -> float | None:
    return numpy / translated_seconds if numpy and translated_seconds else None


def verify_project(
    project: Project, *, rtol: float = RTOL, repeat: int = 3, size: int | None = None, tier: str | None = None
) -> ProjectOutcome:
    """Verify one project, at the given `--size` or at its own.

    Each version runs once as a program, where text and files are compared in the order in which they come,
    and `repeat` times in one process, where they are compared call by call.

    Args:
        project: the project.
        rtol: the relative tolerance of 64-bit floats.
        repeat: how often main() is called in one process.
        size: the `--size` of every run; None is the project's default.
        tier: the value of `np2tf.config.tier` for the translated version; None leaves the default.
    """
    outcome = ProjectOutcome(project.name)
    with tempfile.TemporaryDirectory(prefix="np2tf-verify-") as scratch:
        sides = Path(scratch, "numpy"), Path(scratch, "translated")
        try:
            check_hot(project)
            _programs(project, outcome, sides, rtol, size, tier)
            _calls(project, outcome, sides, rtol, repeat, size, tier)
        except Failure as failure:
            outcome.code, outcome.error = failure.code, str(failure)
        except ProjectError as error:
            outcome.code, outcome.error = "NP2TF926", str(error)
    return outcome


def _programs(
    project: Project,
    outcome: ProjectOutcome,
    sides: tuple[Path, Path],
    rtol: float,
    size: int | None,
    tier: str | None,
) -> None:
    """Run both versions as programs, and compare their output and files."""
    arguments = ["-m", project.package, *project.arguments(size)]
    folders = [side / "run" for side in sides]
    for folder in folders:
        folder.mkdir(parents=True)
    numpy, outcome.numpy_seconds = _time(["-u", *arguments], project, folders[0], "NP2TF921", tier)
    run = ["-u", "-c", _COMMAND, "run", *arguments]
    translation, outcome.run_seconds = _time(run, project, folders[1], "NP2TF922", tier)
    _raise(text_difference(own_lines(numpy), own_lines(translation), rtol))
    _raise(files_difference(folders[0], folders[1], rtol))


def _time(
    arguments: list[str], project: Project, folder: Path, code: str, tier: str | None
) -> tuple[str, float]:
    start = perf_counter()
    text = _process(arguments, project, folder, code, tier=tier)
    return text, perf_counter() - start


def _calls(
    project: Project,
    outcome: ProjectOutcome,
    sides: tuple[Path, Path],
    rtol: float,
    repeat: int,
    size: int | None,
    tier: str | None,
) -> None:
    """Call main() of both versions several times, and compare call by call."""
    numpy, translation = (
        _repeat(project, side, repeat, size, code, tier)
        for side, code in zip(sides, ("NP2TF921", "NP2TF922"))
    )
    outcome.numpy_main, outcome.warm_main = min(numpy["seconds"]), min(translation["seconds"][1:])
    outcome.counts = {counter: translation["counts"][counter] for counter in COUNTERS}
    outcome.hot = hot_functions(project, numpy, translation)
    for number in range(repeat):
        text = [side["output"][number].splitlines() for side in (numpy, translation)]
        difference = text_difference(text[0], text[1], rtol)
        difference = difference or files_difference(
            sides[0] / f"call{number}", sides[1] / f"call{number}", rtol
        )
        _raise(difference and f"call {number + 1} of main(): {difference}")


def _repeat(
    project: Project, side: Path, repeat: int, size: int | None, code: str, tier: str | None
) -> dict[str, Any]:
    folders, profile_folder = [side / f"call{number}" for number in range(repeat)], side / "profiled"
    for folder in (*folders, profile_folder):
        folder.mkdir()
    outcome_file = side / "outcome.json"
    request = {
        "path": str(project.folder),
        "package": project.package,
        "main": project.main,
        "hot": places_of(project),
        "arguments": project.arguments(size),
        "folders": [str(folder) for folder in folders],
        "profiled": str(profile_folder),
        "translated": code == "NP2TF922",
        "outcome": str(outcome_file),
    }
    _process(["-m", "np2tf.verify.calls"], project, side, code, json.dumps(request), tier)
    data: dict[str, Any] = json.loads(outcome_file.read_text(encoding="utf-8"))
    return data


def _raise(difference: str | None) -> None:
    if difference:
        raise Failure("NP2TF923", reason=difference)


def _process(
    arguments: list[str],
    project: Project,
    folder: Path,
    code: str,
    input_text: str = "",
    tier: str | None = None,
) -> str:
    """Run a Python process, and return the text that it prints to both streams, in order.

    Raises:
        Failure: with `code`, if the exit status is not 0 or the process takes too long.
    """
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NP2TF_TIER")}
    if tier is not None:
        environment["NP2TF_TIER"] = tier
    # This np2tf comes last on the path, so that the project's own folder is searched first.
    environment |= {
        "PYTHONPATH": os.pathsep.join([str(project.folder), str(_ROOT)]),
        "PYTHONDONTWRITEBYTECODE": "1",
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }
    try:
        process = subprocess.run(
            [sys.executable, *arguments],
            cwd=folder,
            env=environment,
            input=input_text,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            timeout=LIMIT,
        )
    except subprocess.TimeoutExpired as error:
        raise Failure(code, reason=f"it takes more than {LIMIT} s") from error
    if process.returncode:
        lines = own_lines(process.stdout) or ["it prints nothing"]
        raise Failure(code, reason=f"exit status {process.returncode}: {lines[-1]}")
    return process.stdout
