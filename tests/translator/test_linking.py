"""`np2tf check` tells the fates of functions that call other modules as they are at run time."""

from __future__ import annotations

import importlib
import marshal
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import libcst as cst
import numpy as np
import pytest

import np2tf
from np2tf.cli.files import python_files
from np2tf.core.counts import counts
from np2tf.translator.batch.project import Project
from np2tf.translator.control.fates import Fate
from np2tf.translator.control.summaries import summarise
from np2tf.translator.facts.facts import Facts
from np2tf.translator.sources.options import Options
from tests.helpers.linked_programs import ACTING, COMPUTING, PROGRAMS, sources


def write(folder: Path, files: dict[str, str]) -> Path:
    """The files of a package."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def told(folder: Path) -> dict[str, Fate]:
    """Return the fates of the package's functions, each by its file and name."""
    project = Project(list(python_files([folder])), with_fates=True)
    list(project.outcomes())
    return {f"{path.stem}.{fate.name}": fate for path, fate in project.fates()}


def findings(folder: Path) -> list[str]:
    """Return the findings of a check that knows all files."""
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
    assert fate.fate == "interpreted"
    assert re.search(r"`act` \(.*work\.py:4\), which cannot be compiled: it calls `open`", fate.reason)


@pytest.mark.parametrize("name", PROGRAMS)
def test_one_that_computes_keeps_nobody(name: str, package: Path) -> None:
    fates = told(write(package, sources(PROGRAMS[name], COMPUTING)))
    assert _with_the_loop(fates).fate != "interpreted"
    assert not findings(package)


@pytest.mark.parametrize("acts", [True, False])
@pytest.mark.parametrize("name", PROGRAMS)
def test_it_is_what_happens(name: str, acts: bool, package: Path) -> None:
    """Functions that are said to be staged are staged, and the other functions run on the host; results are
    NumPy's.
    """
    write(package, sources(PROGRAMS[name], ACTING if acts else COMPUTING))
    wanted = importlib.import_module("pk.main").main()
    _forget()
    with np2tf.config.using(tier="compile"), np2tf.translating("pk"):
        module: Any = importlib.import_module("pk.main")
        before, known = counts.compiled + counts.graph, len(counts.fallbacks)
        found = module.main()
    for result, wanted_result in zip(found, wanted, strict=True):
        np.testing.assert_allclose(result, wanted_result, rtol=1e-14)
    reasons = [fallback.reason for fallback in counts.fallbacks[known:]]
    assert (counts.compiled + counts.graph > before) is not acts, reasons


#: Programs in which `act` opens a file, and a call of it is not certain.
UNCERTAIN = {
    "one entry of a table": """
        from .work import act

        def other(x):
            return x + 1.0

        def run(x, name="b"):
            for i in range(5):
                x = x * 0.5 + {"a": act, "b": other}[name](x)
            return x
        """,
    "under a test": """
        from .work import act

        def run(x, name="b"):
            for i in range(5):
                x = x * 0.5
                if name == "a":
                    x = act(x)
            return x if name == "b" else act(x)
        """,
    "behind `and`": """
        from .work import act

        def run(x, name=""):
            for i in range(5):
                x = x * 0.5
            done = name and act(x)
            return x
        """,
    "behind a return under a test": """
        from .work import act

        def run(x, name="b"):
            for i in range(5):
                x = x * 0.5
            if name == "b":
                return x
            return act(x)
        """,
    "in an exception's message": """
        from .work import act

        def run(x):
            for i in range(5):
                x = x * 0.5
            if x.ndim > 3:
                raise ValueError(act(x))
            return x
        """,
    "in an inner function that nobody calls": """
        from .work import act

        def run(x):
            def later(x):
                return act(x)
            for i in range(5):
                x = x * 0.5
            return x
        """,
    "in a method that a class elsewhere overrides": """
        from .models import Model

        def run(x):
            return Model().fit(x)
        # file base.py
        from .work import act

        class Base:
            def step(self, x):
                return act(x)

            def fit(self, x):
                for i in range(x.shape[0]):
                    x = x * 0.5 + self.step(x)
                return x
        # file models.py
        from .base import Base

        class Model(Base):
            def step(self, x):
                return x * 0.5
        """,
    "under a name that is bound twice": """
        try:
            from .nowhere import act
        except ImportError:
            from .work import act

        def act2(x):
            return x * 2.0

        def run(x):
            for i in range(5):
                x = x * 0.5 + act2(x)
            return x
        """,
    "by a decorator that gives something else": """
        from .tools import scaled

        def run(x):
            for i in range(5):
                x = x * 0.5 + scaled(x)
            return x
        # file tools.py
        from .work import act

        def instead(function):
            def inner(x):
                return x * 2.0
            return inner

        @instead
        def scaled(x):
            return act(x)
        """,
}


@pytest.mark.parametrize("name", UNCERTAIN)
def test_what_need_not_be_reached_keeps_nobody(name: str, package: Path) -> None:
    """Neither for `check`, nor at run time."""
    write(package, sources(UNCERTAIN[name], ACTING))
    fate = _with_the_loop(told(package))
    assert fate.fate == "compiled"
    assert not any(
        f"`{fate.name.rpartition('.')[2]}` run on NumPy" in finding for finding in findings(package)
    )
    assert _is_compiled()


def _is_compiled() -> bool:
    """Return whether some call of `pk.main.main()` is compiled."""
    with np2tf.config.using(tier="compile"), np2tf.translating("pk"):
        module: Any = importlib.import_module("pk.main")
        before = counts.compiled + counts.graph
        module.main()
    return counts.compiled + counts.graph > before


@pytest.mark.parametrize(
    "call",
    [
        "copy.copy(x)",
        "x * len(json.dumps([1]))",
        "x * os.getpid()",
        "x * len(pickle.dumps(1))",
        "x * random.random()",
        "x * len(shutil.which('sh') or '')",
        "x * len(subprocess.list2cmdline(['a']))",
        "x * time.time()",
    ],
)
def test_functions_of_pythons_own_library(call: str, package: Path) -> None:
    """Functions of some modules are known to end every trace."""
    imports = "import copy, json, os, pickle, random, shutil, subprocess, time\n"
    write(package, sources(PROGRAMS["from import"], f"{imports}\n\ndef act(x):\n    return {call}\n"))
    fate = told(package)["main.run"]
    assert fate.fate == "interpreted"
    assert "which has side effects" in fate.reason
    assert not _is_compiled()


def test_the_finding(package: Path) -> None:
    """A function is jitted and runs on the host: said once, where it stands, unless a comment asks not to."""
    files = sources(PROGRAMS["from import"], ACTING)
    write(package, files)
    (found,) = findings(package)
    assert found.startswith(
        f"{package / 'main.py'}:5:1: NP2TF402 calls of `run` run on NumPy: it calls `act`"
    )
    files["main.py"] = files["main.py"].replace("def run(x):", "def run(x):  # np2tf: ignore[NP2TF402]")
    write(package, files)
    assert not findings(package)


def test_what_refers_to_itself_ends(package: Path) -> None:
    """Star imports, classes, names and attributes in circles."""
    files = {
        "__init__.py": "",
        "a.py": """\
import libcst as cst
import numpy as np
from .b import *
from .b import B


class A(B):
    def __init__(self):
        self.x = self.y
        self.y = self.x

    def fit(self, x):
        for i in range(9):
            x = np.sin(x) + self.x.go(x) + self.fit(x) + step(x) + missing(x) + deep(x)
        return x


step = again
""",
        "b.py": """\
from .a import *
from .a import A, step as again


class B(A):
    pass


def deco(f):
    def inner(x):
        return deco(inner)(x)
    return inner


@deco
def deep(x):
    return deep(x)
""",
    }
    assert told(write(package, files))["a.A.fit"].loops


def test_summaries_are_plain_data(package: Path) -> None:
    """They can be kept: they hold texts, numbers and tuples, and nothing of the file's tree."""

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {plain(key): plain(item) for key, item in value.items()}
        return tuple(map(plain, value)) if isinstance(value, tuple) else value

    for name, program in PROGRAMS.items():
        for file in write(package / name.replace(" ", "_"), sources(program, ACTING)).glob("*.py"):
            text = file.read_text()
            made = summarise(Facts.of(cst.parse_module(text)), text, str(file), Options())
            assert made.functions or not text.strip() or "import" in text
            marshal.dumps(plain(made))
