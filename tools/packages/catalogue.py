"""The catalogue of packages: tests/corpus/packages.toml."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent.parent
CATALOGUE = ROOT / "tests" / "corpus" / "packages.toml"


@dataclass(frozen=True)
class Package:
    """A package's source distribution, and how its tests are run from the unpacked folder.

    Attributes:
        module: the name by which the package is imported.
        set: "dev" or "more".
        passed: how many of its tests pass on plain NumPy.
        folder: the name of the folder in the archive, and of the archive without its ending.
        needs: the modules that its tests import besides numpy and pytest.
        arguments: the arguments of pytest besides its options.
        environment: the environment variables that its tests need.
        by_chance: names of tests that sometimes fail on NumPy itself, because their random numbers have no
            seed.
    """

    name: str
    version: str
    sha256: str
    module: str
    set: str
    passed: int
    folder: str
    needs: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    by_chance: tuple[str, ...] = ()


def catalogue() -> tuple[Package, ...]:
    """Return every package, in the order of the file."""
    entries = tomllib.loads(CATALOGUE.read_text(encoding="utf-8"))["package"]
    return tuple(_package(entry) for entry in entries)


def _package(entry: dict[str, object]) -> Package:
    fields = {**entry, "module": entry["import"]}
    del fields["import"]
    fields.setdefault("folder", f"{entry['name']}-{entry['version']}")
    for name in ("needs", "arguments", "by_chance"):
        fields[name] = tuple(fields.get(name, ()))  # type: ignore[arg-type]
    return Package(**fields)  # type: ignore[arg-type]
