"""`np2tf convert` on a terminal: colours, pages, a progress bar."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

if os.name == "nt":
    pytest.skip("there are no pseudo-terminals", allow_module_level=True)
import fcntl
import pty
import struct
import termios

ROOT = Path(__file__).resolve().parents[3]
SOURCE = "import numpy as np\n\nx = np.ones(2)\n"


def on_terminal(*args: object, lines: int = 24, **environment: str) -> tuple[str, int]:
    """Return the text that a command shows on a terminal of so many lines, and its status."""
    controller, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", lines, 80, 0, 0))
    words = [sys.executable, str(ROOT / "cli.py"), *map(str, args)]
    unset = ("NO_COLOR", "PAGER", "LESS", "LINES", "COLUMNS")
    kept = {name: value for name, value in os.environ.items() if name not in unset}
    settings = {**kept, "PYTHONPATH": str(ROOT), "TERM": "xterm", **environment}
    process = subprocess.Popen(words, stdin=terminal, stdout=terminal, stderr=terminal, env=settings)
    os.close(terminal)
    shown = b""
    with contextlib.suppress(OSError):  # which says that nobody is at the other end any more
        while data := os.read(controller, 65536):
            shown += data
    os.close(controller)
    return shown.decode().replace("\r\n", "\n"), process.wait(60)


def plain(text: str) -> str:
    """Text without colours."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def test_patches_are_coloured(tmp_path: Path) -> None:
    """As git colours them; the text is the patch that goes to a pipe."""
    (tmp_path / "a.py").write_text(SOURCE, encoding="utf-8")
    shown, status = on_terminal("convert", tmp_path / "a.py", "-q")
    assert status == 1
    assert "\x1b[32m+x = tnp.ones(2)\x1b[0m\n" in shown
    assert "\x1b[31m-x = np.ones(2)\x1b[0m\n" in shown
    piped = subprocess.run(
        [sys.executable, str(ROOT / "cli.py"), "convert", str(tmp_path / "a.py"), "-q"],
        capture_output=True,
        text=True,
        timeout=60,
    ).stdout
    assert plain(shown) == piped
    assert "\x1b" not in piped


def test_no_color(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(SOURCE)
    shown, _ = on_terminal("convert", tmp_path / "a.py", NO_COLOR="1")
    assert "+x = tnp.ones(2)\n" in shown
    assert "\x1b" not in shown


def test_another_encoding_is_readable(tmp_path: Path) -> None:
    """On a terminal a patch is text; in a pipe it has the file's own bytes."""
    (tmp_path / "a.py").write_bytes(b"# coding: latin-1\nimport numpy as np\nx = np.ones(2)  # \xe9\n")
    shown, _ = on_terminal("convert", tmp_path / "a.py", "-q")
    assert "+x = tnp.ones(2)  # é\n" in plain(shown)


def test_long_patches_go_through_the_pager(tmp_path: Path) -> None:
    """The patches of several files go through the pager together; a short patch does not, and no patch does
    where there is no terminal.
    """
    for number in range(4):
        (tmp_path / f"{number}.py").write_text(SOURCE)
    pager = str(tmp_path / "pager")
    told = "import sys\nprint('PAGED', len(sys.stdin.read().splitlines()))\n"
    (tmp_path / "pager").write_text(f"#!{sys.executable}\n{told}")
    (tmp_path / "pager").chmod(0o755)
    shown, status = on_terminal("convert", tmp_path, "-q", PAGER=pager)
    assert status == 1
    assert re.fullmatch(r"PAGED 3[23]\n", shown)
    shown, _ = on_terminal("convert", tmp_path, "-q", PAGER=pager, lines=60)
    assert "PAGED" not in shown
    shown, _ = on_terminal("convert", tmp_path, "-q", "--check", PAGER=pager)
    assert "PAGED" not in shown


SLOW = """
import sys, time
from np2tf.cli import output
from np2tf.cli.main import main
from np2tf.translator.batch import batch, project
output._AFTER = {after}
def slowed(real):
    def slow(*args):
        time.sleep(0.1)
        return real(*args)
    return slow
batch.run_tasks = slowed(batch.run_tasks)
project.outcomes_of = slowed(project.outcomes_of)
main(sys.argv[1:])
"""


@pytest.mark.parametrize(("after", "is_shown"), [(0.2, True), (60, False)])
@pytest.mark.parametrize(
    ("command", "title"), [(("convert", "--check"), b"Translating"), (("check",), b"Checking")]
)
def test_a_bar_for_what_takes_long(
    tmp_path: Path, command: tuple[str, ...], title: bytes, after: float, is_shown: bool
) -> None:
    """On a terminal only, and gone at the end; in quick work there is none."""
    for number in range(8):
        (tmp_path / f"{number}.py").write_text(SOURCE)
    script = tmp_path / "script"
    script.write_text(SLOW.format(after=after))
    controller, terminal = pty.openpty()
    words = [sys.executable, str(script), *command, str(tmp_path), "-j1"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm", "COLUMNS": "80"}
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=terminal, env=environment)
    os.close(terminal)
    shown = b""
    with contextlib.suppress(OSError):
        while data := os.read(controller, 65536):
            shown += data
    os.close(controller)
    assert process.stdout is not None
    assert len(process.stdout.read().splitlines()) == 8
    process.stdout.close()
    assert process.wait(60) == (command[0] == "convert")
    assert (title in shown) == is_shown
    assert b"8 files would change" in shown
    piped = subprocess.run(words, capture_output=True, env=environment, timeout=60)
    assert title not in piped.stderr


def test_output_beside_the_bar_has_lines_of_its_own(tmp_path: Path) -> None:
    """The bar is gone before a line is printed on its terminal, and comes back after the next task."""
    for number in range(8):
        (tmp_path / f"{number}.py").write_text(SOURCE)
    script = tmp_path / "script"
    script.write_text(SLOW.format(after=0.2))
    controller, terminal = pty.openpty()
    words = [sys.executable, str(script), "convert", "--check", str(tmp_path), "-j1"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm", "COLUMNS": "80"}
    process = subprocess.Popen(words, stdout=terminal, stderr=terminal, env=environment)
    os.close(terminal)
    shown = b""
    with contextlib.suppress(OSError):
        while data := os.read(controller, 65536):
            shown += data
    os.close(controller)
    assert process.wait(60) == 1
    rows = re.split(r"[\r\n]+", re.sub(r"\x1b\[[?0-9;]*[a-zA-Z]", "", shown.decode()))
    assert sum("Translating" in row for row in rows) > 1
    assert [row for row in rows if "Translating" in row and "would change" in row] == []
    assert sum("would change" in row for row in rows) == 9
