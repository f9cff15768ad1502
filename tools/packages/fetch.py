"""Getting a package's sources: downloaded once with pip, checked against the pinned hash, unpacked."""

from __future__ import annotations

import hashlib
import importlib.util
import subprocess
import sys
import tarfile
from collections.abc import Iterable
from pathlib import Path

from tools.packages.catalogue import Package


class FetchError(RuntimeError):
    """A package that cannot be had, or is not the one that it should be."""


def unpacked(package: Package, folder: Path) -> Path:
    """The folder with the package's sources in `folder`.

    Raises:
        FetchError: pip cannot get it, or its hash is another.
    """
    archive = folder / f"{package.folder}.tar.gz"
    if not archive.exists():
        _download(package, folder)
    if not archive.exists():
        raise FetchError(f"{package.name}: the download holds no {archive.name}")
    if hashlib.sha256(archive.read_bytes()).hexdigest() != package.sha256:
        raise FetchError(f"{archive.name} is not the file that it should be: its sha256 is another")
    target = folder / package.folder
    if not target.exists():
        with tarfile.open(archive) as tar:
            tar.extractall(folder, filter="data")
    return target


def _download(package: Package, folder: Path) -> None:
    pip = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-binary", ":all:", "-d", str(folder)]
    wanted = f"{package.name}=={package.version}"
    done = subprocess.run([*pip, wanted], capture_output=True, text=True, timeout=300, check=False)
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["pip says nothing"])[-1]
        raise FetchError(f"pip cannot get {wanted}: {reason}")


def missing(package: Package) -> list[str]:
    """What the package's tests import and this environment lacks (import names)."""
    return [name for name in package.needs if importlib.util.find_spec(name) is None]


def install(names: Iterable[str]) -> None:
    """Install distributions into this environment.

    Raises:
        FetchError: pip could not.
    """
    done = subprocess.run(
        [sys.executable, "-m", "pip", "install", "-q", *names], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise FetchError(done.stderr.strip())
    importlib.invalidate_caches()
