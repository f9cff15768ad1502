"""The source distribution of any package: downloaded, unpacked, built, and installed with its dependencies.

Each package has its own environment, which also sees the packages of the running interpreter. Dependencies
never replace these: pip is held to the versions that are installed.
"""

from __future__ import annotations

import re
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from email.message import Message
from email.parser import Parser
from importlib.metadata import distributions
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement

from tools.packages.catalogue import ROOT
from tools.packages.fetch import FetchError

#: Extras of a package that hold what its tests need.
EXTRAS = ("test", "tests", "testing")
#: Names at the top of a wheel by which the package is not imported.
_NO_MODULES = re.compile(r"(tests?|docs?|examples?|benchmarks?|scripts?|tools|setup|conftest|_.*)$")
_COMPILED = ("*.pyx", "*.pyf", "Cargo.toml")
_MINUTES_FOR_PIP = 6


@dataclass(frozen=True)
class Installed:
    """A package that can be imported in its own environment.

    Attributes:
        source: the unpacked sdist.
        python: the environment's interpreter.
        modules: the names by which the package is imported.
    """

    source: Path
    python: Path
    modules: tuple[str, ...]


def installed(wanted: str, folder: Path) -> Installed:
    """Install a package and its dependencies in `folder`. Files that are there already are used.

    Args:
        wanted: the package, as `name==version`.
        folder: the folder that holds downloads and environments.

    Raises:
        FetchError: there is no sdist, it cannot be built, or it is not pure Python.
    """
    place = folder / wanted.replace("==", "-")
    place.mkdir(parents=True, exist_ok=True)
    archive = _archive(wanted, place)
    source = _source(archive, place / "source")
    _must_be_pure(source)
    wheel = _wheel(archive, place)
    python = place / "env" / "bin" / "python"
    if not python.exists():
        _make_environment(place / "env")
        _install(wheel, wanted.partition("==")[0], python, place)
    return Installed(source, python, modules_of(wheel))


def add(python: Path, names: Sequence[str], place: Path) -> bool:
    """Install further packages into an environment, and return whether that succeeded."""
    try:
        _pip("install", "-q", "-c", str(place / "constraints.txt"), *names, python=python)
    except FetchError:
        return False
    return True


def modules_of(wheel: Path) -> tuple[str, ...]:
    """Return the names by which a wheel is imported."""
    with zipfile.ZipFile(wheel) as content:
        files = [name for name in content.namelist() if name.endswith(".py") and ".data/" not in name]
    tops = dict.fromkeys(name.split("/")[0].removesuffix(".py") for name in files)
    return tuple(name for name in tops if name.isidentifier() and not _NO_MODULES.match(name))


def _pip(*arguments: str, python: Path | None = None) -> None:
    command = [sys.executable, "-m", "pip", *(("--python", str(python)) if python else ()), *arguments]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=60 * _MINUTES_FOR_PIP, check=False
        )
    except subprocess.TimeoutExpired:
        raise FetchError(f"pip {arguments[0]} takes more than {_MINUTES_FOR_PIP} minutes") from None
    if done.returncode:
        lines = [line.strip() for line in done.stderr.splitlines() if re.search(r"error: ", line, re.I)]
        told = [line for line in lines if "subprocess-exited" not in line] or lines or ["it does not say why"]
        raise FetchError(f"pip {arguments[0]} fails: {told[0][:200]}")


def _archive(wanted: str, place: Path) -> Path:
    def found() -> list[Path]:
        return [path for path in place.glob("*") if path.name.endswith((".tar.gz", ".zip", ".tar.bz2"))]

    if not found():
        # Only the package itself must be a source distribution; the tools that build it may be wheels.
        name = wanted.partition("==")[0]
        _pip("download", "-q", "--no-deps", "--no-binary", name, "-d", str(place), wanted)
    if not found():
        raise FetchError("there is no source distribution")
    return found()[0]


def _source(archive: Path, target: Path) -> Path:
    if not target.exists():
        target.mkdir()
        if archive.suffix == ".zip":
            with zipfile.ZipFile(archive) as content:
                content.extractall(target)
        else:
            with tarfile.open(archive) as tar:
                tar.extractall(target, filter="data")
    inner = [path for path in target.iterdir() if path.is_dir()]
    return inner[0] if len(inner) == 1 else target


def _must_be_pure(source: Path) -> None:
    for pattern in _COMPILED:
        for path in source.rglob(pattern):
            raise FetchError(f"it has extension modules to be compiled ({path.name})")
    setup = source / "setup.py"
    if setup.exists() and re.search(r"^[^#\n]*\bExtension\(", setup.read_text("utf-8", "replace"), re.M):
        raise FetchError("it has extension modules to be compiled (setup.py)")


def _wheel(archive: Path, place: Path) -> Path:
    if not list(place.glob("*.whl")):
        _pip("wheel", "-q", "--no-deps", "-w", str(place), str(archive))
    wheel = next(place.glob("*.whl"), None)
    if wheel is None:
        raise FetchError("pip made no wheel")
    if not wheel.name.endswith("-none-any.whl"):
        raise FetchError("it is not pure Python")
    return wheel


def _make_environment(folder: Path) -> None:
    """Make an environment that sees the running interpreter's packages behind its own."""
    venv.create(folder, with_pip=False, symlinks=True)
    site_packages = sysconfig.get_path("purelib")
    (own_site_packages,) = folder.glob("lib/python*/site-packages")
    (own_site_packages / "beside.pth").write_text(
        f"import site; site.addsitedir({site_packages!r})\n{ROOT}\n", encoding="utf-8"
    )


def _install(wheel: Path, name: str, python: Path, place: Path) -> None:
    constraints = place / "constraints.txt"
    constraints.write_text("".join(_pins(name)), encoding="utf-8")
    extras = [extra for extra in EXTRAS if extra in _metadata(wheel).get_all("Provides-Extra", ())]
    for chosen in dict.fromkeys([f"[{','.join(extras)}]" if extras else "", ""]):
        if add(python, [f"{wheel}{chosen}"], place):
            return
    # A version bound cannot be met: install the package alone, and each dependency at any version.
    _pip("install", "-q", "--no-deps", str(wheel), python=python)
    for requirement in _requirements(wheel, extras):
        add(python, [requirement], place)


def _pins(name: str) -> Iterator[str]:
    for distribution in distributions():
        own_name = distribution.metadata["Name"]
        if own_name and _plain(own_name) not in (_plain(name), "np2tf"):
            yield f"{own_name}=={distribution.version}\n"


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as content:
        (path,) = [name for name in content.namelist() if re.fullmatch(r"[^/]+\.dist-info/METADATA", name)]
        return Parser().parsestr(content.read(path).decode("utf-8", "replace"))


def _requirements(wheel: Path, extras: Sequence[str]) -> Iterator[str]:
    for line in _metadata(wheel).get_all("Requires-Dist", ()):
        try:
            needed = Requirement(line)
        except InvalidRequirement:  # old packages have such lines, and pip skips them, too
            continue
        if needed.marker is None or any(needed.marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            yield needed.name
