"""Verify one program: convert it, run the original and the translation, compare and time both."""

from __future__ import annotations

import contextlib
import io
import tokenize
import traceback
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from types import ModuleType
from typing import Any

from np2tf.diagnostics import codes
from np2tf.verify.compare import RTOL, Difference, first_difference
from np2tf.verify.freeze import freeze
from np2tf.verify.modules import module_from_text

COUNTERS = ("compiled", "graph", "eager", "host")


@dataclass
class Run:
    """The results, times and counts of several calls of one module's `main()`."""

    results: list[Any] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    fallbacks: list[str] = field(default_factory=list)


@dataclass
class Outcome:
    """The outcome of verifying one program. A program is equal if there is no error and no difference."""

    program: str
    code: str = ""
    error: str = ""
    difference: Difference | None = None
    numpy_seconds: float | None = None
    first_seconds: float | None = None
    warm_seconds: float | None = None
    counts: dict[str, int] = field(default_factory=dict)
    fallbacks: list[str] = field(default_factory=list)

    @property
    def equal(self) -> bool:
        return not self.code

    @property
    def ratio(self) -> float | None:
        """Return NumPy's seconds divided by TensorFlow's warm seconds: above 1 the translation is faster."""
        return self.numpy_seconds / self.warm_seconds if self.numpy_seconds and self.warm_seconds else None


class Failure(Exception):
    """A program cannot be verified.

    Args:
        code: a code of rules/diagnostics.toml.
        **words: the words that its message takes.
    """

    def __init__(self, code: str, **words: str) -> None:
        super().__init__(codes()[code].message.format_map(words))
        self.code = code


def find_programs(paths: Iterable[Path], part_of_name: str = "") -> list[Path]:
    """Return the Python files among `paths`, and in the folders among them, whose stem contains
    `part_of_name`.
    """
    files: list[Path] = []
    for path in paths:
        files += sorted(path.glob("*.py")) if path.is_dir() else [path]
    return [path for path in files if part_of_name in path.stem]


def verify_program(
    path: Path, *, rtol: float = RTOL, repeat: int = 3, translate: Callable[[str, Path], str] | None = None
) -> Outcome:
    """Verify one program.

    Args:
        path: the Python file.
        rtol: the relative tolerance of 64-bit floats.
        repeat: how often each version of main() is called.
        translate: replaces `np2tf.convert` in tests.
    """
    outcome = Outcome(path.name)
    try:
        text = _read(path)
        new_text = (translate or translate_text)(text, path)
        original = _run(text, path, f"_np2tf_original_{path.stem}", str(path), repeat, "NP2TF921")
        outcome.numpy_seconds = min(original.seconds)
        label = f"<translation of {path.name}>"
        translation = _run(new_text, path, f"_np2tf_translated_{path.stem}", label, repeat, "NP2TF922")
        outcome.first_seconds, outcome.warm_seconds = translation.seconds[0], min(translation.seconds[1:])
        outcome.counts, outcome.fallbacks = translation.counts, translation.fallbacks
        for reference, actual in zip(original.results, translation.results):
            outcome.difference = outcome.difference or first_difference(reference, actual, rtol)
        if outcome.difference is not None:
            raise Failure("NP2TF923", reason=str(outcome.difference))
    except Failure as failure:
        outcome.code, outcome.error = failure.code, str(failure)
    return outcome


def translate_text(text: str, path: Path) -> str:
    """Return the translation of a program.

    Raises:
        Failure: the translator fails on the program, or reports an error.
    """
    from np2tf import convert

    try:
        result = convert(text, path=str(path))
    except Exception as error:
        raise Failure("NP2TF905", reason=_explain(error, "")) from error
    errors = [finding for finding in result.diagnostics if finding.severity == "error"]
    if errors:
        raise Failure(errors[0].code, **dict(errors[0].args))
    return result.text


def _read(path: Path) -> str:
    try:
        with tokenize.open(path) as file:
            return file.read()
    except OSError as error:
        raise Failure("NP2TF906", reason=str(error)) from error
    except (SyntaxError, UnicodeDecodeError) as error:
        raise Failure("NP2TF902", reason=str(error)) from error


def _run(text: str, path: Path, name: str, label: str, repeat: int, code: str) -> Run:
    """Call the module's `main()` and time every call; keep the first and the last result.

    Raises:
        Failure: with `code`, if the module raises an exception.
    """
    from np2tf.config import config

    run = Run()
    try:
        with (
            contextlib.redirect_stdout(io.StringIO()),
            warnings.catch_warnings(),
            config.using(tier="compile"),
        ):
            warnings.simplefilter("ignore")
            with module_from_text(text, path, name, label) as module:
                _call(module, path, run, max(2, repeat))
    except Failure:
        raise
    except (Exception, SystemExit) as error:
        raise Failure(code, reason=_explain(error, label)) from error
    return run


def _call(module: ModuleType, path: Path, run: Run, repeat: int) -> None:
    import np2tf.runtime.report.counters as stats

    main = getattr(module, "main", None)
    if not callable(main):
        raise Failure("NP2TF924", name=path.name)
    for call in range(repeat):
        with stats.collect() as counts:
            start = perf_counter()
            result = freeze(main())
            run.seconds.append(perf_counter() - start)
        if call in (0, repeat - 1):
            run.results.append(result)
        run.counts = {counter: getattr(counts, counter) for counter in COUNTERS}
        run.fallbacks += [reason for reason in map(str, counts.fallbacks) if reason not in run.fallbacks]


def _explain(error: BaseException, label: str) -> str:
    """Return the exception's class and message, and the program's own line that raised it, without a
    traceback.
    """
    message = f"{type(error).__name__}: {error}".strip().splitlines()[0]
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == label]
    return f"{message} (line {frames[-1].lineno}: {frames[-1].line})" if frames else message
