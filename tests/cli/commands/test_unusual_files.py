"""`convert` and `check` on unusual and broken files: a message, the documented status, nothing by half."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest

from np2tf.cli.main import np2tf as command
from tests.helpers.command_runner import CliRunner, Result

SOURCE = b"import numpy as np\nx = np.ones(2)\n"
GOOD = b"from np2tf import tnp\nx = tnp.ones(2)\n"
CELL = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": ["x = 1"]}


def np2tf(*args: object, data: bytes | None = None) -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(command, [str(arg) for arg in args], input=data)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with one good file."""
    monkeypatch.chdir(tmp_path)
    Path("good.py").write_bytes(SOURCE)
    return tmp_path


def notebook(**fields: object) -> bytes:
    """A notebook's file."""
    return json.dumps({"cells": [CELL], "metadata": {}, "nbformat": 4, **fields}).encode()


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("syntax.py", b"import numpy as np\nx = np.ones(\n", "syntax.py:2:12: NP2TF901 not valid Python: "),
        ("python2.py", b"print 'x'\n", "python2.py:1:1: NP2TF901 not valid Python: "),
        ("tabs.py", b"if 1:\n\tx = 1\n        y = 2\n", "tabs.py:3:"),
        ("latin.py", b"x = '\xe9'\n", "latin.py:1:6: NP2TF902 the file cannot be decoded: not utf-8"),
        (
            "coding.py",
            b"# coding: latin-99\nx = 1\n",
            "coding.py:1:1: NP2TF902 the file cannot be decoded: unknown",
        ),
        (
            "utf16.py",
            "x = 1\n".encode("utf-16"),
            "utf16.py:1:1: NP2TF902 the file cannot be decoded: it is UTF-16",
        ),
        ("null.py", b"x = 1\0\n", "null.py:1:6: NP2TF901 not valid Python: there is a null character"),
        ("broken.ipynb", b'{"cells": [', "broken.ipynb:1:12: NP2TF900 not a notebook that np2tf can read: "),
        ("list.ipynb", b"[]", "list.ipynb:1:1: NP2TF900 not a notebook that np2tf can read: "),
        ("old.ipynb", notebook(nbformat=3), "old.ipynb:1:1: NP2TF900 not a notebook that np2tf can read: "),
        ("none.ipynb", b"", "none.ipynb:1:1: NP2TF900 not a notebook that np2tf can read: "),
    ],
)
def test_a_broken_file_stays_and_the_others_are_converted(
    name: str, data: bytes, message: str, folder: Path
) -> None:
    Path(name).write_bytes(data)
    told = np2tf("check", "--format", "concise", ".")
    assert told.exit_code == 1
    assert told.stdout.startswith(message), told.stdout
    result = np2tf("convert", "--write", ".")
    assert result.exit_code == 1
    assert message in result.stderr, result.stderr
    assert "1 file changed, 1 failed, 0 unchanged" in result.stderr
    assert (Path("good.py").read_bytes(), Path(name).read_bytes()) == (GOOD, data)
    assert sorted(path.name for path in folder.iterdir()) == sorted(["good.py", name])


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("empty.py", b""),
        ("bom.py", b"\xef\xbb\xbf"),
        ("comment.py", b"# a"),
        ("empty.ipynb", notebook(cells=[])),
        ("blank.ipynb", notebook(cells=[{**CELL, "source": []}, {**CELL, "source": ""}])),
        (
            "magics.ipynb",
            notebook(cells=[{**CELL, "source": "%matplotlib inline\n!pip install x\n%time f(\n"}]),
        ),
        ("only_magic.ipynb", notebook(cells=[{**CELL, "source": "%%bash\nimport numpy ("}])),
    ],
)
def test_a_file_with_nothing_to_do(name: str, data: bytes, folder: Path) -> None:
    Path(name).write_bytes(data)
    for words in (("check",), ("check", "--fix"), ("convert",), ("convert", "--write")):
        result = np2tf(*words, name)
        assert (result.exit_code, result.stdout) == (0, ""), (words, result.output)
        assert "1 unchanged" in result.stderr
    assert Path(name).read_bytes() == data


def test_files_that_may_not_be_read_or_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The system is asked as an ordinary user would be answered: root may read and write every file."""
    Path("secret.py").write_bytes(SOURCE)
    Path("fixed.py").write_bytes(SOURCE)
    read, may = Path.read_bytes, os.access

    def refused(path: Path) -> bytes:
        if path.name == "secret.py":
            raise PermissionError(errno.EACCES, "Permission denied")
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", refused)
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != "fixed.py" and may(path, mode))
    result = np2tf("convert", "--write", ".")
    assert result.exit_code == 1
    assert "secret.py:1:1: NP2TF906 the file cannot be read or written: Permission denied" in result.stderr
    assert "fixed.py:1:1: NP2TF906 the file cannot be read or written: the file is read-only" in result.stderr
    assert "1 file changed, 2 failed, 0 unchanged" in result.stderr
    assert Path("fixed.py").read_bytes() == SOURCE
    assert "secret.py:1:1: NP2TF906" in np2tf("check", "--format", "concise", ".").stdout


def test_links_and_files_that_are_given_twice(folder: Path) -> None:
    """Each file is read once; a link stays a link, and a dangling one is told if it is named."""
    Path("link.py").symlink_to("good.py")
    result = np2tf("convert", "--check", "good.py", "good.py", "./good.py", "link.py", ".")
    assert result.stdout == "good.py: would change\n"
    assert np2tf("convert", "--write", "link.py").exit_code == 0
    assert (Path("link.py").is_symlink(), Path("good.py").read_bytes()) == (True, GOOD)
    Path("dangling.py").symlink_to("nowhere.py")
    assert np2tf("convert", "--check", ".").exit_code == 0
    for name in ("convert", "check"):
        named = np2tf(name, "dangling.py")
        assert named.exit_code == 2
        assert "dangling.py" in named.stderr


@pytest.mark.parametrize("name", ["convert", "check", "report"])
def test_a_path_that_does_not_exist(name: str, folder: Path) -> None:
    """Is wrong usage, and nothing else is done."""
    result = np2tf(name, "good.py", "nowhere.py")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "nowhere.py" in result.stderr
    assert "exist" in result.stderr or "no such file" in result.stderr
