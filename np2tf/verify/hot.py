"""Says which of a project's hot functions ran compiled, and why the other hot functions did not."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from np2tf.verify.project import Project, ProjectError

#: A hot function runs compiled if Python enters it at most so many times as often as on NumPy.
LEFT_IN_PYTHON = 0.5
#: These words are in the message of every finding that says why a function is not jitted.
_NOT_JITTED = " is not jitted"
_INLINED_ONLY = "it has no loop, so it is compiled as a part of its callers only, which ran on the host"


@dataclass(frozen=True)
class Hot:
    """A hot function, and where it ran.

    Attributes:
        name: the name that the project gives it.
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
        project: the project that was run.
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
    """Check that the project defines the functions that it names.

    Raises:
        ProjectError: if there is no function of such a name.
    """
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
    first = min((decorator.lineno for decorator in definition.decorator_list), default=definition.lineno)
    return _Place(path, qualname, range(first, (definition.end_lineno or definition.lineno) + 1))


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
        causes = tuple(entry["reasons"]) or ("it is jitted, but most calls were left on the host",)
        return Hot(name, "host", causes)
    reasons = [
        f"{diagnostic['code']} {diagnostic['message']}"
        for diagnostic in outcome["diagnostics"]
        if _is_at(diagnostic, place) and _NOT_JITTED in diagnostic["message"]
    ]
    return Hot(name, "host", tuple(dict.fromkeys(reasons)) or (_INLINED_ONLY,))


def _is_at(entry: Mapping[str, Any], place: _Place) -> bool:
    return entry["line"] in place.lines and Path(entry["path"]) == place.path
