"""Packages that nobody looked at before: which are drawn, where their tests are, what their runs say."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.helpers.command_runner import CliRunner
from tools import corpus
from tools.packages import drawn, sdist, trial, trials
from tools.packages.fetch import FetchError
from tools.packages.layout import test_arguments as arguments_of
from tools.packages.runs import Run, execute

PASSING = "def test_one():\n    assert True\n"


def files(folder: Path, *names: str) -> Path:
    """A folder with these files."""
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(PASSING)
    return folder


def test_the_draw_is_the_same_for_everyone() -> None:
    """The list has 300 packages, sorted, and none of the catalogue; a seed always gives the same draw."""
    names = drawn.candidates()
    assert len(set(names)) == 300
    assert names == sorted(names)
    assert not {name.partition("==")[0] for name in names} & {package.name for package in corpus.catalogue()}
    assert drawn.draw(3, 20261122) == ["vectormath==0.2.2", "smt==2.15.0", "nolds==0.2.1"]
    assert drawn.draw(45, 20261122)[:3] == drawn.draw(3, 20261122)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["tests/test_a.py", "tests/deep/test_b.py", "tests/helper.py"], ("tests",)),
        (["pkg/tests/test_a.py", "pkg/sub/test/b_test.py"], ("pkg/sub/test", "pkg/tests")),
        (["pkg/test_a.py", "pkg/a.py"], ("pkg/test_a.py",)),
        (["tests/tests.py"], ("tests/tests.py",)),
        (["tests/test_a.py", "tests/tests.py"], ("tests", "tests/tests.py")),
        (["docs/test_a.py", "build/lib/pkg/test_a.py", "tests/test_b.py"], ("tests",)),
    ],
)
def test_where_tests_are(names: list[str], expected: tuple[str, ...], tmp_path: Path) -> None:
    """Folders of tests, and files beside them whose names only custom makes tests."""
    assert arguments_of(files(tmp_path, *names)) == expected


def test_tests_in_the_modules_themselves(tmp_path: Path) -> None:
    """They are run where there are no files of tests."""
    (files(tmp_path, "pkg/a.py") / "pkg" / "b.py").write_text("ONE = 1\n")
    assert arguments_of(tmp_path) == ("pkg/a.py",)
    assert arguments_of(files(tmp_path, "tests/test_a.py")) == ("tests",)


def test_names_of_modules(tmp_path: Path) -> None:
    """`modules_of` gives the names that import a wheel's modules, without its tests and its metadata."""
    wheel = tmp_path / "p-1-py3-none-any.whl"
    with ZipFile(wheel, "w") as content:
        for name in (
            "pkg/__init__.py",
            "one.py",
            "tests/test_a.py",
            "p-1.dist-info/METADATA",
            "pkg/data.txt",
        ):
            content.writestr(name, "")
    assert sdist.modules_of(wheel) == ("pkg", "one")


def test_extension_modules_are_told_by_their_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is built for a package that is not pure Python."""
    files(tmp_path / "p-1", "p/__init__.py", "p/fast.pyx")

    def download(*given: str, python: Path | None = None) -> None:
        assert given[0] == "download"
        with tarfile.open(tmp_path / "all" / "p-1" / "p-1.tar.gz", "w:gz") as tar:
            tar.add(tmp_path / "p-1", "p-1")

    monkeypatch.setattr(sdist, "_pip", download)
    with pytest.raises(FetchError, match="extension modules"):
        sdist.installed("p==1", tmp_path / "all")
    record = trial.on_numpy("p==1", tmp_path / "all", 10)
    assert record == {"package": "p==1", "kept": False, "reason": record["reason"]}
    assert "fast.pyx" in record["reason"]


def test_a_run_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    """Its children are ended as well, and nothing of it counts."""
    (tmp_path / "test_it.py").write_text("import time\ndef test_long():\n    time.sleep(60)\n")
    run = execute(tmp_path, (), timeout=3)
    assert not run.ended
    assert not run.outcomes
    assert run.seconds < 30


def test_the_last_line_of_an_error(tmp_path: Path) -> None:
    """The record of a failed test has the line of its error message, not the place of the error."""
    (tmp_path / "test_it.py").write_text("def test_wrong():\n    assert [1] == [2], 'never'\n")
    run = execute(tmp_path, ())
    assert run.outcomes == {"test_it::test_wrong": "failed"}
    assert run.errors["test_it::test_wrong"]


@pytest.fixture
def no_packages(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Three packages: "good" passes, "poor" fails translated, "bad" is not kept."""

    def on_numpy(wanted: str, folder: Path, timeout: float) -> dict[str, object]:
        if wanted == "bad==1":
            return {"package": wanted, "kept": False, "reason": "no tests"}
        found = {"package": wanted, "kept": True, "modules": ["m"], "arguments": ["tests"]}
        return {
            **found,
            "source": ".",
            "python": "python",
            "numpy": {"passed": ["t::a", "t::b"], "seconds": 1},
        }

    def run(folder: Path, arguments: object, modules: object, timeout: float, *details: object) -> Run:
        outcomes = {"t::a": "passed", "t::b": "passed" if "good" in str(folder) else "failed"}
        output = "jitted calls: 3 compiled, 2 graph, 1 on NumPy (0 of them could not be compiled); 4 traces"
        return Run(outcomes, {}, 2.0, output, {"t::b": "ValueError: no"})

    monkeypatch.setattr(trials, "on_numpy", on_numpy)
    monkeypatch.setattr(trial, "execute", run)
    for name in ("good", "poor", "bad"):
        (tmp_path / name / f"{name}-1").mkdir(parents=True)
    return tmp_path


@pytest.mark.parametrize(("name", "status"), [("good", 0), ("poor", 1), ("bad", 1)])
def test_what_a_trial_says(no_packages: Path, name: str, status: int) -> None:
    """Counts of tests and calls, and every test that fails only translated with its error."""
    given = ["--pypi", f"{name}==1", "--folder", str(no_packages / name), "--json"]
    result = CliRunner().invoke(corpus.main, given)
    assert result.exit_code == status, result.output
    (record,) = json.loads(result.stdout)
    if name == "bad":
        assert record["reason"] == "no tests"
        return
    made = record["translated"]
    assert made["calls"] == {"compiled": 3, "graph": 2, "host": 1}
    assert made["fails_only_translated"] == ({} if name == "good" else {"t::b": "ValueError: no"})
    assert made["passed"] == (2 if name == "good" else 1)
    text = CliRunner().invoke(corpus.main, given[:-1])
    assert f"{name}==1" in text.stdout
    only = CliRunner().invoke(corpus.main, [*given, "--numpy-only"])
    assert only.exit_code == 0
    assert "translated" not in json.loads(only.stdout)[0]
