"""The package as users get it: from a wheel installed elsewhere, and from a bare checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

SOURCE = "import numpy as np\n\n\ndef f(x):\n    return np.sin(x)\n"


def run(*command: str | Path, cwd: Path, path: str | None = None) -> subprocess.CompletedProcess[str]:
    """A process that sees np2tf only where `path` says."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    if path is not None:
        environment["PYTHONPATH"] = path
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=cwd, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done


@pytest.fixture(scope="module")
def wheel(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel built from a copy, so that no build folder appears in the checkout."""
    copy, out = tmp_path_factory.mktemp("copy"), tmp_path_factory.mktemp("wheel")
    _copy(root, copy)
    _build(copy, out, "--wheel")
    (found,) = out.glob("*.whl")
    return found


def _copy(root: Path, copy: Path) -> None:
    listed = ["pyproject.toml", "README.md", "CHANGELOG.md", "LICENSE", "np2tf", "rules", "cli.py"]
    done = subprocess.run(
        ["tar", "-c", "--exclude=__pycache__", *listed], cwd=root, capture_output=True, check=True
    )
    subprocess.run(["tar", "-x"], cwd=copy, input=done.stdout, check=True)


def _build(source: Path, out: Path, *options: str) -> None:
    build = [sys.executable, "-m", "build", *options, "--no-isolation", "--outdir", out, source]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "1790000000"}
    subprocess.run(build, check=True, capture_output=True, timeout=300, env=environment)


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with nothing but the installed wheel in it."""
    target = tmp_path_factory.mktemp("installed")
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", target, wheel]
    subprocess.run(install, check=True, capture_output=True, timeout=300)
    return target


def test_the_wheel_has_every_file_and_every_rule(root: Path, wheel: Path):
    names = set(zipfile.ZipFile(wheel).namelist())
    modules = {str(path.relative_to(root)) for path in (root / "np2tf").rglob("*.*") if path.suffix != ".pyc"}
    rules = {
        f"np2tf/{path.relative_to(root)}" for path in (root / "rules").rglob("*.*") if path.suffix != ".pyc"
    }
    assert {"np2tf/py.typed", "np2tf/staging/xla/placement_cpu.toml", "np2tf/cli/play/page.js"} <= modules
    assert modules | rules <= names
    strangers = {name for name in names if not name.startswith(("np2tf/", "np2tf-"))}
    assert not strangers


def test_releases_can_be_built_again(root: Path, tmp_path: Path):
    """Two builds of a wheel and of a source distribution are equal byte by byte, and fit for an index."""
    builds = []
    for name in ("first", "second"):
        copy, out = tmp_path / f"{name} copy", tmp_path / name
        copy.mkdir()
        _copy(root, copy)
        _build(copy, out)
        builds.append({path.name: path.read_bytes() for path in out.iterdir()})
    assert builds[0] == builds[1]
    assert {Path(name).suffix for name in builds[0]} == {".whl", ".gz"}
    check = [sys.executable, "-m", "twine", "check", "--strict", *(tmp_path / "first").iterdir()]
    assert run(*check, cwd=tmp_path).returncode == 0


def test_an_installed_wheel_finds_its_rules(installed: Path, tmp_path: Path):
    code = "import np2tf.core.rules as r; print(r.rules_folder()); print(len(r.rules()) > 100)"
    folder, has_many = run(sys.executable, "-c", code, cwd=tmp_path, path=str(installed)).stdout.split()
    assert Path(folder) == installed / "np2tf" / "rules"
    assert has_many == "True"


def test_an_installed_wheel_converts(installed: Path, tmp_path: Path):
    for target, package in (("np2tf", "np2tf"), ("tf", "tensorflow")):
        (tmp_path / "source.py").write_text(SOURCE)
        command = [sys.executable, installed / "bin" / "np2tf", "convert", "--write", "--target", target]
        run(*command, "source.py", cwd=tmp_path, path=str(installed))
        text = (tmp_path / "source.py").read_text()
        assert "tnp.sin(x)" in text
        assert package in text


def test_a_bare_checkout_converts(root: Path, tmp_path: Path):
    (tmp_path / "source.py").write_text(SOURCE)
    run(sys.executable, root / "cli.py", "convert", "--write", "source.py", cwd=tmp_path)
    assert "tnp.sin(x)" in (tmp_path / "source.py").read_text()


def test_every_hook_runs_a_command_that_exists(root: Path):
    """Hooks are named in YAML; their entries are words that the command line must know."""
    lines = (root / ".pre-commit-hooks.yaml").read_text().splitlines()
    ids = [line.split(": ")[1] for line in lines if line.startswith("- id:")]
    entries = [line.split(": ")[1] for line in lines if line.strip().startswith("entry:")]
    assert ids == ["np2tf-check", "np2tf-convert"]
    for entry in entries:
        program, command, *options = entry.split()
        done = run(sys.executable, root / "cli.py", command, "--help", cwd=root)
        assert program == "np2tf"
        assert done.returncode == 0, done.stderr
        assert all(option in done.stdout for option in options)


def test_the_readme_shows_what_convert_does(root: Path):
    from np2tf import convert

    blocks = (root / "README.md").read_text().split("```python\n")[1:]
    before, after = (block.split("```")[0] for block in blocks)
    assert convert(before).text == after
