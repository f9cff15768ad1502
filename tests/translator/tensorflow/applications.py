"""The kernels of benchmarks/ and the projects of fixtures/ as programs that return what is to be compared."""

from __future__ import annotations

import ast
import sys
from functools import lru_cache
from pathlib import Path

from np2tf.translator.batch.programs import translate_sources
from np2tf.translator.pipeline import Result
from np2tf.translator.sources.names_between_files import reexports_of
from np2tf.translator.tree.source import Source
from tests.translator.tensorflow.programs import for_tensorflow, reasons, refusals
from tests.translator.tensorflow.projects import with_shared_module

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[3]
KERNELS = ROOT / "benchmarks" / "kernels"
PROJECTS = ROOT / "fixtures" / "projects"
Files = dict[str, str]

_MAIN = """


def main():
    names = {{}}
    exec({arguments!r}, names)
    args = [copied(one) for one in names["initialise"](names["SMALL"])]
    result = kernel(*args)
    {after}
    return result, args
"""
_ORIGINAL = "\n\ndef copied(one):\n    return one\n"
_TRANSLATION = """

import numpy
import tensorflow


def copied(one):
    return tensorflow.constant(one) if isinstance(one, numpy.ndarray) else one
"""


@lru_cache(maxsize=1)
def kernels() -> dict[str, tuple[str, Result]]:
    """Every kernel: its text and what becomes of it."""
    paths = sorted(KERNELS.glob("*.py"))
    return {path.stem: (path.read_text(), for_tensorflow(path.read_text(), str(path))) for path in paths}


def changed_kernels() -> list[str]:
    """The names of the kernels of which something is translated."""
    return [name for name, (_, made) in kernels().items() if made.changed and not refusals(made)]


def translated_kernels() -> list[str]:
    """The names of the kernels that are translated: the function takes tensors alone."""
    return [name for name in changed_kernels() if not _takes_arrays(kernels()[name][1])]


def _takes_arrays(made: Result) -> bool:
    """True if the function `kernel`, or one of its parameters, stays on NumPy."""
    return any("`kernel`" in reason for reason in reasons(made))


def kernel_program(name: str) -> tuple[str, str]:
    """A kernel and its translation, as programs that return the result and the arguments after the call."""
    text, made = kernels()[name]
    path = KERNELS / "arguments" / f"{name}.py"
    arguments = path.read_text() if path.exists() else text
    after = _assignments(text, made)
    return (
        text + _ORIGINAL + _MAIN.format(arguments=arguments, after="pass"),
        made.text
        + (_ORIGINAL if _takes_arrays(made) else _TRANSLATION)
        + _MAIN.format(arguments=arguments, after=after),
    )


def _assignments(text: str, made: Result) -> str:
    """The statements that put the arrays which a translated kernel returns in the place of the arguments."""
    before, after = _function(text), _function(made.text)
    note = [dict(one.args) for one in made.diagnostics if one.code == "NP2TF609"]
    written = next((one["parameters"].split(", ") for one in note if one["name"] == "kernel"), [])
    names = [one.arg for one in after.args.args]
    places = [f"args[{names.index(one)}]" for one in names if one in written]
    old, new = _returned(before), _returned(after)
    if not written:
        return "pass"
    if old is None:
        return f"{', '.join(places)} = result; result = None"
    is_own = isinstance(new, ast.Tuple) == isinstance(old, ast.Tuple)
    if is_own and not (isinstance(old, ast.Tuple) and isinstance(new.elts[0], ast.Tuple)):
        parts = new.elts if isinstance(new, ast.Tuple) else [new]
        found = [one.id if isinstance(one, ast.Name) else "" for one in parts]
        targets = [f"args[{names.index(one)}]" if one in written else "_" for one in found]
        return f"{', '.join(targets)} = result" if isinstance(new, ast.Tuple) else f"{targets[0]} = result"
    return f"result, {', '.join(places)} = result"


def _function(text: str) -> ast.FunctionDef:
    return next(
        node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef) and node.name == "kernel"
    )


def _returned(function: ast.FunctionDef) -> ast.expr | None:
    stack: list[ast.AST] = list(function.body)
    found = None
    while stack:
        node = stack.pop(0)
        if isinstance(node, ast.Return):
            found = node.value
        elif not isinstance(node, ast.FunctionDef):
            stack += ast.iter_child_nodes(node)
    return found


def _project_files(name: str) -> Files:
    folder = PROJECTS / name
    return {
        path.relative_to(folder).as_posix(): path.read_text()
        for path in sorted((folder / name).rglob("*.py"))
    }


@lru_cache(maxsize=1)
def projects() -> dict[str, tuple[Files, dict[str, Result]]]:
    """Every project: its modules and what becomes of them."""
    found = {}
    for folder in sorted(path.parent for path in PROJECTS.glob("*/project.toml")):
        files = _project_files(folder.name)
        sources = [Source.of(text, path) for path, text in files.items()]
        names = reexports_of([(Path(path), text.encode()) for path, text in files.items()])
        reexports = [names.get(Path(path), ()) for path in files]
        results = dict(zip(files, translate_sources(sources, ["."] * len(files), reexports)))
        found[folder.name] = (files, with_shared_module(results))
    return found


def changed_projects() -> list[str]:
    """The names of the projects of which something is translated."""
    return [name for name, (_, made) in projects().items() if any(one.changed for one in made.values())]


def translated_projects() -> list[str]:
    """The names of the projects of which no module is refused."""
    return [name for name, (_, made) in projects().items() if not any(refusals(one) for one in made.values())]


def project_program(name: str) -> tuple[Files, Files]:
    """A project and its translation, with a module that runs it."""
    files, made = projects()[name]
    settings = tomllib.loads((PROJECTS / name / "project.toml").read_text())
    module, _, function = settings["main"].partition(":")
    small = str(settings["small"])
    program = (
        f"from {module} import {function} as run\n\n\ndef main():\n    return run(['--size', {small!r}])\n"
    )
    run = {"program.py": program}
    return {**files, **run}, {**{path: one.text for path, one in made.items()}, **run}
