"""`np2tf convert` writes every byte, in one step, and to the right place."""

from __future__ import annotations

import os
import random
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from np2tf.cli.files import write
from np2tf.cli.main import np2tf as command
from tests.helpers.command_runner import CliRunner, Result

SOURCE = "import numpy as np\n\nx = np.ones(2)\n"
TARGET = "from np2tf import tnp\n\nx = tnp.ones(2)\n"
ROOT = Path(__file__).resolve().parents[3]


def np2tf(*args: object, text: str | bytes | None = None) -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(command, [str(arg) for arg in args], input=text)


def make(folder: Path, files: dict[str, str | bytes]) -> Path:
    """A tree of files."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


HEAD, NEW = b"import numpy as np\n", b"from np2tf import tnp\n"
#: Bytes before and after what is translated: `NP` stands for the import, `np` for the name.
SPELLINGS = {
    "bom": b"\xef\xbb\xbfNP\nx = np.ones(2)  # \xc3\xa9\n",
    "latin-1": b"# -*- coding: latin-1 -*-\nNP\nx = np.ones(2)  # \xe9\ny = '\xff'\n",
    "cp1252": b"#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\nNP\nx = np.ones(2); s = '\x80'\n",
    "shift_jis": b"# coding: shift_jis\nNP\nx = np.ones(2)  # \x83\x5c\n",
    "crlf": b"NP\r\n\r\nx = np.ones(2)\r\ny = '''a\r\nb'''\r\n",
    "mixed ends": b"NP\r\nx = np.ones(2)\ny = 1\r\n",
    "tabs": b"NP\nif True:\n\tx = np.ones(2)\t# tab \t\n\tif x:\n\t\ty = 1\n",
    "form feed": b"NP\n\x0c\nx = np.ones(2)\n\x0c\ndef f():\n    return 1\n",
    "form feed before statements": b"\x0cNP\n\x0cx = np.ones(2)\n\x0cif x:\n  a = 1\n \x0c  b = 2\n",
    "carriage returns": b"NP\r\rx = np.ones(2)\rif x:\r\ty = 1  # a\ry = '''a\rb'''\r",
    "blanks at the end": b"NP\nx = np.ones(2)\n\n    ",
    "type comments": b"NP\nx = np.ones(2)  # type: np.ndarray\ny = 1  # type:ignore[x]\n",
    "no newline": b"NP\nx = np.ones(2)",
    "trailing blanks": b"NP\nx = np.ones( 2 )   \n\n\n\n",
    "continuation": b"NP\nx = 1 + \\\n    np.ones(2)\n",
    "control characters": b"NP\nx = np.ones(2)  # \x01\x7f \xe2\x80\xa8 \xc2\x85\ny = '\xe2\x80\xa8'\n",
}


@pytest.mark.parametrize("name", SPELLINGS)
@pytest.mark.parametrize("mode", ["--write", "--out", "-", "--diff"])
def test_every_other_byte_stays(tmp_path: Path, name: str, mode: str) -> None:
    """Only the names of NumPy change: encodings, BOM, line ends, tabs, form feeds and comments stay."""
    before = SPELLINGS[name].replace(b"NP", b"import numpy as np").replace(b"type: np.", b"type: xp.")
    after = SPELLINGS[name].replace(b"NP", b"from np2tf import tnp").replace(b"type: np.", b"type: xp.")
    after = after.replace(b"np.ones", b"tnp.ones")
    file = make(tmp_path, {"in/a.py": before}) / "in/a.py"
    if mode == "--write":
        assert np2tf("convert", mode, file).exit_code == 0
        assert file.read_bytes() == after
    elif mode == "--out":
        assert np2tf("convert", file, mode, tmp_path / "out").exit_code == 0
        assert (tmp_path / "out/a.py").read_bytes() == after
    elif mode == "-":
        result = np2tf("convert", "-", text=before)
        assert (result.exit_code, result.stdout_bytes) == (0, after)
    else:
        patch = np2tf("convert", file, "-q").stdout_bytes
        done = subprocess.run(
            ["patch", "--binary", "-p0", "-d", "/"], input=patch, capture_output=True, timeout=20
        )
        assert done.returncode == 0, done.stdout
        assert file.read_bytes() == after
    if mode != "--out":
        assert np2tf("convert", "--check", file).exit_code == (1 if mode == "-" else 0)


def test_statuses(tmp_path: Path) -> None:
    """0 written or nothing to do, 1 would change or cannot be translated, 2 wrong usage."""
    make(tmp_path, {"a.py": SOURCE, "plain.py": "x = 1\n", "bad.py": "import numpy\nx = (\n"})
    file, plain, bad = (tmp_path / name for name in ("a.py", "plain.py", "bad.py"))
    for mode in ("--diff", "--check"):
        assert [np2tf("convert", mode, path).exit_code for path in (file, plain, bad)] == [1, 0, 1]
    assert np2tf("convert", file, "--out", tmp_path / "out").exit_code == 0
    assert file.read_text() == SOURCE
    assert np2tf("convert", "--write", file, plain).exit_code == 0
    assert np2tf("convert", "--write", file, plain).exit_code == 0
    assert np2tf("convert", "--write", bad).exit_code == 1
    assert [np2tf("convert", "-", text=text).exit_code for text in (SOURCE, "x = 1\n", "x = (\n")] == [
        0,
        0,
        1,
    ]
    assert np2tf("convert", "-", "--check", text=SOURCE).exit_code == 1


def test_a_finding_alone_is_no_change(tmp_path: Path) -> None:
    """`convert` is done where nothing would change; `check` is there for findings."""
    make(tmp_path, {"a.py": "import numpy as np\n\nx = np.no_such_name\n"})
    first = np2tf("convert", "--write", tmp_path)
    again = np2tf("convert", "--check", tmp_path)
    assert first.exit_code == again.exit_code == 0
    assert "NP2TF" in again.stderr


def test_check_names_files_and_writes_nothing(tmp_path: Path) -> None:
    make(tmp_path, {"a.py": SOURCE, "b.py": "x = 1\n"})
    before = contents(tmp_path)
    result = np2tf("convert", "--check", tmp_path)
    assert result.stdout == f"{tmp_path / 'a.py'}: would change\n"
    assert "1 file would change, 1 unchanged" in result.stderr
    assert contents(tmp_path) == before
    with_both_options = np2tf("convert", "--check", "--diff", tmp_path)
    assert (with_both_options.exit_code, with_both_options.stdout.startswith("--- ")) == (1, True)


@pytest.mark.parametrize(
    "args",
    [
        ("--write", "--check", "."),
        ("--write", "--diff", "."),
        ("--check", "--out", "x", "."),
        ("--copy-other", "."),
        ("--stdin-filename", "a.py", "."),
        ("-", "."),
        ("-", "--out", "x"),
        ("--jobs", "0", "."),
        ("--select", "NP3", "."),
        ("--line-length", "3", "."),
    ],
)
def test_wrong_usage(args: tuple[str, ...]) -> None:
    result = np2tf("convert", *args, text="")
    assert (result.exit_code, "Error: " in result.output) == (2, True)


def test_select_and_ignore(tmp_path: Path) -> None:
    """They say which findings are shown; a file that cannot be read is named in any case."""
    make(tmp_path, {"a.py": "import numpy as np\nx = np.no_such_name\n", "bad.py": "import numpy\nx = (\n"})
    shown = np2tf("convert", tmp_path).stderr
    code = next(word for word in shown.split() if word.startswith("NP2TF") and word != "NP2TF901")
    for options in (("--ignore", code), ("--select", "NP2TF5")):
        result = np2tf("convert", tmp_path, *options).stderr
        assert code not in result
        assert "NP2TF901" in result
    assert code in np2tf("convert", tmp_path, "--select", f"NP2TF5,{code[:-2]}").stderr
    make(tmp_path, {"np2tf.toml": f"per-file-ignores = {{'a.py' = ['{code}']}}\n"})
    assert code not in np2tf("convert", tmp_path).stderr


def test_standard_input_is_taken_for_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The named file decides on configuration, patterns and findings; the file need not exist."""
    loop = "import numpy as np\n\n\ndef f(x):\n    while np.sum(x) > 1:\n        x = x / 2 + np.sin(x)\n"
    make(tmp_path, {"p/np2tf.toml": "jit = false\nextend-exclude = ['old/']\n"})
    monkeypatch.chdir(tmp_path)
    assert "@np2tf.jit" in np2tf("convert", "-", text=loop).stdout
    assert "@np2tf.jit" not in np2tf("convert", "-", "--stdin-filename", "p/a.py", text=loop).stdout
    assert "@np2tf.jit" in np2tf("convert", "-", "--jit", "--stdin-filename", "p/a.py", text=loop).stdout
    diff = np2tf("convert", "-", "--diff", "--stdin-filename", "p/a.py", text=loop)
    assert diff.stdout.startswith("--- p/a.py\n+++ p/a.py\n")
    broken = np2tf("convert", "-", "--stdin-filename", "p/a.py", text="import numpy\nx = (\n")
    assert "p/a.py:2:5: NP2TF901" in broken.stderr
    excluded = np2tf("convert", "-", "--force-exclude", "--stdin-filename", "p/old/a.py", text=loop)
    assert (excluded.exit_code, excluded.stdout) == (0, loop)


# -- other folders ------------------------------------------------------------------------------------------


def test_out_with_all_that_is_not_python(tmp_path: Path) -> None:
    """--copy-other makes a whole tree: data, what cannot be translated, permissions and empty files."""
    root = make(tmp_path / "p", {"a.py": SOURCE, "q/b.py": SOURCE, "q/data.bin": b"\0\xff", "q/py.typed": ""})
    make(
        root,
        {
            "bad.py": "import numpy\nx = (\n",
            "venv/c.py": SOURCE,
            ".gitignore": "*.log\n",
            "x.log": "",
            "r": "#!",
        },
    )
    (root / "a.py").chmod(0o755)
    (root / "r").chmod(0o755)
    (root / "link.py").symlink_to("a.py")
    before = contents(root)
    plain = np2tf("convert", root, "--out", tmp_path / "plain")
    assert plain.exit_code == 1  # bad.py
    assert sorted(contents(tmp_path / "plain")) == ["a.py", "link.py", "q/b.py"]
    np2tf("convert", root, "--out", tmp_path / "whole", "--copy-other")
    whole = contents(tmp_path / "whole")
    wanted = {name: data for name, data in before.items() if not name.startswith("venv") and name != "x.log"}
    wanted |= dict.fromkeys(("a.py", "link.py", "q/b.py"), TARGET.encode())
    assert whole == wanted
    assert stat.S_IMODE((tmp_path / "whole/a.py").stat().st_mode) & 0o111
    assert stat.S_IMODE((tmp_path / "whole/r").stat().st_mode) & 0o111
    assert not (tmp_path / "whole/link.py").is_symlink()
    assert contents(root) == before


def test_out_inside_the_tree(tmp_path: Path) -> None:
    """Files that an earlier run wrote there are not translated again."""
    make(tmp_path, {"a.py": SOURCE, "b.txt": ""})
    for _ in range(2):
        assert np2tf("convert", tmp_path, "--out", tmp_path / "made", "--copy-other").exit_code == 0
    assert sorted(contents(tmp_path)) == ["a.py", "b.txt", "made/a.py", "made/b.txt"]


def test_out_never_overwrites_a_source_or_another(tmp_path: Path) -> None:
    """Two files for one place, or a place that is read, are wrong usage, and nothing is written."""
    make(tmp_path, {"p/a.py": SOURCE, "q/a.py": SOURCE})
    before = contents(tmp_path)
    clash = np2tf("convert", tmp_path / "p", tmp_path / "q", "--out", tmp_path / "out")
    assert (clash.exit_code, "would both be written to" in clash.output) == (2, True)
    into_itself = np2tf("convert", tmp_path / "p", "--out", tmp_path / "p")
    assert (into_itself.exit_code, "is one of the sources" in into_itself.output) == (2, True)
    beside_itself = np2tf("convert", tmp_path / "p", tmp_path / "q/a.py", "--out", tmp_path / "q")
    assert beside_itself.exit_code == 2
    assert contents(tmp_path) == before


# -- in one step --------------------------------------------------------------------------------------------


def test_attributes_are_kept(tmp_path: Path) -> None:
    """Permissions, group and extended attributes; the time of writing is new."""
    file = make(tmp_path, {"a.py": SOURCE}) / "a.py"
    os.utime(file, (1e9, 1e9))
    file.chmod(0o640)
    attributes = hasattr(os, "setxattr")
    try:
        os.setxattr(file, "user.np2tf", b"kept")
    except (AttributeError, OSError):
        attributes = False
    if os.name != "nt" and os.geteuid() == 0:
        os.chown(file, 12345, 54321)
    before = file.stat()
    assert np2tf("convert", "--write", file).exit_code == 0
    after = file.stat()
    assert file.read_text() == TARGET
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)
    assert after.st_mtime > before.st_mtime + 1000
    assert not attributes or os.getxattr(file, "user.np2tf") == b"kept"


def test_owners_that_cannot_be_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file is left alone, and the reason told."""
    file = make(tmp_path, {"a.py": SOURCE}) / "a.py"
    real = os.stat

    def stat_of_another_owner(path: object, **options: object) -> os.stat_result:
        found = real(path, **options)  # type: ignore[arg-type]
        is_temporary = str(path).endswith(".np2tf")
        return os.stat_result([*found[:4], 77777, *found[5:]]) if is_temporary else found

    def refused(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("np2tf.cli.files.os.stat", stat_of_another_owner)
    monkeypatch.setattr("np2tf.cli.files.os.chown", refused)
    result = np2tf("convert", "--write", file)
    assert (result.exit_code, "NP2TF906" in result.stderr) == (1, True)
    assert "its owner and group cannot be kept" in result.stderr
    assert contents(tmp_path) == {"a.py": SOURCE.encode()}


def test_read_only_files_are_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Though its folder would let it be replaced."""
    file = make(tmp_path, {"a.py": SOURCE}) / "a.py"
    monkeypatch.setattr("np2tf.cli.files.os.access", lambda path, mode: False)
    result = np2tf("convert", "--write", file)
    assert (result.exit_code, "the file is read-only" in result.stderr) == (1, True)
    assert contents(tmp_path) == {"a.py": SOURCE.encode()}


def test_links_through_folders(tmp_path: Path) -> None:
    """A link's target is written, wherever it is, and the link stays."""
    make(tmp_path, {"real/a.py": SOURCE, "p/x.txt": ""})
    (tmp_path / "p/one.py").symlink_to("../real/two.py")
    (tmp_path / "real/two.py").symlink_to("a.py")
    assert np2tf("convert", "--write", tmp_path / "p").exit_code == 0
    assert (tmp_path / "p/one.py").is_symlink()
    assert (tmp_path / "real/two.py").is_symlink()
    assert (tmp_path / "real/a.py").read_text() == TARGET


def test_a_write_that_fails_leaves_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = make(tmp_path, {"a.py": SOURCE}) / "a.py"

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("np2tf.cli.files.os.replace", full)
    result = np2tf("convert", "--write", file)
    assert (result.exit_code, "No space left on device" in result.stderr) == (1, True)
    assert contents(tmp_path) == {"a.py": SOURCE.encode()}


def test_a_file_that_changes_meanwhile_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An edit that somebody saves during the translation is not lost."""
    file = make(tmp_path, {"a.py": SOURCE}) / "a.py"
    from np2tf.translator.batch import batch

    real = batch.run_tasks

    def slow(tasks: object) -> object:
        made = real(tasks)  # type: ignore[arg-type]
        file.write_text("x = 'new'\n")
        return made

    monkeypatch.setattr(batch, "run_tasks", slow)
    result = np2tf("convert", "--write", file)
    assert (result.exit_code, "it changed while np2tf was working on it" in result.stderr) == (1, True)
    assert file.read_text() == "x = 'new'\n"


def test_a_long_name_and_a_name_that_is_no_text(tmp_path: Path) -> None:
    """The file beside it, in which it is written first, has a name that the system takes."""
    names = [b"a" * 250 + b".py", b"caf\xe9.py"]
    for name in names:
        (tmp_path / os.fsdecode(name)).write_text(SOURCE)
    assert np2tf("convert", "--check", tmp_path).stdout.count("would change") == 2
    assert b"caf\xe9.py" in np2tf("convert", tmp_path).stdout_bytes
    assert np2tf("convert", "--write", tmp_path).exit_code == 0
    assert [(tmp_path / os.fsdecode(name)).read_text() for name in names] == [TARGET] * 2


_KILLED = """
import os, sys
from pathlib import Path
from np2tf.cli.files import write
file = Path(sys.argv[1])
texts = [(b"%d\\n" % k) * (1 << 18) for k in (1, 2)]
print("ready", flush=True)
while all(write(file, text) is None for text in texts):
    pass
"""


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL")
def test_a_kill_leaves_the_old_or_the_new(tmp_path: Path) -> None:
    """A process that does nothing but write is killed at forty moments: the file is always one of the two."""
    file = make(tmp_path, {"a.py": b"2\n" * (1 << 18)}) / "a.py"
    whole = {(b"%d\n" % k) * (1 << 18) for k in (1, 2)}
    seen = set()
    for trial in range(40):
        process = subprocess.Popen(
            [sys.executable, "-c", _KILLED, str(file)],
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.0003 * trial)
        process.send_signal(signal.SIGKILL)
        process.wait(20)
        process.stdout.close()
        content = file.read_bytes()
        assert content in whole
        seen.add(content)
    assert seen == whole


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL")
@pytest.mark.parametrize("jobs", [1, 2])
def test_kills_of_the_command(jobs: int, tmp_path: Path) -> None:
    """The command is killed at random moments again and again: each file is old or new, workers end with the
    command, and the last run does the rest.
    """
    names = [f"{number:03}.py" for number in range(300)]
    project = make(tmp_path / "p", dict.fromkeys(names, SOURCE))
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, str(ROOT / "cli.py"), "convert", "--write", "-q", f"-j{jobs}", str(project)]
    moments = random.Random(jobs)

    def new_count() -> int:
        texts = [(project / name).read_text() for name in names]
        assert set(texts) <= {SOURCE, TARGET}
        return texts.count(TARGET)

    kills = written = 0
    for _ in range(4):
        process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE)
        assert process.stderr is not None
        deadline = time.monotonic() + 60
        while new_count() == written and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.002)
        time.sleep(moments.uniform(0, 0.01))
        kills += process.poll() is None
        process.kill()
        process.wait(20)
        process.stderr.read()  # ends when no process, and no worker, can write to it any more
        process.stderr.close()
        written = new_count()
    assert kills > 1
    assert subprocess.run(command, env=environment, timeout=60).returncode == 0
    assert new_count() == len(names)


def test_new_files_obey_the_umask(tmp_path: Path) -> None:
    mask = os.umask(0o027)
    try:
        write(tmp_path / "a.py", b"")
        make(tmp_path, {"like": ""})
        (tmp_path / "like").chmod(0o755)
        write(tmp_path / "b.py", b"", like=tmp_path / "like")
    finally:
        os.umask(mask)
    assert [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("a.py", "b.py")] == [0o640, 0o750]
