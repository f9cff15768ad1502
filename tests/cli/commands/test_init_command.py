"""`np2tf init`: what it writes, what it leaves as it is, and what it says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from np2tf.cli.configuration import Configurations
from np2tf.cli.main import np2tf
from np2tf.cli.pre_commit import has_hook, local_entry
from tests.helpers.command_runner import CliRunner, Result

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

MODEL = """\
import numpy as np


def relax(u):
    for i in range(1, len(u) - 1):
        u[i] = np.sin(u[i - 1]) + u[i + 1]
    return u


def f(x):
    return np.wrong(x)
"""
FROM = "https://example.org/np2tf.git@v0.1.0"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a package, its tests, and a pyproject.toml."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "pkg").mkdir()
    (tmp_path / "tests").mkdir()
    (tmp_path / "pkg" / "__init__.py").write_text("")
    (tmp_path / "pkg" / "model.py").write_text(MODEL)
    (tmp_path / "tests" / "test_model.py").write_text("import numpy as np\n\nx = np.ones(3)\n")
    (tmp_path / "pyproject.toml").write_text(
        '[project]\nname = "x"   # mine\n\n[tool.ruff]\nline-length = 99'
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


def init(*words: str, text: str | None = None) -> Result:
    """Run the command in the current folder."""
    return CliRunner().invoke(np2tf, ["init", "--jobs", "1", *words], input=text)


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_it_writes_and_a_second_time_changes_nothing(repository: Path) -> None:
    before = contents(repository)
    done = init("--ci", "github", "--from", FROM)
    assert done.exit_code == 0, done.output
    assert "`np2tf check --baseline np2tf-baseline.json .` shows only new ones" in done.output
    after = contents(repository)
    new = {"np2tf-baseline.json", ".pre-commit-config.yaml", ".github/workflows/np2tf.yml"}
    assert set(after) - set(before) == new
    assert {name for name in before if after[name] != before[name]} == {"pyproject.toml"}
    assert after["pyproject.toml"].startswith(before["pyproject.toml"])
    settings = Configurations().of(repository / "pkg" / "model.py")
    assert settings.extend_exclude == ("tests/",)
    again = init("--ci", "github", "--from", FROM)
    assert again.exit_code == 0
    assert contents(repository) == after
    assert "written" not in again.output


def test_what_it_writes_works(repository: Path) -> None:
    init("--ci", "github", "--from", FROM)
    job = YAML(typ="safe").load((repository / ".github/workflows/np2tf.yml").read_text())
    hooks = YAML(typ="safe").load((repository / ".pre-commit-config.yaml").read_text())
    assert hooks["repos"][0]["rev"] == "v0.1.0"
    assert hooks["repos"][0]["hooks"] == [
        {"id": "np2tf-check", "args": ["--baseline", "np2tf-baseline.json"]}
    ]
    commands = [step["run"] for step in job["jobs"]["np2tf"]["steps"] if "run" in step]
    assert commands[0] == "pip install 'np2tf @ git+https://example.org/np2tf.git@v0.1.0'"
    for command in commands[1:]:
        words = command.partition(" >>")[0].split()
        assert words[0] == "np2tf"
        done = CliRunner().invoke(np2tf, words[1:])
        assert done.exit_code == 0, done.output  # the baseline knows what is found
    (repository / "pkg" / "model.py").write_text(MODEL + "\n\nz = np.worse\n")
    assert CliRunner().invoke(np2tf, commands[-1].split()[1:]).exit_code == 1


def test_it_says_what_share_will_translate(repository: Path) -> None:
    said = init("--no-pre-commit", "--no-baseline").output
    assert "2 files, 1 of which would change." in said  # the tests stay
    assert "Of 1 function that compute with arrays, 1 (100 %) are compiled" in said
    assert "Of 2 uses of NumPy, 1 (50 %) run on TensorFlow." in said
    assert "1 finding:" in said


def test_dry_run_shows_a_patch_and_writes_nothing(repository: Path) -> None:
    before = contents(repository)
    done = init("--dry-run", "--ci", "github", "--from", FROM)
    assert done.exit_code == 0
    assert contents(repository) == before
    patch = done.output[done.output.index("--- ") :].partition("np2tf-baseline.json would")[0]
    subprocess.run(["patch", "-p0", "-s"], cwd=repository, input=patch, text=True, check=True)
    assert "extend-exclude" in (repository / "pyproject.toml").read_text()
    assert has_hook((repository / ".pre-commit-config.yaml").read_text())


def test_without_a_pyproject_there_is_an_np2tf_toml(repository: Path) -> None:
    (repository / "pyproject.toml").unlink()
    assert init().exit_code == 0
    assert tomllib.loads((repository / "np2tf.toml").read_text())["extend-exclude"] == ["tests/"]


def test_a_configuration_that_is_there_stays(repository: Path) -> None:
    (repository / "np2tf.toml").write_text('ignore = ["NP2TF0"]\n')
    before = (repository / "pyproject.toml").read_bytes()
    said = init("--no-baseline", "--no-pre-commit").output
    assert "np2tf.toml already has the configuration" in said
    assert (repository / "np2tf.toml").read_text() == 'ignore = ["NP2TF0"]\n'
    assert (repository / "pyproject.toml").read_bytes() == before


def test_another_workflow_is_replaced_only_if_that_is_asked_for(repository: Path) -> None:
    job = repository / ".github" / "workflows" / "np2tf.yml"
    job.parent.mkdir(parents=True)
    job.write_text("mine: true\n")
    said = init("--ci", "github", "--from", FROM).output
    assert "np2tf.yml was left unchanged; --yes replaces it" in said
    assert job.read_text() == "mine: true\n"
    init("--ci", "github", "--from", FROM, "--yes")
    assert "np2tf check" in job.read_text()


def test_what_is_wrong_is_told(repository: Path) -> None:
    (repository / "pyproject.toml").write_text("[tool\n")
    (repository / ".pre-commit-config.yaml").write_text("repos: [\n")
    done = init("--no-baseline")
    assert "pyproject.toml was left unchanged: it is not valid TOML" in done.output
    assert ".pre-commit-config.yaml was left unchanged: it is not valid YAML" in done.output
    assert (repository / ".pre-commit-config.yaml").read_text() == "repos: [\n"
    assert init("--ci", "github", "--from", "https://example.org/x").exit_code == 2


def test_a_hook_without_a_repository_is_of_the_environment(repository: Path) -> None:
    assert init("--no-baseline").exit_code == 0
    hooks = YAML(typ="safe").load((repository / ".pre-commit-config.yaml").read_text())
    assert hooks == {"repos": [local_entry([])]}
