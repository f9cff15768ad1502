"""Packages by other authors: their own, unchanged tests pass on the translated modules as on NumPy."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from tools.packages import runs as packages_runs
from tools.packages.catalogue import Package, catalogue
from tools.packages.fetch import FetchError, missing, unpacked
from tools.packages.known import Known, judge, known_failures
from tools.packages.runs import MODES, Run, run

DEV = [package for package in catalogue() if package.set == "dev"]
#: Packages whose tests take more than ten seconds, on NumPy and translated.
LONG = {"EMD-signal", "ahrs", "filterpy", "findiff", "pydoe3", "scikit-fuzzy", "transforms3d"}
RUNS = [
    pytest.param(package, marks=pytest.mark.long if package.name in LONG else (), id=package.name)
    for package in DEV
]


@pytest.mark.corpus
@pytest.mark.parametrize("package", RUNS)
def test_own_tests(package: Package, pytestconfig: pytest.Config) -> None:
    """Of the tests that pass on plain NumPy, exactly the tests that the list names fail translated."""
    if missing(package):
        pytest.skip(f"the tests of {package.name} need {', '.join(missing(package))}")
    try:
        folder = unpacked(package, Path(pytestconfig.cache.mkdir("np2tf-packages")))
    except FetchError as error:
        if "pip cannot get" not in str(error):
            raise
        pytest.skip(str(error))
    plain = run(package, folder)
    assert len(plain.passed) == package.passed, plain.output
    translated = run(package, folder, "default")
    verdict = judge(package.name, "default", plain, translated, known_failures())
    assert not verdict.unlisted, translated.output
    assert not verdict.stale
    assert f"np2tf: {package.module} translated" in translated.output


def test_known_failures_name_packages_of_the_catalogue() -> None:
    """Every entry of the list is about a package that is run."""
    packages = {package.name for package in catalogue()}
    assert {failure.package for failure in known_failures()} <= packages


def outcome(**outcomes: str) -> Run:
    return Run(outcomes, {}, 0.0, "")


@pytest.mark.parametrize(
    ("runs", "tries"),
    [
        ([{"t::lucky": "failed"}, {"t::lucky": "passed"}], 2),
        ([{"t::lucky": "failed"}] * 3, 3),
        ([{"t::lucky": "failed", "t::other": "failed"}], 1),
        ([{"t::lucky": "failed", "t::other": "error"}], 1),
        ([{"t::lucky": "error"}], 1),
        ([{}], 1),
    ],
)
def test_only_what_fails_by_chance_has_another_try(
    runs: list[dict[str, str]], tries: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A test that `by_chance` does not name, or that breaks otherwise, has 1 try; a named test has 3."""
    left = [outcome(**run) for run in runs]
    monkeypatch.setattr(packages_runs, "_run_once", lambda *given: left.pop(0))
    package = dataclasses.replace(DEV[0], by_chance=("lucky",))
    assert run(package, tmp_path).outcomes == runs[tries - 1]
    assert len(runs) - len(left) == tries


def test_judgement() -> None:
    """A failure that is not listed and an entry that does not fail are found, by mode."""
    plain = outcome(a="passed", b="passed", c="passed", d="failed")
    translated = outcome(a="passed", b="failed", d="failed")
    b = Known("p", "b", "why", tuple(MODES))
    verdict = judge("p", "default", plain, translated, [b])
    assert verdict.unlisted == ("c",)
    assert verdict.known == (b,)
    assert not verdict
    a = Known("p", "a", "why", ("compile",))
    c = Known("p", "c", "why", ("default",))
    assert judge("p", "default", plain, translated, [a, b, c])
    assert judge("p", "compile", plain, translated, [a, b, c]).stale == (a,)
    assert judge("p", "compile", plain, translated, [a, b, c]).unlisted == ("c",)
    assert judge("other", "default", plain, translated, [b]).unlisted == ("b", "c")
