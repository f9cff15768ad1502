"""The layers: who may import whom, told by reading the sources."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "np2tf"

# What each part of the package may import of it. Longest name first decides which part a module belongs to.
FLOOR = ("np2tf.rules", "np2tf.draws", "np2tf.suppressions", "np2tf.diagnostics")
TREE = ("np2tf.tree", *FLOOR)
FACTS = ("np2tf.facts", "np2tf.summary", *TREE)
REWRITES = ("np2tf.rewrites", "np2tf.options", *FACTS)
TRANSLATE = ("np2tf.pipeline", "np2tf.candidates", *REWRITES)
RIGHT_FLOOR = ("np2tf.config", "np2tf.counts", "np2tf.lazy", "np2tf.staging", *FLOOR)
TNP = ("np2tf.tnp", *RIGHT_FLOOR)
SCIPY = ("np2tf.scipy", *TNP)
RUNTIME = ("np2tf.runtime", *SCIPY)
ALLOWED: dict[str, tuple[str, ...]] = {
    "np2tf.rules": ("np2tf.draws",),
    "np2tf.draws": (),
    "np2tf.suppressions": (),
    "np2tf.diagnostics": ("np2tf.rules", "np2tf.suppressions"),
    "np2tf.coverage": ("np2tf.rules",),
    "np2tf.options": (),
    "np2tf.discovery": ("np2tf.configuration", "np2tf.options", *FLOOR),
    "np2tf.configuration": ("np2tf.configuration", "np2tf.options", *FLOOR),
    "np2tf.candidates": (),
    "np2tf.config": FLOOR,
    "np2tf.backend": ("np2tf.config", *FLOOR),
    "np2tf.counts": FLOOR,
    "np2tf.lazy": (),
    "np2tf.staging": ("np2tf.config", *FLOOR),
    "np2tf.tree": TREE,
    "np2tf.facts": FACTS,
    "np2tf.rewrites": REWRITES,
    "np2tf.pipeline": TRANSLATE,
    "np2tf.outcome": FLOOR,
    "np2tf.patches": (),
    "np2tf.writing": (),
    "np2tf.safety": TRANSLATE,
    "np2tf.notebooks": TREE,
    "np2tf.files": ("np2tf.notebooks", "np2tf.outcome", "np2tf.safety", *TRANSLATE),
    "np2tf.conversion": (
        *("np2tf.conversion", "np2tf.files", "np2tf.outcome", "np2tf.patches", "np2tf.options"),
        *("np2tf.discovery", "np2tf.imports.store", "np2tf.imports.cache", "np2tf.imports.fingerprint"),
        *FLOOR,
    ),
    "np2tf.summary": (),
    "np2tf.linking": ("np2tf.linking", "np2tf.summary"),
    "np2tf.project": (
        *("np2tf.files", "np2tf.outcome", "np2tf.linking", "np2tf.notebooks", "np2tf.conversion.workers"),
        *TRANSLATE,
    ),
    "np2tf.formats": FLOOR,
    "np2tf.checking": (
        *("np2tf.candidates", "np2tf.notebooks", "np2tf.project", "np2tf.writing", "np2tf.options"),
        *TREE,
    ),
    "np2tf.tnp": TNP,
    "np2tf.scipy": SCIPY,
    "np2tf.runtime": RUNTIME,
}
LEFT = (
    *("np2tf.tree", "np2tf.facts", "np2tf.rewrites", "np2tf.pipeline", "np2tf.files", "np2tf.options"),
    *("np2tf.summary", "np2tf.linking", "np2tf.project", "np2tf.configuration", "np2tf.discovery"),
    *("np2tf.outcome", "np2tf.patches", "np2tf.writing", "np2tf.safety", "np2tf.conversion", "np2tf.formats"),
    *("np2tf.checking", "np2tf.notebooks"),
)
RIGHT = (
    "np2tf.tnp",
    "np2tf.scipy",
    "np2tf.runtime",
    "np2tf.config",
    "np2tf.counts",
    "np2tf.lazy",
    "np2tf.staging",
)
BOTH = ("np2tf.rules", "np2tf.suppressions", "np2tf.diagnostics", "np2tf.coverage")


def modules() -> dict[str, Path]:
    """Every module of the package by name."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = ["np2tf", *path.relative_to(PACKAGE).with_suffix("").parts]
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


def belongs(module: str, parts: tuple[str, ...]) -> bool:
    """Whether a module is one of these parts of the package, or inside one."""
    return any(module == part or module.startswith(part + ".") for part in parts)


def imports(module: str, *, at_import: bool = False) -> set[str]:
    """What a module imports, by full name; with `at_import`, only what is imported when it is loaded."""
    tree = ast.parse(MODULES[module].read_text(encoding="utf-8"))
    found: set[str] = set()
    stack: list[ast.AST] = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            stack.extend(node.orelse)
            continue
        if at_import and isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= _from(module, node)
        stack.extend(ast.iter_child_nodes(node))
    return found


def _from(module: str, node: ast.ImportFrom) -> set[str]:
    base = node.module or ""
    if node.level:
        package = module if MODULES[module].name == "__init__.py" else module.rpartition(".")[0]
        parts = package.split(".")
        base = ".".join([*parts[: len(parts) - node.level + 1], *([base] if base else [])])
    full = {f"{base}.{alias.name}" for alias in node.names}
    return {name if name in MODULES else base for name in full}


@pytest.mark.parametrize("module", sorted(MODULES))
def test_imports_go_down(module: str) -> None:
    """No module imports upwards or across."""
    layer = next((part for part in sorted(ALLOWED, key=len, reverse=True) if belongs(module, (part,))), None)
    if layer is None:
        assert module == "np2tf" or belongs(module, ("np2tf.commands", "np2tf.imports", "np2tf.verify"))
        return
    ours = {name for name in imports(module) if belongs(name, ("np2tf",)) and name != module}
    wrong = {name for name in ours if not belongs(name, (layer, *ALLOWED[layer]))}
    assert not wrong


@pytest.mark.parametrize("module", sorted(MODULES))
def test_columns(module: str) -> None:
    """The left column has no tensorflow and no numpy, the right one no libcst, and the floor none of them."""
    outside = {name.split(".")[0] for name in imports(module)}
    if belongs(module, LEFT + BOTH):
        assert not outside & {"numpy", "tensorflow", "keras"}
    if belongs(module, RIGHT + BOTH):
        assert not outside & {"libcst"}


def test_no_cycles() -> None:
    """No module imports, while it loads, one that imports it."""
    graph = {
        name: {i for i in imports(name, at_import=True) if i in MODULES and i != name} for name in MODULES
    }
    done: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> None:
        assert name not in path, " -> ".join([*path[path.index(name) :], name])
        if name not in done:
            for other in graph[name]:
                visit(other, (*path, name))
            done.add(name)

    for name in graph:
        visit(name, ())


def test_the_test_sees_what_it_should() -> None:
    """The reader of imports is not blind: it finds known ones, absolute, relative and inside functions."""
    assert "np2tf.diagnostics" in imports("np2tf.tree.source")
    assert "rich.console" in imports("np2tf.commands.output")
    assert "rich.console" not in imports("np2tf.commands.output", at_import=True)
    assert len(MODULES) > 40


#: The array's own module, and the way of small eager operations, where a call more would be felt.
ARRAYS_OWN = ("tnp/ndarray.py", "tnp/direct.py", "tnp/direct_indexing.py")


def test_only_its_own_module_touches_an_arrays_fields() -> None:
    """`cell_of`, `path_of` and `move_to` are the ways to the storage for everybody else."""
    touching = re.compile(r"\._(cell|path|cache)\b(?!\s*=\s*(path|folder))")
    found = {}
    for part in ("tnp", "runtime"):
        for path in sorted((PACKAGE / part).rglob("*.py")):
            lines = [line for line in path.read_text().splitlines() if touching.search(line)]
            if lines and str(path.relative_to(PACKAGE)) not in ARRAYS_OWN:
                found[str(path.relative_to(PACKAGE))] = lines
    assert found == {}
