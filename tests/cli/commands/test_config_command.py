"""`np2tf config`: what applies to a file, and where it comes from."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from np2tf.cli.configuration import KEYS
from np2tf.cli.main import np2tf as command
from np2tf.core.settings import Config
from tests.helpers.command_runner import CliRunner, Result

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def np2tf(*args: object) -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(command, [str(arg) for arg in args])


def test_every_key_with_its_origin(tmp_path: Path) -> None:
    """One line each; what is shown is TOML, and says the same when it is read."""
    text = (
        "[project]\n[tool.np2tf]\njit = false\nselect = ['401']\nper-file-ignores = {'a\"b' = ['NP2TF5']}\n"
    )
    file = tmp_path / "pyproject.toml"
    file.write_text(text)
    result = np2tf("config", "--show", tmp_path / "pkg/a.py")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0] == f"# {tmp_path / 'pkg/a.py'}: {file}"
    assert f"jit = false  # {file}:3" in lines
    assert f'select = ["NP2TF401"]  # {file}:4' in lines
    assert 'target = "np2tf"  # the default' in lines
    shown = tomllib.loads(result.stdout)
    assert list(shown) == list(KEYS)
    (tmp_path / "again").mkdir()
    (tmp_path / "again/np2tf.toml").write_text(result.stdout)
    again = np2tf("config", "--show", tmp_path / "again/a.py")
    assert tomllib.loads(again.stdout) == shown


def test_defaults_can_be_read_again(tmp_path: Path) -> None:
    shown = np2tf("config", "--show", tmp_path / "a.py").stdout
    assert "per-file-ignores = {}  # the default\n" in shown
    (tmp_path / "np2tf.toml").write_text(shown)
    again = np2tf("config", "--show", tmp_path / "a.py")
    assert (again.exit_code, tomllib.loads(again.stdout)) == (0, tomllib.loads(shown))


def test_several_files_and_folders(tmp_path: Path) -> None:
    (tmp_path / "q").mkdir()
    (tmp_path / "q/np2tf.toml").write_text("jit = false\n")
    result = np2tf("config", "--show", tmp_path / "a.py", tmp_path / "q").stdout
    assert f"# {tmp_path / 'a.py'}: no configuration\n" in result
    assert f"# {tmp_path / 'q'}: {tmp_path / 'q/np2tf.toml'}\n" in result


def test_what_is_excluded(tmp_path: Path) -> None:
    assert "# This file is excluded" in np2tf("config", "--show", tmp_path / "build/a.py").stdout
    assert "# It is excluded" not in np2tf("config", "--show", tmp_path / "a.py").stdout


@pytest.mark.parametrize("args", [("config", "--show"), ("convert",), ("check",)])
def test_a_mistake_is_wrong_usage(tmp_path: Path, args: tuple[str, ...]) -> None:
    """Status 2, with file, line and what may have been meant."""
    (tmp_path / "a.py").write_text("x = 1\n")
    (tmp_path / "np2tf.toml").write_text("# ours\nslect = []\n")
    result = np2tf(*args, tmp_path)
    assert result.exit_code == 2
    told = f"Error: {tmp_path / 'np2tf.toml'}:2: unknown key `slect`; did you mean `select`?"
    assert told in result.output.replace("\n", "")


def test_convert_goes_by_the_configuration(tmp_path: Path) -> None:
    """Each file by its own."""
    loop = "def f(x):\n    while np.sum(x) > 1:\n        x = x / 2 + np.sin(x)\n    return x\n"
    for name in ("a.py", "q/b.py", "q/skip/c.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"import numpy as np\n\n\n{loop}")
    (tmp_path / "q/np2tf.toml").write_text("jit = false\nextend-exclude = ['skip']\n")
    first, second = np2tf("convert", tmp_path).stdout.split("+++ ")[1:]
    assert "@np2tf.jit" in first
    assert "@np2tf.jit" not in second
    assert "@np2tf.jit" in np2tf("convert", tmp_path / "q", "--jit").stdout


def test_a_wrong_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment variable with a wrong value is wrong usage; a program is told at its first use."""
    monkeypatch.setenv("NP2TF_JIT", "always")
    told = "the environment variable NP2TF_JIT must be one of on, strict, off, not 'always'"
    words = [sys.executable, str(Path(__file__).parents[3] / "cli.py"), "check", __file__]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (2, f"Error: {told}")
    config = Config()
    assert config.tier == "auto"
    with pytest.raises(ValueError, match=told):
        _ = config.jit
    config.jit = "strict"
    assert config.jit == "strict"
