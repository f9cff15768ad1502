"""TensorFlow's start-up log is kept from the terminal, and nothing else is."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import types
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from np2tf.loading.findings import TranslationWarning, warn_in_one_line

ROOT = Path(__file__).resolve().parents[2]
#: The lines that TensorFlow writes while it is imported, and while it looks for devices.
AT_IMPORT = """\
WARNING: All log messages before absl::InitializeLog() is called are written to STDERR
I0000 00:00:1795577910.761207    5933 port.cc:153] oneDNN custom operations are on. You may see a `=0`.
I0000 00:00:1795577910.800912    5933 cpu_feature_guard.cc:227] This TensorFlow binary is optimized.
To enable the following instructions: AVX2 FMA, rebuild TensorFlow with the appropriate compiler flags.
2025-01-01 10:00:00.000001: I tensorflow/core/util/port.cc:153] oneDNN
"""
OF_DEVICES = (
    "E0000 00:00:1795577912.465305    5933 cuda_platform.cc:52] failed call to cuInit: INTERNAL: 303\n"
)
TENSORFLOW = """
import contextlib, os, subprocess, sys
with contextlib.suppress(OSError):
    os.write(2, {at_import!r}.encode())
{more}
"""
DEVICES = """
import os
def list_physical_devices():
    os.write(2, {of_devices!r}.encode())
"""
QUIET = """
import os, sys
from np2tf.loading.programs.startup_log import keep_quiet
keep_quiet()
exec("import tensorflow", {"__name__": "np2tf.tnp.somewhere"})
os.write(2, b"behind\\n")
"""


def stderr_of(folder: Path, program: str, more: str = "", **options: object) -> tuple[str, int]:
    """Return the stderr and exit status of a program.

    The program's TensorFlow writes its log, does `more`, and lists devices.
    """
    package = folder / "tensorflow"
    package.mkdir()
    (package / "__init__.py").write_text(TENSORFLOW.format(at_import=AT_IMPORT, more=more))
    (package / "python" / "framework").mkdir(parents=True)
    (package / "python" / "framework" / "config.py").write_text(DEVICES.format(of_devices=OF_DEVICES))
    environment = {**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{ROOT}", "TMPDIR": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
        timeout=60,
        **options,
    )
    assert not list(folder.glob("np2tf-log-*"))
    return done.stderr, done.returncode


def test_nothing_of_it_is_shown(tmp_path: Path) -> None:
    assert stderr_of(tmp_path, QUIET) == ("behind\n", 0)


def test_what_others_write_comes_afterwards(tmp_path: Path) -> None:
    """Also where TensorFlow's text begins in the middle of a line, and what a process writes later."""
    more = """
os.write(2, "ü 10%".encode())
os.write(2, b"I0000 00:00:1795577910.761207 5933 port.cc:153] oneDNN\\n")
print(" 20%", file=sys.stderr)
os.write(2, b"I0424 12:34:56.789012 139 program.py:12] logged by a Python program\\nF0000 fatal\\n")
sleeping = "import sys, time; time.sleep(0.5); print('late', file=sys.stderr)"
sys.started = subprocess.Popen([sys.executable, "-c", sleeping])
"""
    expected = "ü 10% 20%\nI0424 12:34:56.789012 139 program.py:12] logged by a Python program\nF0000 fatal\n"
    shown = stderr_of(tmp_path, QUIET + "sys.started.wait()\n", more)
    assert shown == (expected + "behind\nlate\n", 0)


def test_all_of_it_is_shown_where_the_import_fails(tmp_path: Path) -> None:
    shown, status = stderr_of(tmp_path, QUIET, "raise ImportError('no such library')")
    assert status == 1
    assert shown.startswith(AT_IMPORT + "Traceback")
    assert shown.endswith("ImportError: no such library\n")


@pytest.mark.skipif(os.name != "posix", reason="the guard is a process of a POSIX shell")
@pytest.mark.parametrize("end", ["os.abort()", "os.kill(os.getpid(), 9)"])
def test_all_of_it_is_shown_where_the_import_ends_the_process(tmp_path: Path, end: str) -> None:
    """TensorFlow aborts on processors that lack what it was compiled for."""
    shown, status = stderr_of(tmp_path, QUIET, end)
    assert status < 0
    assert shown == AT_IMPORT


def test_ctrl_c_is_no_failure(tmp_path: Path) -> None:
    shown, _ = stderr_of(tmp_path, QUIET, "raise KeyboardInterrupt")
    assert shown.startswith("Traceback")


def test_the_programs_own_import_is_left_alone(tmp_path: Path) -> None:
    program = QUIET.replace("np2tf.tnp.somewhere", "np2tfx")
    assert stderr_of(tmp_path, program) == (AT_IMPORT + "behind\n", 0)


def test_without_a_stderr(tmp_path: Path) -> None:
    shown = stderr_of(tmp_path, "import os; os.close(2)\n" + QUIET.replace('os.write(2, b"behind\\n")', ""))
    assert shown == ("", 0)


def test_the_level_that_somebody_has_set_remains(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF_CPP_MIN_LOG_LEVEL", "0")
    program = QUIET + "os.write(2, os.environ['TF_CPP_MIN_LOG_LEVEL'].encode())\n"
    assert stderr_of(tmp_path, program) == ("behind\n0", 0)


def test_warnings_take_one_line_and_come_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of np2tf's own; the place is told once, and the source line is not shown."""
    file = tmp_path / "a b.py"
    file.write_text("x = np.wrong\n")
    monkeypatch.setattr(warnings, "formatwarning", warnings.formatwarning)
    warn_in_one_line()
    text = f"{file}:1:5: NP2TF002 NumPy has no\nsuch name"
    told = [warnings.formatwarning(text, TranslationWarning, str(file), 1) for _ in range(2)]
    assert told == [f"{file}:1: TranslationWarning: NP2TF002 NumPy has no such name\n", ""]
    told = [warnings.formatwarning("other", UserWarning, str(file), 1) for _ in range(2)]
    assert told == [f"{file}:1: UserWarning: other\n  x = np.wrong\n"] * 2


def test_the_first_compilation_is_held_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before 2.21 TensorFlow logs its first compilation: the contexts enclose it, and nothing later."""
    import np2tf
    from np2tf.arrays.front import tensorflow_loading

    entered: list[str] = []

    @contextlib.contextmanager
    def held() -> Iterator[None]:
        entered.append("begin")
        yield
        entered.append("end")

    monkeypatch.setattr(tensorflow_loading, "first_compilation_contexts", waiting := [held])
    monkeypatch.setattr("np2tf.staging.compile.compiler.first_compilation_contexts", waiting)

    @np2tf.jit(tier="compile")
    def double(x):
        return x * 2

    assert double(np.ones(3))[0] == 2
    assert (entered, waiting) == (["begin", "end"], [])
    assert double(np.ones(4))[0] == 2
    assert entered == ["begin", "end"]


@pytest.mark.parametrize(
    ("version", "count"), [("2.19.1", 1), ("2.20.0-rc0", 1), ("2.21.0", 0), ("3.0.0", 0)]
)
def test_versions_that_log_their_first_compilation(
    version: str, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first compilation is held for TensorFlow before 2.21."""
    from np2tf.loading.programs import startup_log

    waiting: list[object] = []
    monkeypatch.setattr(startup_log, "first_compilation_contexts", waiting)
    module = types.SimpleNamespace(
        __version__=version, config=types.SimpleNamespace(list_physical_devices=list)
    )
    with startup_log._hold_import(module):
        pass
    assert len(waiting) == count
