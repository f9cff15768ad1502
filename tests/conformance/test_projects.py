"""The projects of fixtures/projects: their own tests pass translated, and they do what they do on NumPy."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from np2tf.cli.verify.projects import Project, check_hot, find_projects, verify_project
from tools.packages.runs import MODES, NUMPY, Run, execute

ROOT = Path(__file__).resolve().parents[2]
PROJECTS = find_projects([ROOT / "fixtures" / "projects"])

by_project = pytest.mark.parametrize("project", PROJECTS, ids=lambda project: project.name)


def own_tests(mode: str) -> Run:
    """The tests of all projects, in one process."""
    folders = [project.folder for project in PROJECTS]
    return execute(
        ROOT / "fixtures" / "projects",
        [str(folder / "tests") for folder in folders],
        () if mode == NUMPY else [project.package for project in PROJECTS],
        environment={"PYTHONPATH": os.pathsep.join(map(str, [*folders, ROOT])), **MODES.get(mode, {})},
    )


@pytest.fixture(scope="module")
def on_numpy() -> Run:
    return own_tests(NUMPY)


def test_there_are_eight_of_several_modules():
    assert len(PROJECTS) == 8
    for project in PROJECTS:
        modules = [
            path for path in project.folder.joinpath(project.package).rglob("*.py") if path.read_text()
        ]
        assert len(modules) >= 4
        assert not [path for path in modules if "np2tf" in path.read_text()]
        assert sum(len(path.read_text().splitlines()) for path in modules) >= 200


@by_project
def test_the_hot_functions_are_there(project: Project):
    assert project.hot
    check_hot(project)


@pytest.mark.long
@by_project
def test_the_hot_functions_are_hot(project: Project):
    """The hot functions take a twentieth of main() on NumPy; near this limit, chance decides."""
    command = [sys.executable, "tools/hot_functions.py", str(project.folder), "--json"]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    shares: dict[str, float] = json.loads(told.stdout)
    assert {name for name, share in shares.items() if share > 0.06} <= set(project.hot)
    assert {name for name, share in shares.items() if share > 0.04} >= set(project.hot)


def test_own_tests_on_numpy(on_numpy: Run):
    assert set(on_numpy.outcomes.values()) == {"passed"}, on_numpy.output
    files = {name.partition("::")[0].rpartition(".")[2] for name in on_numpy.outcomes}
    assert len(files) >= len(PROJECTS)


@pytest.mark.parametrize("mode", ["default", pytest.param("compile", marks=pytest.mark.long)])
def test_own_tests_translated(on_numpy: Run, mode: str):
    translated = own_tests(mode)
    assert translated.outcomes == on_numpy.outcomes, translated.output
    for project in PROJECTS:
        assert project.package in translated.output.partition(" translated")[0].rpartition("np2tf: ")[2]


@by_project
def test_it_does_what_it_does_on_numpy(project: Project):
    outcome = verify_project(project, repeat=2, size=project.small)
    assert outcome.equal, f"{outcome.code} {outcome.error}"
    assert [hot_function.name for hot_function in outcome.hot] == list(project.hot)
    assert all(hot_function.is_staged != bool(hot_function.reasons) for hot_function in outcome.hot)


@pytest.mark.slow
@pytest.mark.parametrize("name", [pytest.param("stepwise", marks=pytest.mark.long), "tapline"])
def test_two_do_so_compiled_at_the_first_call(name: str):
    check_compiled(*[project for project in PROJECTS if project.name == name])


@pytest.mark.long
@by_project
def test_all_do_so_compiled_at_the_first_call(project: Project):
    check_compiled(project)


def check_compiled(project: Project) -> None:
    outcome = verify_project(project, repeat=2, size=project.small, tier="compile")
    assert outcome.equal, f"{outcome.code} {outcome.error}"


@pytest.mark.long
@by_project
def test_it_does_so_at_full_size(project: Project):
    outcome = verify_project(project, repeat=2)
    assert outcome.equal, f"{outcome.code} {outcome.error}"
    assert outcome.numpy_main > 1
