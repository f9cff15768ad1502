"""Get a package's sources: download them once with pip, check them against the pinned hash, unpack them."""

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
    """A package cannot be downloaded or built, or its archive is not the expected file."""


def unpacked(package: Package, folder: Path) -> Path:
    """Return the folder with the package's sources in `folder`.

    Raises:
        FetchError: pip cannot get the package, or its hash differs from the pinned hash.
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
    """Return the modules that the package's tests import and that this environment lacks."""
    return [name for name in package.needs if importlib.util.find_spec(name) is None]


def install(names: Iterable[str]) -> None:
    """Install distributions into this environment.

    Raises:
        FetchError: pip fails.
    """
    done = subprocess.run(
        [sys.executable, "-m", "pip", "install", "-q", *names], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise FetchError(done.stderr.strip())
    importlib.invalidate_caches()
