"""Runs a command in its own process, and returns its output, exit status and time."""

from __future__ import annotations

import os
import subprocess
import sysconfig
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

#: The folder of this package, which processes must find, too.
_ROOT = str(Path(__file__).resolve().parents[2])
#: Seconds between two looks at a process.
_PAUSE = 0.1


@dataclass(frozen=True)
class EndedProcess:
    """A process that has ended.

    Attributes:
        status: the exit status; None for a process that took too long.
        output: the output to both streams, in order.
    """

    status: int | None
    output: str
    seconds: float


def run_process(
    words: Sequence[str],
    folder: Path,
    timeout: float | None = None,
    more: Mapping[str, str] | None = None,
    look: Callable[[], None] = lambda: None,
) -> EndedProcess:
    """Run a command in a folder, and call `look` again and again until it has ended."""
    start = perf_counter()
    with tempfile.TemporaryFile() as stream:
        with subprocess.Popen(
            words,
            cwd=folder,
            env=_environment(more or {}),
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
        ) as process:
            try:
                status = _wait(process, None if timeout is None else start + timeout, look)
            except BaseException:
                process.kill()
                raise
        seconds = perf_counter() - start
        stream.seek(0)
        return EndedProcess(status, stream.read().decode("utf-8", "replace").replace("\r\n", "\n"), seconds)


def _wait(process: subprocess.Popen[bytes], end: float | None, look: Callable[[], None]) -> int | None:
    while True:
        try:
            return process.wait(_PAUSE)
        except subprocess.TimeoutExpired:
            if end is not None and perf_counter() > end:
                process.kill()
                return None
        finally:
            look()


def _environment(more: Mapping[str, str]) -> dict[str, str]:
    search_path = os.environ.get("PYTHONPATH")
    path = [search_path] if search_path else []
    if _ROOT not in (sysconfig.get_path("purelib"), sysconfig.get_path("platlib")):
        path.append(_ROOT)  # a checkout comes last, so that the program finds its own modules first
    return {
        **os.environ,
        **({"PYTHONPATH": os.pathsep.join(path)} if path else {}),
        "PYTHONDONTWRITEBYTECODE": "1",
        "TF_CPP_MIN_LOG_LEVEL": "3",
        **more,
    }
