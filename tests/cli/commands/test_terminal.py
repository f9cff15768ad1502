"""Every command in a terminal of 80 and of 120 columns: nothing is cut, and nothing is wider."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
from pathlib import Path
from textwrap import dedent

import pytest

if os.name == "nt":
    pytest.skip("there are no pseudo-terminals", allow_module_level=True)
import fcntl
import pty
import struct
import termios

import pyte

from np2tf.cli.main import COMMANDS
from tests.helpers.warm_python import warm_python

ROOT = Path(__file__).resolve().parents[3]
#: Lines of these are as long as what they quote: findings, patches, and listings for programs.
QUOTED = re.compile(
    r"\S+:\d+(?::\d+)?: (?:error|warning|note)?.*|[-+ @|].*|\S+\.py: would change|.*/.* files?.*|# .*/.*"
)
#: The end of a cell that has been cut; a metavar such as `PATH…` is none.
CUT = re.compile(r"[a-z0-9.]…")
#: A pattern that matches lines of TensorFlow's log, and no line of np2tf's output.
LOGGED = re.compile(r"[IWEF]\d{4} \d\d:|\.cc:\d+\]|oneDNN|cuInit|InitializeLog|rebuild TensorFlow")
PROGRAM = """
    import numpy as np

    def smooth(x):
        for _ in range(20):
            x[1:-1] = (x[2:] + x[:-2]) / 2
        return x

    def twice(x):
        return np.add(x, x)

    def main():
        return {"smoothed": smooth(np.linspace(0, 1, 50)), "a long name": np.arange(3)}

    if __name__ == "__main__":
        print(main()["smoothed"].sum())
    """


#: np2tf as cli.py runs it, but its work is quick on the slowest machine: bars of what takes two seconds would
#: depend on the machine. (test_convert_terminal.py has them.)
BARELESS = "from np2tf.cli import output; from np2tf.cli.main import main; output._AFTER = 600.0; main()"


class Terminal:
    """The output that a command leaves on a terminal.

    Attributes:
        lines: as they were written; the emulator is so large that it wraps none.
        text: all that came, with its control sequences.
    """

    def __init__(self, text: str, status: int) -> None:
        # As large as the text needs: the emulator goes through every cell of its screen.
        longest = max(map(len, text.splitlines()), default=0)
        screen = pyte.Screen(longest + 1, text.count("\n") + 1)
        pyte.Stream(screen).feed(text)
        self.lines = [line.rstrip() for line in screen.display]
        self.text = text
        self.status = status


def on_terminal(columns: int, folder: Path, *words: str, **environment: str) -> Terminal:
    """Run np2tf on a terminal of so many columns."""
    controller, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 500, columns, 0, 0))
    unset = (
        "NO_COLOR",
        "FORCE_COLOR",
        "PAGER",
        "LESS",
        "LINES",
        "COLUMNS",
        "TF_CPP_MIN_LOG_LEVEL",
        "PYTHONWARNINGS",
    )
    kept = {name: value for name, value in os.environ.items() if name not in unset}
    settings = {**kept, "PYTHONPATH": str(ROOT), "TERM": "xterm", "NP2TF_CACHE_DIR": str(folder / "kept")}
    process = subprocess.Popen(
        [warm_python(), *([str(ROOT / "cli.py")] if words[0] == "verify" else ["-c", BARELESS]), *words],
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        env={**settings, **environment},
        cwd=folder,
    )
    os.close(terminal)
    shown = b""
    with contextlib.suppress(OSError):  # which says that nobody is at the other end any more
        while data := os.read(controller, 65536):
            shown += data
    os.close(controller)
    return Terminal(shown.decode(), process.wait(60))


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program, a package with findings, and its tests."""
    folder = tmp_path_factory.mktemp("repository")
    files = {
        "a_program_with_a_name_that_is_rather_long.py": PROGRAM,
        "pk/__init__.py": "",
        "pk/work.py": """
            import numpy as np

            module = np

            def work(x):
                print(input())
                return np.wrong(np.sum(x))
            """,
        "tests/test_a_work.py": f"""
            import pytest
            import numpy as np
            from pk import work

            @pytest.mark.parametrize("text", ["{"long " * 30}", "[b]short[/b]"])
            def test_of_work(text):
                assert work.module is np
                assert np.arange(3).sum() == 4
            """,
        "pyproject.toml": """
            [tool.np2tf]
            exclude = ["some/folder/with/a/long/name", "another/one/with/a/long/name", "third/one"]
            """,
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(dedent(text))
    return folder


PROGRAM_NAME = "a_program_with_a_name_that_is_rather_long.py"
#: Most of them quick, without TensorFlow.
QUICK = {
    "help": ["--help"],
    **{f"{name} help": [name, "--help"] for name in COMMANDS},
    "convert": ["convert", "."],
    "convert names": ["convert", "--check", "."],
    "check": ["check", "."],
    "check summary": ["check", "--summary", "-v", "."],
    "check statistics": ["check", "--statistics", "."],
    "check concise": ["check", "--format", "concise", "pk"],
    "check docs": ["check", "--docs", "-q", "."],
    "convert to a folder": ["convert", "--out", "translated", "--copy-other", "."],
    "convert nothing": ["convert", "--write", "pk/__init__.py"],
    "config": ["config", "pk/work.py"],
    "init": ["init", "--ci", "github", "--from", "https://example.org/np2tf.git@v1", "."],
    "init again": ["init", "."],
    "init as a patch": [
        "init",
        "--dry-run",
        "--ci",
        "github",
        "--from",
        "https://example.org/np2tf.git@v1",
        ".",
    ],
    "report": ["report", "."],
    "report as a page": ["report", "--html", "report.html", "."],
    "report without files": ["report", "tests/none"],
    "export of nothing": ["export", "--out", "model", f"{PROGRAM_NAME}:no_such_function"],
    "export without arguments": ["export", "--out", "model", f"{PROGRAM_NAME}:smooth"],
    "explain": ["explain"],
    "explain code": ["explain", "NP2TF401", "NP2TF521"],
    "explain name": ["explain", "np.unique", "np.linalg.svd", "np.ndarray.sort"],
    "coverage": ["coverage"],
    "coverage of a module": ["coverage", "np.linalg"],
    "coverage of names": ["coverage", "set"],
    "cache": ["cache", "info"],
    "run report": ["run", "--report", PROGRAM_NAME],
    "no such file": ["run", "no_such_file"],
    "wrong usage": ["verify", "--no-such-option"],
}
#: With TensorFlow.
SLOW = {
    "export": ["export", "--overwrite", "--out", "model", "--input", "x: f64[?]", f"{PROGRAM_NAME}:twice"],
    "report of a run": ["report", "--run", f"python {PROGRAM_NAME}", "--html", "report.html", "."],
    "verify with arguments": ["verify", PROGRAM_NAME, "--", "3"],
    "run": ["run", "--tier", "compile", "--report", PROGRAM_NAME],
    "verify": ["verify", PROGRAM_NAME],
    "verify tests": ["verify", ".", "--", "python", "-m", "pytest", "tests"],
}


#: The commands that import TensorFlow, which takes many times as long as their output. They run on the narrow
#: terminal, with `-m long` on the wide terminal, too.
DEAR = [*SLOW, "run report", "export of nothing", "export without arguments"]


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        pytest.param(name, columns, marks=pytest.mark.long if name in DEAR and columns > 80 else ())
        for name in [*QUICK, *SLOW]
        for columns in (80, 120)
    ],
)
def test_every_command(repository: Path, name: str, columns: int) -> None:
    """No line is wider than the terminal, no cell is cut, and TensorFlow's log is not there."""
    words = {**QUICK, **SLOW}[name]
    shown = on_terminal(columns, repository, *words)
    lines = [line for line in shown.lines if line]
    assert lines
    assert [line for line in lines if len(line) > columns and not QUOTED.fullmatch(line)] == []
    assert [line for line in lines if CUT.search(line)] == []
    assert [line for line in lines if LOGGED.search(line)] == []
    assert "Traceback" not in shown.text
    assert ("━" in shown.text) == (words[0] == "verify" and name in SLOW)  # a bar, which is gone at the end
    assert not any("━" in line for line in lines)
    assert "Please report this" not in shown.text


def test_every_command_is_tried() -> None:
    tried = {words[0] for words in (*QUICK.values(), *SLOW.values())}
    assert set(COMMANDS) <= tried


@pytest.mark.parametrize(
    "name",
    ["convert", "check", "check summary", "coverage of names", "explain code", "init as a patch", "report"],
)
def test_no_color(repository: Path, name: str) -> None:
    """No colour where nobody wants it; bold type and the like are no colours."""
    shown = on_terminal(80, repository, *QUICK[name], NO_COLOR="1")
    assert not re.search(r"\x1b\[[0-9;]*(?:3[0-7]|4[0-7]|9[0-7])m", shown.text)


@pytest.mark.parametrize(
    "name", ["check summary", "verify help", "coverage of names", "config", "init again"]
)
def test_plain_text_in_a_pipe(repository: Path, name: str) -> None:
    """Without control sequences, rules of tables, or blanks at the ends of lines."""
    words = [warm_python(), str(ROOT / "cli.py"), *QUICK[name]]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "NP2TF_CACHE_DIR": str(repository / "kept")}
    done = subprocess.run(words, cwd=repository, env=environment, capture_output=True, text=True, timeout=60)
    assert done.stdout
    assert not re.search(r"\x1b|[─━│┃]| \n", done.stdout)
