"""Verifies one program: runs the original and the translation from memory, compares and times both."""

from __future__ import annotations

import contextlib
import importlib.abc
import importlib.machinery
import importlib.util
import io
import linecache
import sys
import tokenize
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from types import CodeType, ModuleType
from typing import Any

from np2tf.cli.verify.comparison import RTOL, Difference, first_difference, freeze
from np2tf.core.diagnostics import codes

# -- modules -------------------------------------------------------------------------------------------------
# Makes module objects from text in memory: one for the original, and one for the translation.


class TextLoader(importlib.abc.InspectLoader):
    """A loader of one module from text. Tracebacks show `label` in the place of the file's name."""

    def __init__(self, text: str, label: str) -> None:
        self.text = text
        self.label = label

    def get_source(self, fullname: str) -> str:
        return self.text

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.text, self.label)

    def is_package(self, fullname: str) -> bool:
        return False


@contextmanager
def module_from_text(text: str, path: Path, name: str, label: str) -> Iterator[ModuleType]:
    """Execute `text` as a module under the private `name`, with `path` as its `__file__`.

    Inside the `with` block the module is in `sys.modules`, where pickle and dataclasses look for it, and its
    folder is the first of `sys.path`. Both are restored afterwards. Tracebacks show the text's lines under
    the label.

    Raises:
        ImportError: no module can be made of the text.
    """
    loader = TextLoader(text, label)
    spec = importlib.util.spec_from_loader(name, loader)
    if spec is None:
        raise ImportError(f"{path} cannot be loaded as a module")
    module = importlib.util.module_from_spec(spec)
    module.__file__ = str(path)
    linecache.cache[label] = (len(text), None, text.splitlines(keepends=True), label)
    search_path, argv = list(sys.path), list(sys.argv)
    sys.modules[name] = module
    sys.path.insert(0, str(path.parent))
    sys.argv = [str(path)]
    try:
        loader.exec_module(module)
        yield module
    finally:
        sys.modules.pop(name, None)
        sys.path[:] = search_path
        sys.argv = argv


# -- program -------------------------------------------------------------------------------------------------
# Verify one program: convert it, run the original and the translation, compare and time both.

COUNTERS = ("compiled", "graph", "eager", "host")


@dataclass
class Run:
    """The results, times and counts of several calls of one module's `main()`."""

    results: list[Any] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    fallbacks: list[str] = field(default_factory=list)


@dataclass
class Verdict:
    """Whether something does translated what it does on NumPy.

    Attributes:
        name: the program, the project or the command.
        code, error: the code of what failed or differs, and its message; empty if all is equal.
    """

    name: str
    code: str = ""
    error: str = ""

    @property
    def equal(self) -> bool:
        """Return whether nothing failed and nothing differs."""
        return not self.code

    @property
    def message(self) -> str:
        """Return the code and the message, or "equal"."""
        return f"{self.code} {self.error}" if self.code else "equal"

    def as_data(self) -> dict[str, Any]:
        """Return the entries of the JSON that all verdicts have."""
        return {"equal": self.equal, "code": self.code or None, "message": self.message}


@dataclass
class Outcome(Verdict):
    """The outcome of verifying one program."""

    difference: Difference | None = None
    numpy_seconds: float | None = None
    first_seconds: float | None = None
    warm_seconds: float | None = None
    counts: dict[str, int] = field(default_factory=dict)
    fallbacks: list[str] = field(default_factory=list)

    @property
    def ratio(self) -> float | None:
        """Return NumPy's seconds divided by TensorFlow's warm seconds: above 1 the translation is faster."""
        return self.numpy_seconds / self.warm_seconds if self.numpy_seconds and self.warm_seconds else None


class Failure(Exception):
    """A program cannot be verified: a code of rules/diagnostics.toml, and the words of its message."""

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
    """Return the translation of a program; raise Failure if the translator fails or reports an error."""
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
    from np2tf.core.settings import config

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
    import np2tf.core.counts as stats

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
