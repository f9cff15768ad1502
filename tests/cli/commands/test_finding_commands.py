"""Finding a command: suggestions for names that do not exist, completion, and `python -m np2tf`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from np2tf.cli.main import COMMANDS, np2tf
from tools.man_pages import main as write_man_pages


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["chek", "x.py"], "no such command: chek; did you mean check or cache?"),
        (["script.py"], "no such command: script.py; to run a program: np2tf run script.py"),
        (["xyz"], "no such command: xyz"),
        (["explain", "sum"], "no such code: sum; did you mean np.sum"),
        (["explain", "linalg.nrm"], "did you mean np.linalg.norm"),
        (["explain", "np.smu"], "no such name: np.smu; did you mean np.sum"),
        (["explain", "NP2TF40"], "no such code: NP2TF40; did you mean NP2TF"),
        (["explain", "qqqqqq"], "no such code: qqqqqq; names look like np.sum"),
    ],
)
def test_what_was_meant_is_told(words: list[str], said: str) -> None:
    done = CliRunner().invoke(np2tf, words)
    assert done.exit_code == 2
    assert said in done.output


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell: str) -> None:
    """The script asks np2tf for what can follow, and np2tf answers with its commands."""
    script = CliRunner().invoke(np2tf, ["completion", shell]).output
    assert "_NP2TF_COMPLETE" in script
    environment = {"_NP2TF_COMPLETE": f"{shell}_complete", "COMP_WORDS": "np2tf ", "COMP_CWORD": "1"}
    if shell == "fish":
        environment["COMP_CWORD"] = ""
    done = CliRunner().invoke(np2tf, [], prog_name="np2tf", env=environment)
    assert all(name in done.output for name in COMMANDS)


def test_python_runs_the_package_as_a_command() -> None:
    """`python -m np2tf` is the command `np2tf`, with its name in the usage."""
    done = subprocess.run(
        [sys.executable, "-m", "np2tf", "--help"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("Usage: np2tf [OPTIONS] COMMAND")


def test_manual_pages(tmp_path: Path) -> None:
    """Every command has a page with its options."""
    write_man_pages(tmp_path)
    assert {f"np2tf-{name}.1" for name in COMMANDS} < {path.name for path in tmp_path.iterdir()}
    assert "\\-\\-report" in (tmp_path / "np2tf-run.1").read_text()
