"""Every diagnostic code has an example, and the example's command reports the code."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from np2tf.cli.commands.explain import SECTIONS, Example, examples, markdown
from np2tf.cli.main import np2tf as command
from np2tf.core.diagnostics import codes
from tests.helpers.command_runner import CliRunner
from tests.helpers.doc_pages import DOCS, ROOT
from tests.helpers.warm_python import warm_python

#: A program that runs programs in one process, so that TensorFlow is imported only once.
_RUNNER = """
import contextlib, os, runpy, sys, traceback, warnings

import np2tf
import tensorflow
import numpy

numpys = dict(vars(numpy))
for folder in sys.argv[1:]:
    os.chdir(folder)
    with open("told", "w") as told, contextlib.redirect_stdout(told), contextlib.redirect_stderr(told):
        with np2tf.config.using(), warnings.catch_warnings():
            warnings.simplefilter("always")
            try:
                runpy.run_path(os.path.join(folder, "example.py"), run_name="__main__")
            except Exception:
                traceback.print_exc()
    vars(numpy).update(numpys)
"""
#: The codes whose examples are programs.
PROGRAMS = sorted(code for code, one in examples().items() if one.command == "python example.py")
COMMANDS = sorted(code for code, one in examples().items() if not one.test and code not in PROGRAMS)


def test_every_code_has_an_example() -> None:
    """An entry for each code, and a section of the page for each entry."""
    assert set(examples()) == set(codes())
    tested = {code: one.test for code, one in examples().items() if one.test}
    # Faults of np2tf itself: their tests break it on purpose.
    assert set(tested) == {"NP2TF905", "NP2TF908"}
    for code, path in tested.items():
        assert code in (ROOT / path).read_text(encoding="utf-8")


def laid_out(example: Example, folder: Path) -> None:
    """Write the files of an example."""
    for name, text in example.file_texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def environment(folder: Path, absent_package: str) -> dict[str, str]:
    """Variables of an environment in which np2tf is installed, and `absent_package` is not."""
    programs = folder.parent / f"{folder.name}_bin"
    programs.mkdir()
    hide = f"sys.modules['{absent_package}'] = None\n" if absent_package else ""
    text = f"#!{warm_python()}\nimport sys\n\n{hide}from np2tf.cli.main import main\n\nsys.exit(main())\n"
    (programs / "np2tf").write_text(text)
    (programs / "np2tf").chmod(0o755)
    path = os.pathsep.join(
        [str(programs), str(Path(warm_python()).parent), str(Path(sys.executable).parent), os.environ["PATH"]]
    )
    unwanted = ("PYTHONWARNINGS", "NP2TF_JIT", "NP2TF_TIER")
    kept = {name: value for name, value in os.environ.items() if name not in unwanted}
    return kept | {"PATH": path, "PYTHONPATH": str(ROOT)}


@pytest.mark.parametrize("code", COMMANDS)
def test_commands(code: str, tmp_path: Path) -> None:
    """The last command of an example reports its code."""
    example = examples()[code]
    folder = tmp_path.parent / f"commands_{COMMANDS.index(code)}"
    folder.mkdir()
    laid_out(example, folder)
    done = subprocess.run(
        ["bash", "-c", example.command],
        cwd=folder,
        env=environment(folder, example.absent_package),
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert code in done.stdout + done.stderr, done.stdout + done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_programs(tmp_path: Path) -> None:
    """Each program reports its code: as a warning, in an explanation, or as an exception."""
    # The names of the folders, which tracebacks tell, do not have the codes.
    folders = [tmp_path / str(number) for number in range(len(PROGRAMS))]
    for code, folder in zip(PROGRAMS, folders, strict=True):
        folder.mkdir()
        laid_out(examples()[code], folder)
    subprocess.run(
        [warm_python(), "-c", _RUNNER, *map(str, folders)],
        env=environment(tmp_path / "of", ""),
        check=True,
        capture_output=True,
        timeout=600,
    )
    told = {
        code: (folder / "told").read_text(encoding="utf-8")
        for code, folder in zip(PROGRAMS, folders, strict=True)
    }
    assert [f"{code}:\n{text[-1500:]}" for code, text in told.items() if code not in text] == []
    assert len(PROGRAMS) >= 50


def test_the_page_has_every_example() -> None:
    """docs/diagnostics.md has what `np2tf explain --markdown` prints."""
    done = CliRunner().invoke(command, ["explain", "--markdown"])
    assert done.output == markdown() + "\n"
    page = (DOCS / "diagnostics.md").read_text(encoding="utf-8")
    assert page.endswith(markdown())
    assert page.count("\n### NP2TF") == len(codes())
    for title in SECTIONS.values():
        assert f"\n## {title}\n" in page


def test_explain_shows_the_example() -> None:
    """`np2tf explain CODE` and `np2tf check --explain CODE` show the example, whose lines stay whole."""
    for arguments in (["explain", "402"], ["check", "--explain", "NP2TF402"]):
        told = CliRunner().invoke(command, arguments).stdout
        assert "example.py:\n    import numpy as np\n\n    from log import note\n" in told
        assert "log.py:\n    def note(x):\n" in told
        assert told.rstrip().endswith("Run:\n    np2tf check .")
    assert "Example" not in CliRunner().invoke(command, ["explain", "NP2TF905"]).stdout
    assert "Without matplotlib, run:\n" in CliRunner().invoke(command, ["explain", "NP2TF928"]).stdout
