"""Verifies one program: runs the original and the translation from memory, compares and times both."""

from __future__ import annotations

import contextlib
import importlib.abc
import importlib.machinery
import importlib.util
import io
import linecache
import os
import signal
import sys
import tempfile
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
from np2tf.cli.verify.effects import Effects, WrittenFiles, figures
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

#: Why nothing was compared.
_NOTHING = "main() returns nothing, and the program prints nothing and leaves no array, figure or file"
#: Quicker calls of main() are not compared by their times.
LEAST_SECONDS = 1e-3
COUNTERS = ("compiled", "graph", "eager", "host")


@dataclass
class Run:
    """The results, times and counts of several calls of one module's `main()`."""

    results: list[Any] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    fallbacks: list[str] = field(default_factory=list)
    effects: Effects = field(default_factory=lambda: Effects(Path()))

    def difference(self, actual: Run, rtol: float) -> Difference | str | None:
        """Return the first difference between this run, NumPy's, and another one."""
        for reference, other in zip(self.results, actual.results):
            if difference := first_difference(reference, other, rtol):
                return difference
        return self.effects.difference(actual.effects, rtol)

    def told(self) -> list[str]:
        """Return what there is to compare, in words."""
        # None and 0 are what a program without results returns, as its exit status.
        has_result = any(
            not (result is None or (type(result) is int and result == 0)) for result in self.results
        )
        return [*(["the result"] if has_result else []), *self.effects.told()]


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
    """The outcome of verifying one program.

    Attributes:
        difference: the first one.
        compared: what was compared, in words.
    """

    difference: Difference | str | None = None
    compared: list[str] = field(default_factory=list)
    numpy_seconds: float | None = None
    first_seconds: float | None = None
    warm_seconds: float | None = None
    counts: dict[str, int] = field(default_factory=dict)
    fallbacks: list[str] = field(default_factory=list)

    @property
    def ratio(self) -> float | None:
        """Return NumPy's seconds divided by TensorFlow's warm seconds: above 1 the translation is faster."""
        return self.numpy_seconds / self.warm_seconds if self.numpy_seconds and self.warm_seconds else None

    @property
    def is_measurable(self) -> bool:
        """Return whether the program takes long enough that the ratio means anything."""
        return min(self.numpy_seconds or 0.0, self.warm_seconds or 0.0) >= LEAST_SECONDS


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
    path: Path,
    *,
    rtol: float = RTOL,
    repeat: int = 3,
    timeout: float | None = None,
    translate: Callable[[str, Path], str] | None = None,
    progress: Callable[[str], None] = lambda phase: None,
) -> Outcome:
    """Verify one program.

    Args:
        rtol: the relative tolerance of 64-bit floats.
        repeat: how often each version of main() is called.
        timeout: the seconds after which a version has failed.
        translate: replaces `np2tf.convert` in tests.
        progress: is told the phase that begins.
    """
    outcome = Outcome(path.name)
    os.environ.setdefault("MPLBACKEND", "agg")  # a window would wait for the user
    with tempfile.TemporaryDirectory(prefix="np2tf-verify-") as scratch:
        sides = _Sides(path, Path(scratch), max(2, repeat), timeout)
        try:
            text = _read(path)
            progress("translating")
            new_text = (translate or translate_text)(text, path)
            progress("NumPy")
            original = sides.run(text, "original")
            outcome.numpy_seconds = min(original.seconds)
            progress("translated")
            translation = sides.run(new_text, "translated")
            outcome.first_seconds, outcome.warm_seconds = translation.seconds[0], min(translation.seconds[1:])
            outcome.counts, outcome.fallbacks = translation.counts, translation.fallbacks
            outcome.compared = original.told()
            difference = original.difference(translation, rtol)
            if difference is None and not outcome.compared:
                raise Failure("NP2TF929", reason=_NOTHING)
            if difference is not None:
                progress("NumPy again")
                if own := original.difference(sides.run(text, "original"), rtol):
                    outcome.compared, own = [], str(own).replace(" translated", " the next time")
                    raise Failure("NP2TF929", reason=f"two runs on NumPy differ: {own}")
                outcome.difference = difference
                raise Failure("NP2TF923", reason=str(difference))
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


@dataclass(frozen=True)
class _Sides:
    """Runs the versions of a program.

    Attributes:
        scratch: a folder for copies of the files that they write.
    """

    path: Path
    scratch: Path
    repeat: int
    timeout: float | None

    def run(self, text: str, side: str) -> Run:
        """Call the `main()` of a version and time every call; keep the first and the last result, and what
        there is to see after the first call.

        Raises:
            Failure: the module raises an exception, or takes too long.
        """
        from np2tf.core.settings import config

        is_original = side == "original"
        label = str(self.path) if is_original else f"<translation of {self.path.name}>"
        run, printed = Run(effects=Effects(self.scratch / side)), io.StringIO()
        try:
            with (
                contextlib.redirect_stdout(printed),
                warnings.catch_warnings(),
                config.using(tier="compile"),
                time_limit(self.timeout),
            ):
                warnings.simplefilter("ignore")
                written = WrittenFiles(Path())
                with module_from_text(text, self.path, f"_np2tf_{side}_{self.path.stem}", label) as module:
                    for call in range(self.repeat):
                        _call(module, self.path, run, call in (0, self.repeat - 1))
                        if call == 0:
                            run.effects.note(module, printed.getvalue(), written)
        except Failure:
            raise
        except (Exception, SystemExit) as error:
            reason = _explain(error, label)
            raise Failure("NP2TF921" if is_original else "NP2TF922", reason=reason) from error
        finally:
            figures()
        return run


@contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """Raise TimeoutError in the block after some seconds, where the system has alarms."""
    if seconds is None or not hasattr(signal, "setitimer"):
        yield
        return

    def stop(_: int, frame: object) -> None:
        raise TimeoutError(f"it took more than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _call(module: ModuleType, path: Path, run: Run, keeps_result: bool) -> None:
    import np2tf.core.counts as stats

    main = getattr(module, "main", None)
    if not callable(main):
        raise Failure("NP2TF924", name=path.name)
    with stats.collect() as counts:
        start = perf_counter()
        result = freeze(main())
        run.seconds.append(perf_counter() - start)
    if keeps_result:
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
