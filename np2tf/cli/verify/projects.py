"""Verifies a project with a project.toml: both sides in processes of their own, and which hot functions ran
compiled.
"""

from __future__ import annotations

import ast
import json
import os
import sys
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from np2tf.cli.verify.command_line import ROOT, RUN, EndedProcess, run_process
from np2tf.cli.verify.comparison import files_difference, own_lines, text_difference
from np2tf.cli.verify.programs import COUNTERS, Failure, Verdict
from np2tf.core.rules import tomllib
from np2tf.translator.sources.python_trees import first_line

# -- project -------------------------------------------------------------------------------------------------
# A project to verify: a package in a folder, with a `project.toml` that says how the package is run.

FILE = "project.toml"
#: The file into which a project's main() writes its results, in the folder in which it runs.
RESULTS = "results.npz"


class ProjectError(ValueError):
    """A `project.toml` cannot be used."""


@dataclass(frozen=True)
class Project:
    """The contents of a `project.toml`.

    Attributes:
        package: the name of the package, which is run as `python -m package`.
        main: "module:function", which takes the arguments of the command line as a list.
        small: the `--size` of a short run.
        hot: "module:function" and "module:Class.method" of the functions that take most of the time.
    """

    folder: Path
    package: str
    main: str
    small: int
    hot: tuple[str, ...]

    @property
    def name(self) -> str:
        """Return the name of the folder."""
        return self.folder.name

    def arguments(self, size: int | None) -> list[str]:
        """Return the command line of a run that writes its results; size None is the project's own."""
        return [*(() if size is None else ("--size", str(size))), "--out", RESULTS]


def find_projects(paths: Iterable[Path], part_of_name: str = "") -> list[Project]:
    """Return the projects among `paths`, and in the folders among them, whose name contains `part_of_name`.

    Raises:
        ProjectError: if a `project.toml` cannot be used.
    """
    files: list[Path] = []
    for path in paths:
        files += [path / FILE] if (path / FILE).is_file() else sorted(path.glob(f"*/{FILE}"))
    return [read_project(file) for file in files if part_of_name in file.parent.name]


def read_project(file: Path) -> Project:
    """Read a `project.toml`; raise ProjectError if an entry is missing or has the wrong type."""
    try:
        data: dict[str, Any] = tomllib.loads(file.read_text(encoding="utf-8"))
        hot = tuple(data.get("hot", ()))
        project = Project(file.parent.absolute(), data["package"], data["main"], data["small"], hot)
    except KeyError as error:
        raise ProjectError(f"{file}: there is no {error.args[0]!r}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ProjectError(f"{file}: {error}") from error
    names = (project.main, *hot)
    if not all(isinstance(name, str) and name.count(":") == 1 for name in names):
        raise ProjectError(f"{file}: main and hot must be written as 'module:function'")
    if not isinstance(project.package, str) or not isinstance(project.small, int):
        raise ProjectError(f"{file}: package must be a name and small a number")
    return project


# -- hot -----------------------------------------------------------------------------------------------------
# Says which of a project's hot functions ran compiled, and why the other hot functions did not.

#: A hot function runs compiled if Python enters it at most so many times as often as on NumPy.
LEFT_IN_PYTHON = 0.5
#: These words are in the message of every finding that says why a function is not jitted.
_NOT_JITTED = " is not jitted"
_INLINED_ONLY = "it has no loop, so it is compiled only as part of its callers, which ran on NumPy"


@dataclass(frozen=True)
class Hot:
    """A hot function, and where it ran.

    Attributes:
        how: where most of its calls ran: "compiled", "graph", "loops" (its loops ran as compiled code),
            "inside" (as a part of another function's compiled code) or "host".
        reasons: why its calls ran on the host.
    """

    name: str
    how: str
    reasons: tuple[str, ...] = ()

    @property
    def is_staged(self) -> bool:
        """Return whether the function ran as compiled code or as a graph."""
        return self.how != "host"


@dataclass(frozen=True)
class _Place:
    path: Path
    qualname: str
    lines: range


def hot_functions(project: Project, numpy: Mapping[str, Any], translation: Mapping[str, Any]) -> list[Hot]:
    """Return where every hot function ran in the last call of main().

    Args:
        numpy: the outcome of the project's repeated calls on NumPy.
        translation: the outcome of its repeated calls when translated.

    Raises:
        ProjectError: if the project has no function of such a name.
    """
    return [_hot(name, _place(project, name), numpy["entered"][name], translation) for name in project.hot]


def places_of(project: Project) -> dict[str, tuple[str, str, int, int]]:
    """Return where the hot functions are defined: the file, the code's name, and the first and the last line.

    Raises:
        ProjectError: if the project has no function of such a name.
    """
    places = {name: _place(project, name) for name in project.hot}
    return {
        name: (str(place.path), place.qualname.rpartition(".")[2], place.lines[0], place.lines[-1])
        for name, place in places.items()
    }


def check_hot(project: Project) -> None:
    """Check that the project defines the functions that it names; raise ProjectError if it does not."""
    for name in (project.main, *project.hot):
        _place(project, name)


def _place(project: Project, name: str) -> _Place:
    module, _, qualname = name.partition(":")
    base = project.folder.joinpath(*module.split("."))
    path = base / "__init__.py" if base.is_dir() else base.with_suffix(".py")
    error = ProjectError(f"{project.name}: there is no {name}")
    if not path.is_file():
        raise error
    definition: ast.AST = ast.parse(path.read_bytes())
    for part in qualname.split("."):
        inner = [
            node
            for node in ast.iter_child_nodes(definition)
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == part
        ]
        if not inner:
            raise error
        definition = inner[-1]
    if not isinstance(definition, ast.FunctionDef):
        raise error
    return _Place(
        path, qualname, range(first_line(definition), (definition.end_lineno or definition.lineno) + 1)
    )


def _hot(name: str, place: _Place, numpys: int, outcome: Mapping[str, Any]) -> Hot:
    entry = outcome["hot"].get(name)
    calls = entry["calls"] if entry is not None else {}
    if not numpys:
        return Hot(name, "host", ("main() does not call it on NumPy",))
    if calls.get("loops"):
        return Hot(name, "loops")
    if outcome["entered"][name] <= LEFT_IN_PYTHON * numpys:
        return Hot(name, next((how for how in ("compiled", "graph") if calls.get(how)), "inside"))
    if entry is not None:
        causes = tuple(entry["reasons"]) or ("it is jitted, but most calls stayed on NumPy",)
        return Hot(name, "host", causes)
    reasons = [
        f"{diagnostic['code']} {diagnostic['message']}"
        for diagnostic in outcome["diagnostics"]
        if _is_at(diagnostic, place) and _NOT_JITTED in diagnostic["message"]
    ]
    return Hot(name, "host", tuple(dict.fromkeys(reasons)) or (_INLINED_ONLY,))


def _is_at(entry: Mapping[str, Any], place: _Place) -> bool:
    return entry["line"] in place.lines and Path(entry["path"]) == place.path


# -- projects ------------------------------------------------------------------------------------------------
# Verify one project: run it on NumPy and translated, each in its own processes, compare and time both.

RTOL = 1e-9
"""The relative tolerance of 64-bit floats. Nothing else may differ."""
LIMIT = 900
"""The seconds that one process may take."""


@dataclass
class ProjectOutcome(Verdict):
    """The outcome of verifying one project.

    Attributes:
        numpy_seconds: the seconds of the process of `python -m`, from start to end.
        run_seconds: the seconds of the process of `np2tf run -m`, from start to end.
        numpy_main: the seconds of the fastest of several calls of main() in one process, on NumPy.
        warm_main: the seconds of the fastest translated call of main() in one process, without the first
            call.
        counts: how many calls ran where, in the last main() of a translated process.
    """

    numpy_seconds: float | None = None
    run_seconds: float | None = None
    numpy_main: float | None = None
    warm_main: float | None = None
    counts: dict[str, int] = field(default_factory=dict)
    hot: list[Hot] = field(default_factory=list)

    @property
    def run_ratio(self) -> float | None:
        """Return NumPy's seconds divided by the seconds of the translated process."""
        return _ratio(self.numpy_seconds, self.run_seconds)

    @property
    def warm_ratio(self) -> float | None:
        """Return NumPy's seconds divided by the seconds of a later main()."""
        return _ratio(self.numpy_main, self.warm_main)


def _ratio(numpy: float | None, translated_seconds: float | None) -> float | None:
    return numpy / translated_seconds if numpy and translated_seconds else None


def verify_project(
    project: Project, *, rtol: float = RTOL, repeat: int = 3, size: int | None = None, tier: str | None = None
) -> ProjectOutcome:
    """Verify one project, at the given `--size` or at its own.

    Each version runs once as a program, where text and files are compared in the order in which they come,
    and `repeat` times in one process, where they are compared call by call.

    Args:
        rtol: the relative tolerance of 64-bit floats.
        tier: the value of `np2tf.config.tier` for the translated version; None leaves the default.
    """
    outcome = ProjectOutcome(project.name)
    with tempfile.TemporaryDirectory(prefix="np2tf-verify-") as scratch:
        sides = Path(scratch, "numpy"), Path(scratch, "translated")
        try:
            check_hot(project)
            _programs(project, outcome, sides, rtol, size, tier)
            _calls(project, outcome, sides, rtol, repeat, size, tier)
        except Failure as failure:
            outcome.code, outcome.error = failure.code, str(failure)
        except ProjectError as error:
            outcome.code, outcome.error = "NP2TF926", str(error)
    return outcome


def _programs(
    project: Project,
    outcome: ProjectOutcome,
    sides: tuple[Path, Path],
    rtol: float,
    size: int | None,
    tier: str | None,
) -> None:
    """Run both versions as programs, and compare their output and files."""
    arguments = ["-m", project.package, *project.arguments(size)]
    folders = [side / "run" for side in sides]
    for folder in folders:
        folder.mkdir(parents=True)
    numpy = _process(["-u", *arguments], project, folders[0], "NP2TF921", tier)
    run = ["-u", "-c", RUN, "run", *arguments]
    translation = _process(run, project, folders[1], "NP2TF922", tier)
    outcome.numpy_seconds, outcome.run_seconds = numpy.seconds, translation.seconds
    _raise(text_difference(own_lines(numpy.output), own_lines(translation.output), rtol))
    _raise(files_difference(folders[0], folders[1], rtol))


def _calls(
    project: Project,
    outcome: ProjectOutcome,
    sides: tuple[Path, Path],
    rtol: float,
    repeat: int,
    size: int | None,
    tier: str | None,
) -> None:
    """Call main() of both versions several times, and compare call by call."""
    numpy, translation = (
        _repeat(project, side, repeat, size, code, tier)
        for side, code in zip(sides, ("NP2TF921", "NP2TF922"))
    )
    outcome.numpy_main, outcome.warm_main = min(numpy["seconds"]), min(translation["seconds"][1:])
    outcome.counts = {counter: translation["counts"][counter] for counter in COUNTERS}
    outcome.hot = hot_functions(project, numpy, translation)
    for number in range(repeat):
        text = [side["output"][number].splitlines() for side in (numpy, translation)]
        difference = text_difference(text[0], text[1], rtol)
        difference = difference or files_difference(
            sides[0] / f"call{number}", sides[1] / f"call{number}", rtol
        )
        _raise(difference and f"call {number + 1} of main(): {difference}")


def _repeat(
    project: Project, side: Path, repeat: int, size: int | None, code: str, tier: str | None
) -> dict[str, Any]:
    folders, profile_folder = [side / f"call{number}" for number in range(repeat)], side / "profiled"
    for folder in (*folders, profile_folder):
        folder.mkdir()
    outcome_file = side / "outcome.json"
    request = {
        "path": str(project.folder),
        "package": project.package,
        "main": project.main,
        "hot": places_of(project),
        "arguments": project.arguments(size),
        "folders": [str(folder) for folder in folders],
        "profiled": str(profile_folder),
        "translated": code == "NP2TF922",
        "outcome": str(outcome_file),
    }
    _process(["-m", "np2tf.cli.verify.calls"], project, side, code, tier, json.dumps(request))
    data: dict[str, Any] = json.loads(outcome_file.read_text(encoding="utf-8"))
    return data


def _raise(difference: str | None) -> None:
    if difference:
        raise Failure("NP2TF923", reason=difference)


def _process(
    arguments: list[str],
    project: Project,
    folder: Path,
    code: str,
    tier: str | None,
    input_text: str = "",
) -> EndedProcess:
    """Run a Python process; raise Failure with `code` if its exit status is not 0 or it takes too long."""
    # This np2tf comes last on the path, so that the project's own folder is searched first.
    more = {"NP2TF_TIER": tier, "PYTHONPATH": os.pathsep.join([str(project.folder), ROOT])}
    process = run_process([sys.executable, *arguments], folder, LIMIT, more, input_text=input_text)
    process.check(code, LIMIT)
    return process
