"""Packages written by others: their own, unchanged tests pass on the translated modules as on NumPy."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Package:
    """A package's source distribution, and how its tests are run from the unpacked folder."""

    name: str
    version: str
    sha256: str
    passed: int
    arguments: tuple[str, ...] = ()

    @property
    def folder(self) -> str:
        """The name of the unpacked folder."""
        return f"{self.name}-{self.version}"


PACKAGES = (
    Package(
        "similaritymeasures",
        "1.5.0",
        "1efce9ea999a0e0e8fe9c75b7e4de142c2a0b0a271797bef25fc2e1555699e6e",
        37,
        ("tests/tests.py",),
    ),
    Package("transforms3d", "0.4.2", "e8b5df30eaedbee556e81c6938e55aab5365894e47d0a17615d7db7fd2393680", 52),
)


def unpacked(package: Package, folder: Path) -> Path:
    """The package's sources, downloaded once into pytest's cache."""
    target = folder / package.folder
    archive = folder / f"{package.folder}.tar.gz"
    if not archive.exists():
        command = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--no-deps",
            "--no-binary",
            ":all:",
            "-d",
            str(folder),
        ]
        done = subprocess.run(
            [*command, f"{package.name}=={package.version}"], capture_output=True, text=True, timeout=180
        )
        if done.returncode:
            pytest.skip(f"pip cannot get {package.name}: {done.stderr.strip().splitlines()[-1]}")
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    assert digest == package.sha256, f"{archive.name} is not the file that it should be"
    if not target.exists():
        with tarfile.open(archive) as tar:
            tar.extractall(folder, filter="data")
    return target


def passed(package: Package, folder: Path, *options: str) -> tuple[set[str], str]:
    """The tests that pass, and the whole output."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "MPLBACKEND": "Agg",
        "OMP_NUM_THREADS": "1",
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    command = [sys.executable, "-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider", "-p", "no:warnings"]
    done = subprocess.run(
        [*command, "-o", "addopts=", *options, *package.arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=500,
    )
    return set(re.findall(r"^PASSED (\S+)", done.stdout, re.MULTILINE)), done.stdout + done.stderr


@pytest.mark.corpus
@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_own_tests(package: Package, pytestconfig: pytest.Config) -> None:
    """Exactly the tests pass that pass on plain NumPy."""
    pytest.importorskip("scipy", reason="the packages need scipy")
    folder = unpacked(package, Path(pytestconfig.cache.mkdir("np2tf-packages")))
    plain, _ = passed(package, folder)
    assert len(plain) == package.passed
    translated, output = passed(package, folder, "-p", "np2tf.imports.pytest_plugin", "--np2tf", package.name)
    assert translated == plain, output
    assert f"np2tf: {package.name} translated" in output
