"""What `np2tf check` says of functions that call other modules is what becomes of them at run time."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from linked_programs import ACTING, COMPUTING, PROGRAMS, sources

import np2tf
from np2tf.counts import counts
from np2tf.files import python_files
from np2tf.project import Project
from np2tf.rewrites.control.fates import Fate


def write(folder: Path, files: dict[str, str]) -> Path:
    """The files of a package."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def told(folder: Path) -> dict[str, Fate]:
    """What becomes of the package's functions, each by its file and name."""
    project = Project(list(python_files([folder])), with_fates=True)
    list(project.outcomes())
    return {f"{path.stem}.{fate.name}": fate for path, fate in project.fates()}


def findings(folder: Path) -> list[str]:
    """What is found when all files are known."""
    project = Project(list(python_files([folder])))
    list(project.outcomes())
    return [str(found) for found in project.findings()]


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder for the package `pk`."""
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path / "pk"
    _forget()


def _forget() -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "pk"]:
        del sys.modules[name]


def _with_the_loop(fates: dict[str, Fate]) -> Fate:
    """The function of a program that its main part is in."""
    names = ("steps.stepped", "base.Base.fit", "main.Model.fit", "main.fit", "main.run")
    return next(fates[name] for name in names if name in fates and fates[name].loops)


@pytest.mark.parametrize("name", PROGRAMS)
def test_one_that_acts_keeps_its_callers_on_the_host(name: str, package: Path) -> None:
    fates = told(write(package, sources(PROGRAMS[name], ACTING)))
    fate = _with_the_loop(fates)
    assert fate.fate == "host"
    assert re.search(r"`act` \(.*work\.py:4\), which cannot be staged: it calls `open`", fate.reason)


@pytest.mark.parametrize("name", PROGRAMS)
def test_one_that_computes_keeps_nobody(name: str, package: Path) -> None:
    fates = told(write(package, sources(PROGRAMS[name], COMPUTING)))
    assert _with_the_loop(fates).fate != "host"
    assert not findings(package)


@pytest.mark.parametrize("acts", [True, False])
@pytest.mark.parametrize("name", PROGRAMS)
def test_it_is_what_happens(name: str, acts: bool, package: Path) -> None:
    """Functions that are said to be staged are, and the others run on the host; results are NumPy's."""
    write(package, sources(PROGRAMS[name], ACTING if acts else COMPUTING))
    wanted = importlib.import_module("pk.main").main()
    _forget()
    with np2tf.config.using(tier="compile"), np2tf.translating("pk"):
        module: Any = importlib.import_module("pk.main")
        before, known = counts.compiled + counts.graph, len(counts.fallbacks)
        found = module.main()
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-14)
    reasons = [one.reason for one in counts.fallbacks[known:]]
    assert (counts.compiled + counts.graph > before) is not acts, reasons
