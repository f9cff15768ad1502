"""The command line: what it prints, writes and returns."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from np2tf.cli import main
from np2tf.cli.main import np2tf as command
from tests.helpers.command_runner import CliRunner, Result

SOURCE = "import numpy as np\n\nx = np.ones(2)\n"
TARGET = "from np2tf import tnp\n\nx = tnp.ones(2)\n"


def np2tf(*args: object, text: str | bytes | None = None) -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(command, [str(arg) for arg in args], input=text)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A small project."""
    files = {
        "a.py": SOURCE,
        "pkg/b.py": SOURCE,
        "pkg/plain.py": "x = 1\n",
        "pkg/bad.py": "import numpy\ndef f(:\n",
        "pkg/notes.txt": SOURCE,
        ".hidden/c.py": SOURCE,
        "venv/d.py": SOURCE,
        "other/pyvenv.cfg": "",
        "other/e.py": SOURCE,
        "pkg/__pycache__/f.py": SOURCE,
    }
    for name, text in files.items():
        path = tmp_path / "project" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "project"


def contents(folder: Path) -> dict[str, str]:
    """Every file below a folder."""
    return {str(p.relative_to(folder)): p.read_text() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_default_is_a_diff_and_writes_nothing(tree: Path) -> None:
    """Without an option: a patch on standard output, findings and a summary on standard error, status 1."""
    before = contents(tree)
    result = np2tf("convert", tree)
    assert result.exit_code == 1
    assert result.stdout.count("+from np2tf import tnp") == 2
    assert "bad.py:2:7: NP2TF901" in result.stderr
    assert "2 files would change, 1 failed, 1 unchanged" in result.stderr
    assert contents(tree) == before


def test_diff_applies(tree: Path) -> None:
    """The printed diff is a patch."""
    patch = np2tf("convert", tree / "a.py", "-q").stdout
    done = subprocess.run(
        ["patch", "-p0", "-d", "/"], input=patch, text=True, capture_output=True, timeout=20
    )
    assert done.returncode == 0, done.stdout
    assert (tree / "a.py").read_text() == TARGET


def test_diff_of_a_file_without_final_newline(tmp_path: Path) -> None:
    """Such a file gets the mark that `patch` expects."""
    (tmp_path / "a.py").write_text(SOURCE.rstrip("\n"))
    assert "\\ No newline at end of file" in np2tf("convert", tmp_path / "a.py").stdout


def test_write(tree: Path) -> None:
    """--write changes what can be translated, leaves the rest, keeps permissions; a second run has nothing
    to do."""
    (tree / "a.py").chmod(0o750)
    result = np2tf("convert", "--write", tree)
    assert result.exit_code == 1
    assert (tree / "a.py").read_text() == TARGET
    assert stat.S_IMODE((tree / "a.py").stat().st_mode) == 0o750
    assert (tree / "pkg/bad.py").read_text() == "import numpy\ndef f(:\n"
    assert (tree / ".hidden/c.py").read_text() == SOURCE
    assert (tree / "other/e.py").read_text() == SOURCE
    assert not list(tree.rglob(".*.py.*"))
    (tree / "pkg/bad.py").unlink()
    assert np2tf("convert", "--write", tree).exit_code == 0


def test_out_mirrors_the_tree(tree: Path, tmp_path: Path) -> None:
    """--out writes every readable file below another folder and leaves the sources."""
    before = contents(tree)
    assert np2tf("convert", tree, "--out", tmp_path / "out").exit_code == 1
    assert contents(tmp_path / "out") == {"a.py": TARGET, "pkg/b.py": TARGET, "pkg/plain.py": "x = 1\n"}
    assert contents(tree) == before


def test_links_are_followed(tmp_path: Path) -> None:
    """Writing through a link changes the file and keeps the link."""
    (tmp_path / "real.py").write_text(SOURCE)
    (tmp_path / "link.py").symlink_to("real.py")
    np2tf("convert", "--write", tmp_path / "link.py")
    assert (tmp_path / "link.py").is_symlink()
    assert (tmp_path / "real.py").read_text() == TARGET


def test_standard_input() -> None:
    """`-` reads standard input and prints the translation."""
    result = np2tf("convert", "-", text=SOURCE)
    assert result.stdout == TARGET
    assert np2tf("convert", "-", "--diff", text=SOURCE).stdout.startswith("--- ")
    assert np2tf("convert", "-", "--write", text=SOURCE).exit_code == 2
    assert np2tf("convert", "-", text="x = 1\n").exit_code == 0
    broken = np2tf("convert", "-", text="import numpy\nx = (\n")
    assert (broken.exit_code, broken.stdout) == (1, "import numpy\nx = (\n")


def test_quiet(tree: Path) -> None:
    """-q prints the diff only."""
    assert np2tf("convert", "-q", tree).stderr == ""


def test_no_jit(tmp_path: Path) -> None:
    """--no-jit leaves functions undecorated."""
    loop = "def f(x):\n    while np.sum(x) > 1:\n        x = x / 2 + np.sin(x)\n    return x\n"
    (tmp_path / "a.py").write_text(f"import numpy as np\n\n\n{loop}")
    assert "@np2tf.jit" in np2tf("convert", tmp_path).stdout
    assert "@np2tf.jit" not in np2tf("convert", "--no-jit", tmp_path).stdout


@pytest.mark.parametrize(
    "args",
    [
        ("convert",),
        ("convert", "no_such_file.py"),
        ("convert", "--no-such-option", "."),
        ("convert", "--write", "--out", "x", "."),
        ("check", "no_such_file.py"),
        ("explain", "NP2TF000"),
        ("no-such-command",),
    ],
)
def test_wrong_usage(args: tuple[str, ...]) -> None:
    """Status 2, and no traceback."""
    result = np2tf(*args)
    assert result.exit_code == 2
    assert "Error: " in result.output
    assert "Traceback" not in result.output


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="permissions bind only an ordinary user")
def test_unreadable_and_unwritable(tmp_path: Path) -> None:
    """A file that the system refuses to open is a finding with a code."""
    (tmp_path / "a.py").write_text(SOURCE)
    (tmp_path / "a.py").chmod(0)
    assert "NP2TF906" in np2tf("convert", tmp_path).stderr


def test_out_that_cannot_be_written(tmp_path: Path) -> None:
    """A folder that cannot be made is a finding with a code, not a traceback."""
    (tmp_path / "a.py").write_text(SOURCE)
    (tmp_path / "file").write_text("")
    result = np2tf("convert", tmp_path / "a.py", "--out", tmp_path / "file" / "below")
    assert "NP2TF906" in result.stderr
    assert result.exit_code == 1


def test_internal_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An internal error names its file and leaves the file alone. The other files are converted; the status
    is 123.
    """
    (tmp_path / "a.py").write_text(SOURCE)
    (tmp_path / "b.py").write_text(SOURCE)

    def fails(source: object, options: object) -> None:
        raise KeyError("oops") if str(source.path).endswith("a.py") else RecursionError

    monkeypatch.setattr("np2tf.translator.batch.one_file.translate", fails)
    result = np2tf("convert", "--write", tmp_path)
    assert result.exit_code == 123
    assert "a.py:1:1: NP2TF905 internal error: KeyError: 'oops'" in result.stderr
    assert (tmp_path / "a.py").read_text() == SOURCE


def test_internal_error_outside_a_file(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Anything else that goes wrong ends in a code as well."""
    monkeypatch.setattr(main.np2tf, "main", lambda *args, **kwargs: 1 / 0)
    with pytest.raises(SystemExit) as caught:
        main.main(["check", "."])
    assert caught.value.code == 123
    assert "NP2TF905" in capsys.readouterr().err


def test_check(tree: Path) -> None:
    """`check` says what would change and what is wrong, and writes nothing."""
    before = contents(tree)
    result = np2tf("check", tree)
    assert result.exit_code == 1
    assert "a.py: would change" in result.stdout
    assert "bad.py:2:7: NP2TF901" in result.stdout
    assert contents(tree) == before
    assert np2tf("check", tree / "pkg/plain.py").exit_code == 0


def test_explain() -> None:
    """One code in full, or all of them in a list."""
    assert "Remedy:" in np2tf("explain", "NP2TF101").output
    assert np2tf("explain", "101").output == np2tf("explain", "np2tf101").output
    assert len(np2tf("explain").output.splitlines()) > 10


def test_version() -> None:
    """The version is known in a bare checkout too."""
    assert np2tf("--version").output.startswith("np2tf ")


def test_every_command_loads() -> None:
    """Each row of the table names a command that can be asked for help."""
    for name in main.COMMANDS:
        assert np2tf(name, "--help").exit_code == 0, name


@pytest.mark.parametrize(
    "args", ["['--help']", "['convert', FILE]", "['check', FILE]", "['explain', 'NP2TF101']"]
)
def test_light_imports(args: str, tmp_path: Path) -> None:
    """The translator's commands load neither tensorflow nor numpy; help does not even load libcst."""
    (tmp_path / "a.py").write_text(SOURCE)
    code = (
        f"import sys; FILE = {str(tmp_path / 'a.py')!r}\n"
        "from np2tf.cli.main import main\n"
        f"try: main({args})\n"
        "except SystemExit: pass\n"
        "print(sorted({'numpy', 'tensorflow', 'libcst', 'rich'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    loaded = done.stdout.splitlines()[-1]
    assert loaded == ("['libcst']" if "FILE" in args else "[]")


def test_no_user_code_runs(tmp_path: Path) -> None:
    """Conversion reads programs; it does not run or import them."""
    (tmp_path / "a.py").write_text("import numpy as np\nraise SystemExit(np.ones(1))\n")
    (tmp_path / "numpy.py").write_text("raise SystemExit('imported')\n")
    done = subprocess.run(
        [sys.executable, "-c", "from np2tf.cli.main import main; main(['convert', 'a.py'])"],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(main.__file__).parents[3])},
    )
    assert done.returncode == 1
    assert "tnp.ones(1)" in done.stdout
