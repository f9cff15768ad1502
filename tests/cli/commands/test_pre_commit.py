"""The hooks of .pre-commit-hooks.yaml, as pre-commit installs and runs them at a commit.

pre-commit makes an environment and installs np2tf into it by pip. The packages that np2tf depends on
come from this environment, except NumPy and TensorFlow: hooks must do without them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("pre_commit")

#: The files that pip needs to install a checkout.
LISTED = ["pyproject.toml", "setup.py", "README.md", "LICENSE", ".pre-commit-hooks.yaml", "np2tf", "rules"]
#: Packages that the hooks must not need, and installations that would hide the np2tf of the hooks.
LEFT_OUT = ("np2tf", "__editable__", "tensorflow", "numpy", "keras", "jax", "torch")
CONFIGURATION = """\
repos:
  - repo: {url}
    rev: {revision}
    hooks:
      - id: {hook}
"""
SOURCE = "import numpy as np\n\n\ndef f(x):\n    return np.sin(x)\n"
CONVERTED = "from np2tf import tnp\n\n\ndef f(x):\n    return tnp.sin(x)\n"
WRONG = "import numpy as np\n\n\ndef f(x):\n    return np.wrong(x)\n"
NOTEBOOK = (
    '{"cells": [{"cell_type": "code", "execution_count": null, "metadata": {}, "outputs": [],\n'
    ' "source": "import numpy as np\\nx = np.ones(2)"}],\n'
    ' "metadata": {}, "nbformat": 4, "nbformat_minor": 5}\n'
)

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def git(folder: Path, *words: str) -> str:
    """Run git, and give what it prints."""
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "core.hooksPath=.git/hooks"]
    done = subprocess.run(["git", *identity, *words], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture(scope="module")
def checkout(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with the files of this checkout, committed or not."""
    folder = tmp_path_factory.mktemp("checkout")
    for name in LISTED:
        if (root / name).is_dir():
            shutil.copytree(root / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(root / name, folder / name)
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "all")
    return folder


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Variables with which pip finds what np2tf depends on, and asks no index."""
    packages = tmp_path_factory.mktemp("packages")
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        if not entry.name.lower().startswith(LEFT_OUT):
            (packages / entry.name).symlink_to(entry)
    variables = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "GIT_"))}
    return variables | {
        "PYTHONPATH": str(packages),
        "PIP_NO_INDEX": "1",
        "PIP_NO_BUILD_ISOLATION": "0",  # pip's way to say that there is none
        "PRE_COMMIT_HOME": str(tmp_path_factory.mktemp("home")),
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
    }


@pytest.fixture
def repository(tmp_path: Path, checkout: Path, environment: dict[str, str]) -> Callable[[str], Run]:
    """Makes a repository with one hook of the checkout's; what is returned runs git in it."""

    def prepared(hook: str) -> Run:
        git(tmp_path, "init", "-q")
        revision = git(checkout, "rev-parse", "HEAD")
        text = CONFIGURATION.format(url=checkout, revision=revision, hook=hook)
        (tmp_path / ".pre-commit-config.yaml").write_text(text)
        install = [sys.executable, "-m", "pre_commit", "install"]
        subprocess.run(install, cwd=tmp_path, env=environment, check=True, capture_output=True)

        def run(*words: str) -> subprocess.CompletedProcess[str]:
            identity = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
            command = ["git", *identity, *words]
            return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)

        return run

    return prepared


@pytest.mark.slow
def test_a_commit_converts_and_a_finding_stops_it(
    repository: Callable[[str], Run], tmp_path: Path, checkout: Path
) -> None:
    run = repository("np2tf-convert")
    file = tmp_path / "model.py"
    file.write_text(SOURCE)
    notebook = tmp_path / "notes.ipynb"
    notebook.write_text(NOTEBOOK)
    run("add", "-A")
    first = run("commit", "-m", "one")
    assert first.returncode == 1, first.stdout + first.stderr
    assert "files were modified by this hook" in first.stderr + first.stdout
    assert file.read_text() == CONVERTED
    assert notebook.read_text() == NOTEBOOK.replace("import numpy as np", "from np2tf import tnp").replace(
        "= np.", "= tnp."
    )
    run("add", "-A")
    second = run("commit", "-m", "one")
    assert second.returncode == 0, second.stdout + second.stderr
    assert run("show", "HEAD:model.py").stdout == CONVERTED

    text = (tmp_path / ".pre-commit-config.yaml").read_text().replace("np2tf-convert", "np2tf-check")
    (tmp_path / ".pre-commit-config.yaml").write_text(text)
    file.write_text(WRONG)
    run("add", "-A")
    stopped = run("commit", "-m", "two")
    told = stopped.stdout + stopped.stderr
    assert stopped.returncode == 1
    assert "model.py:5:12: NP2TF002" in told
    assert file.read_text() == WRONG
    file.write_text(SOURCE)  # it would change, which is no finding
    run("add", "-A")
    assert run("commit", "-m", "two").returncode == 0
    assert run("log", "--format=%s").stdout.split() == ["two", "one"]
