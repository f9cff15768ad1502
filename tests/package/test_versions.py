"""noxfile.py and the workflow test the versions that pyproject.toml claims, and no other versions."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from ruamel.yaml import YAML

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
#: The extras that users install; developers of np2tf need the other extras.
EXTRAS = ("tf", "gpu", "plot")


@pytest.fixture(scope="module")
def sessions() -> list[dict[str, Any]]:
    """The sessions of noxfile.py, as nox lists them."""
    command = [sys.executable, "-m", "nox", "--list", "--json", "--session", "tests", "lowest", "docs"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    return json.loads(done.stdout)


def pythons() -> list[str]:
    """The versions of Python that pyproject.toml allows."""
    allowed = SpecifierSet(PROJECT["requires-python"])
    return [f"3.{minor}" for minor in range(30) if f"3.{minor}" in allowed]


def test_every_python_has_its_sessions(sessions: list[dict[str, Any]]) -> None:
    """With the newest and with the lowest dependencies; `nox` alone runs them all."""
    names = {session["session"] for session in sessions}
    assert {f"{kind}-{python}" for kind in ("tests", "lowest") for python in pythons()} <= names
    text = (ROOT / "noxfile.py").read_text(encoding="utf-8")
    assert 'nox.options.sessions = ["tests", "lowest"]' in text
    classifiers = {f"Programming Language :: Python :: {python}" for python in pythons()}
    assert classifiers == {text for text in PROJECT["classifiers"] if ":: Python :: 3." in text}
    assert len(pythons()) >= 4


def test_the_workflow_runs_every_session(sessions: list[dict[str, Any]]) -> None:
    """Each on its own version of Python."""
    text = (ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8")
    matrix = YAML(typ="safe").load(text)["jobs"]["tests"]["strategy"]["matrix"]
    assert sorted(matrix["session"]) == sorted(session["session"] for session in sessions)
    python_of = {entry["session"]: entry["python"] for entry in matrix["include"]}
    assert python_of == {session["session"]: session["python"] for session in sessions}


@pytest.mark.parametrize("python", pythons())
def test_the_lowest_versions_are_pinned(python: str) -> None:
    """For each dependency the series of its lower bound, and no other package."""
    marked = {"python_version": python, "extra": ""}

    def chosen(texts: list[str]) -> dict[str, str]:
        requirements = [Requirement(text) for text in texts]
        return {
            one.name: next(iter(one.specifier)).version
            for one in requirements
            if one.marker is None or one.marker.evaluate(marked)
        }

    claimed = chosen(PROJECT["dependencies"])
    for extra in EXTRAS:
        claimed |= chosen(PROJECT["optional-dependencies"][extra])
    if python == "3.13":
        claimed["tensorflow"] = "2.20"  # TensorFlow 2.19 has no wheel for it
    space: dict[str, Any] = {}
    text = (ROOT / "noxfile.py").read_text(encoding="utf-8")
    exec(text[text.index("LOWEST = (") : text.index("\nnox.options")], space)
    pinned = {name: version.removesuffix(".*") for name, version in chosen(space["LOWEST"]).items()}
    longer = {name: version if "." in version else f"{version}.0" for name, version in claimed.items()}
    assert pinned == longer
