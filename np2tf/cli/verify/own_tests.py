"""A repository's own tests, run by pytest on NumPy and translated, and compared test by test."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from np2tf.cli.verify.command_line import EndedProcess, run_process
from np2tf.cli.verify.comparison import own_lines
from np2tf.cli.verify.outcomes_plugin import OPTION
from np2tf.cli.verify.programs import COUNTERS, Failure, Verdict

_PLUGIN = "np2tf.imports.pytest_plugin"
_OUTCOMES = "np2tf.cli.verify.outcomes_plugin"
#: pytest's exit statuses if tests were run or collected: passed, failed, errors in collection.
_RAN = (0, 1, 2)
#: pytest's exit status for wrong usage; the translating plugin uses it if nothing was translated.
_USAGE = 4
NOT_RUN = "not run"

#: A function of the present step, the number of tests that have ended, and the number of all tests (or None).
Progress = Callable[[str, int, "int | None"], None]


@dataclass(frozen=True)
class Test:
    """One test: its outcome in pytest's words, the seconds of its call, and its error."""

    outcome: str
    seconds: float
    message: str = ""


@dataclass
class Side:
    """A run of the tests.

    Attributes:
        tests: the tests, by pytest's id.
        seconds: the seconds of the whole process.
        modules: for each package, the numbers of its imported and of its translated modules.
        counts: the calls and operations of translated code, as in a report.
    """

    tests: dict[str, Test] = field(default_factory=dict)
    seconds: float = 0.0
    modules: dict[str, tuple[int, int]] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Pair:
    """One test on both sides; None for a side that did not run it."""

    name: str
    numpy: Test | None
    translated: Test | None

    @property
    def outcomes(self) -> tuple[str, str]:
        """The outcomes on NumPy and translated."""
        return tuple(NOT_RUN if side is None else side.outcome for side in (self.numpy, self.translated))  # type: ignore[return-value]

    @property
    def equal(self) -> bool:
        """Return whether the test ends in the same way on both sides."""
        return self.outcomes[0] == self.outcomes[1]

    @property
    def ratio(self) -> float | None:
        """NumPy's seconds divided by the translation's seconds."""
        if self.numpy is None or self.translated is None or not self.translated.seconds:
            return None
        return self.numpy.seconds / self.translated.seconds


@dataclass
class OwnTestsOutcome(Verdict):
    """The results of a repository's tests; `code` and `error` are set if running or comparing them failed."""

    packages: list[str] = field(default_factory=list)
    numpy: Side = field(default_factory=Side)
    translated: Side = field(default_factory=Side)

    @property
    def pairs(self) -> list[Pair]:
        """Return all tests, in the order in which they ended on NumPy."""
        names = dict.fromkeys([*self.numpy.tests, *self.translated.tests])
        return [Pair(name, self.numpy.tests.get(name), self.translated.tests.get(name)) for name in names]

    @property
    def different(self) -> list[Pair]:
        """Return the tests whose outcomes differ."""
        return [pair for pair in self.pairs if not pair.equal]

    @property
    def equal(self) -> bool:
        """Return whether all tests ran and end in the same way on both sides."""
        return not self.code and not self.different


def verify_tests(
    arguments: Sequence[str],
    packages: Sequence[str],
    folder: Path,
    *,
    python: Sequence[str],
    timeout: float | None = None,
    environment: Mapping[str, str] | None = None,
    progress: Progress = lambda title, done_count, total: None,
) -> OwnTestsOutcome:
    """Run pytest with `arguments` in a folder, on NumPy and with the packages translated.

    `python` has the words of the command before pytest's arguments; `environment` is for the translated side.
    """
    outcome = OwnTestsOutcome(" ".join(["pytest", *arguments]), packages=list(packages))
    plugins = ["-p", _OUTCOMES]
    options = [*_plugin(), *(f"--np2tf={name}" for name in packages)]
    try:
        with tempfile.TemporaryDirectory(prefix="np2tf-verify-") as scratch:
            run = partial(_run, Path(scratch), folder, timeout, progress)
            outcome.numpy = run("NumPy", [*python, *plugins], arguments)
            outcome.translated = run("translated", [*python, *plugins, *options], arguments, environment)
        untranslated = not any(count for _, count in outcome.translated.modules.values())
        if untranslated:
            total = sum(number for number, _ in outcome.translated.modules.values())
            raise Failure(
                "NP2TF927",
                reason=f"nothing of {', '.join(packages)} was translated ({total} modules were imported); "
                "name the packages with --package",
            )
    except Failure as failure:
        outcome.code, outcome.error = failure.code, str(failure)
    return outcome


def _plugin() -> list[str]:
    """Return the options by which pytest finds the plugin; none if np2tf is installed."""
    installed = any(entry_point.module == _PLUGIN for entry_point in entry_points(group="pytest11"))
    return [] if installed else ["-p", _PLUGIN]


def _run(
    scratch: Path,
    folder: Path,
    timeout: float | None,
    progress: Progress,
    title: str,
    words: Sequence[str],
    arguments: Sequence[str],
    environment: Mapping[str, str] | None = None,
) -> Side:
    file, cache = scratch / f"{title}.jsonl", scratch / f"{title}-cache"
    file.touch()
    # Each run has a cache of its own, so that no run sees the last failures of another run.
    own_words = [f"{OPTION}={file}", "-o", f"cache_dir={cache}"]
    progress(title, 0, None)
    look = partial(_look, file, title, progress)
    process = run_process([*words, *own_words, *arguments], folder, timeout, environment, look)
    side = _read(file.read_text(encoding="utf-8").splitlines())
    side.seconds = process.seconds
    _check(process, side, title, timeout)
    return side


def _look(file: Path, title: str, progress: Progress) -> None:
    entries = [json.loads(line) for line in file.read_text(encoding="utf-8").split("\n")[:-1]]
    total = next((entry["total"] for entry in entries if "total" in entry), None)
    progress(title, sum("test" in entry for entry in entries), total)


def _read(lines: Iterable[str]) -> Side:
    side = Side()
    for line in lines:
        entry: dict[str, Any] = json.loads(line)
        if "test" in entry:
            side.tests[entry["test"]] = Test(entry["outcome"], entry["seconds"], entry["message"])
        for process in entry.get("translated", ()):
            for package, modules in process["modules"].items():
                number, translation_count = side.modules.get(package, (0, 0))
                side.modules[package] = (
                    max(number, len(modules)),
                    max(translation_count, sum(modules.values())),
                )
            for counter in COUNTERS:
                side.counts[counter] = side.counts.get(counter, 0) + process.get(counter, 0)
    return side


def _check(process: EndedProcess, side: Side, title: str, timeout: float | None) -> None:
    """Check that pytest has run all tests; if not, raise Failure with its last output."""
    wrong = [(name, test) for name, test in side.tests.items() if test.outcome == "error"]
    if title == "NumPy" and wrong and len(wrong) == len(side.tests):
        name, test = wrong[0]
        raise Failure("NP2TF927", reason=f"no test runs on NumPy; {name}: {test.message}")
    if process.status in _RAN and side.tests:
        return
    if process.status == _USAGE and title != "NumPy" and side.tests and side.modules:
        return  # no module of one of several packages was translated
    if process.status is None:
        reason = f"it took more than {timeout:g} s"
    elif process.status in (0, 5):
        reason = "there are no tests"
    else:
        lines = [line for line in own_lines(process.output) if line.strip()]
        error_line = next((line for line in lines if line.startswith(("ERROR", "E  "))), None)
        reason = f"exit status {process.status}: {error_line or (lines or ['it printed nothing'])[-1]}"
    raise Failure("NP2TF927", reason=f"{'on NumPy' if title == 'NumPy' else title}: {reason}")
