"""Runs a source and its translation, each in a process of its own with a time limit, and compares them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import np2tf
from np2tf.cli.output import quantity
from np2tf.cli.verify.comparison import RTOL, first_difference, own_lines, text_difference

if TYPE_CHECKING:
    import numpy as np

#: The most characters of a program's output that are kept.
_SHOWN = 20_000


@dataclass(frozen=True)
class ProgramRun:
    """One program that has run.

    Attributes:
        output, errors: what it printed, without logs of TensorFlow.
        status: its exit status; None if it did not end by itself.
        why_ended: why it did not end by itself; "" if it did.
        values: the arrays and numbers that its module held at the end.
    """

    output: str
    errors: str
    status: int | None
    seconds: float
    why_ended: str = ""
    values: dict[str, np.ndarray] = field(default_factory=dict)


@dataclass(frozen=True)
class Comparison:
    """A source and its translation beside each other.

    Attributes:
        verdict: "equal", "different", "failed", or "nothing" if there is nothing to compare.
        message: what was compared, and the first difference.
    """

    source: ProgramRun
    translation: ProgramRun
    verdict: str
    message: str


class Runner:
    """Runs programs, one pair at a time.

    Args:
        limit: the number of seconds that each program may take.
    """

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._is_stopped = False

    def run_both(self, source: str, translation: str) -> Comparison | None:
        """Run a source and its translation, and compare them; None if two others are running."""
        if not self._lock.acquire(blocking=False):
            return None
        try:
            self._is_stopped = False
            before, after = (self._run(text) for text in (source, translation))
        finally:
            self._lock.release()
        return Comparison(before, after, *compare(before, after))

    def stop(self) -> None:
        """End the program that is running, and start no other for this pair."""
        self._is_stopped = True
        process = self._process
        if process is not None:
            _end(process)

    def _run(self, text: str) -> ProgramRun:
        """Run a program in an empty folder."""
        if self._is_stopped:
            return ProgramRun("", "", None, 0.0, "was stopped")
        with tempfile.TemporaryDirectory(prefix="np2tf-play-", ignore_cleanup_errors=True) as name:
            folder = Path(name)
            program, values = folder / "program.py", folder / "values.npz"
            program.write_text(text, encoding="utf-8", newline="")
            start = perf_counter()
            with (folder / "output").open("wb") as output, (folder / "errors").open("wb") as errors:
                command = [sys.executable, "-m", "np2tf.cli.play.child", str(program), str(values)]
                self._process = subprocess.Popen(
                    command,
                    cwd=folder,
                    env=_environment(),
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=errors,
                    start_new_session=True,
                )
                status, why_ended = self._wait(self._process)
                self._process = None
            seconds = perf_counter() - start
            printed, told = (_own_text(folder / name, folder) for name in ("output", "errors"))
            arrays = _arrays(values) if status == 0 else {}
            return ProgramRun(printed, told, status, seconds, why_ended, arrays)

    def _wait(self, process: subprocess.Popen[bytes]) -> tuple[int | None, str]:
        """Return the exit status of a program, and why it did not end by itself."""
        try:
            status = process.wait(self.limit)
        except subprocess.TimeoutExpired:
            _end(process)
            process.wait()
            return None, f"took longer than {self.limit:g} seconds, and was ended"
        return (None, "was stopped") if self._is_stopped else (status, "")


def compare(source: ProgramRun, translation: ProgramRun) -> tuple[str, str]:
    """Return the verdict on two runs, and what was compared or differs."""
    for run, name in ((source, "the source"), (translation, "the translation")):
        if run.status is None:
            return "failed", f"{name} {run.why_ended}"
        if run.status:
            return "failed", f"{name} ended with exit status {run.status}"
    lines = source.output.splitlines()
    difference = text_difference(lines, translation.output.splitlines(), RTOL)
    if difference is not None:
        return "different", difference
    for name, value in source.values.items():
        if name not in translation.values:
            return "different", f"`{name}` is a number or an array on NumPy only"
        wrong = first_difference(value, translation.values[name], RTOL)
        if wrong is not None:
            return "different", f"`{name}`: {wrong}"
    names = list(source.values)
    if not lines and not names:
        return "nothing", "nothing compared: the program prints nothing, and its module holds no numbers"
    parts = [quantity(len(lines), "printed line")] * bool(lines)
    if names:
        listed = ", ".join(names[:4]) + ", …" * (len(names) > 4)
        parts.append(f"{quantity(len(names), 'value')} of the module ({listed})")
    return "equal", f"equal: {' and '.join(parts)}"


def _environment() -> dict[str, str]:
    """Return the environment of a program: this np2tf, no windows, no logs of TensorFlow."""
    place = str(Path(np2tf.__file__).parents[1])
    path = os.pathsep.join([place, *filter(None, [os.environ.get("PYTHONPATH")])])
    return {
        **os.environ,
        "PYTHONPATH": path,
        "PYTHONIOENCODING": "utf-8",
        "PYTHONUNBUFFERED": "1",
        "MPLBACKEND": "Agg",
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }


def _own_text(file: Path, folder: Path) -> str:
    """Return what a program printed, up to a limit, without the folder in its paths."""
    with file.open(encoding="utf-8", errors="replace") as stream:
        text = stream.read(_SHOWN + 1)
    cut = "\n…" if len(text) > _SHOWN else ""
    lines = own_lines(text[:_SHOWN].replace(f"{folder}{os.sep}", ""))
    return "\n".join(lines) + cut


def _arrays(file: Path) -> dict[str, np.ndarray]:
    import numpy as np

    if not file.is_file():
        return {}
    with np.load(file) as arrays:
        return {name.removeprefix("of "): arrays[name] for name in arrays.files}


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a program with the processes that it has started."""
    if os.name == "nt":
        process.kill()
        return
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:  # it has just ended
        return
