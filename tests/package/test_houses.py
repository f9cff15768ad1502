"""The houses of np2tf stand in one line, and each imports only houses to its left (docs/architecture.md).

All imports count: those at the top of a module, those inside functions, and those by name. Only imports for
types do not.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import np2tf

PACKAGE = Path(np2tf.__file__).parent
#: house -> the houses that it may import. The two columns, translator and arrays to transforms, never mix.
HOUSES = {
    "core": (),
    "translator": ("core",),
    "arrays": ("core",),
    "staging": ("core", "arrays"),
    "transforms": ("core", "arrays", "staging"),
    "loading": ("core", "translator", "arrays", "staging", "transforms"),
    "integrations": ("core", "translator", "arrays", "staging", "transforms", "loading"),
    "cli": ("core", "translator", "arrays", "staging", "transforms", "loading", "integrations"),
}
#: The import paths that a program may write -> the house whose names they show.
FACES = {
    **dict.fromkeys(("tnp", "scipy", "nn", "random", "ragged"), "arrays"),
    "distribute": "transforms",
    "keras": "integrations",
    "imports": "integrations",
    "__main__": "cli",
}
MODULES = {
    ".".join(["np2tf", *path.relative_to(PACKAGE).with_suffix("").parts]).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
}
#: Strings that are no imports: names of modules that the program sees.
SHOWN = frozenset({"np2tf.tnp", "np2tf.random", "np2tf.keras", "np2tf.imports.pytest_plugin"})


#: A class has at most so many attributes of its own. A larger one holds several ideas, which could have names
#: and methods of their own; or it is a plain record, and is listed here with the reason.
MOST_ATTRIBUTES = 20
PLAIN_RECORDS = {
    "np2tf.core.rules.Rule": "one row of rules/, with a field for each column",
}


def house_of(module: str) -> str:
    """The house that a module belongs to; "" for np2tf itself, which wires them."""
    top = [*module.split("."), ""][1]
    return FACES.get(top, top)


@cache
def imports_of(module: str) -> frozenset[str]:
    """The modules of np2tf that a module imports, at any time."""
    tree = ast.parse(MODULES[module].read_text(encoding="utf-8"))
    return frozenset(name for name in _imports(tree) if name != module)


def _imports(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
        for statement in node.orelse:
            yield from _imports(statement)
        return
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names if alias.name in MODULES)
    elif isinstance(node, ast.ImportFrom) and node.module in MODULES:
        for alias in node.names:
            full = f"{node.module}.{alias.name}"
            yield full if full in MODULES else node.module
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        name = node.value.partition(":")[0]
        if re.fullmatch(r"np2tf(\.\w+)+", name) and name in MODULES and name not in SHOWN:
            yield name
    for child in ast.iter_child_nodes(node):
        yield from _imports(child)


def circles(graph: dict[str, frozenset[str]]) -> list[set[str]]:
    """The strongly connected components of more than one node (Tarjan)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[set[str]] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for successor in graph.get(node, ()):
            if successor not in index:
                visit(successor)
                low[node] = min(low[node], low[successor])
            elif successor in stack:
                low[node] = min(low[node], index[successor])
        if low[node] == index[node]:
            component = set()
            while node not in component:
                component.add(stack.pop())
            if len(component) > 1:
                found.append(component)

    for node in graph:
        if node not in index:
            visit(node)
    return found


def test_imports_go_to_the_left() -> None:
    """No house imports a house to its right, or the other column."""
    wrong = [
        (module, imported)
        for module in MODULES
        if (house := house_of(module))
        for imported in imports_of(module)
        if (other := house_of(imported)) and other != house and other not in HOUSES[house]
    ]
    assert wrong == []


def test_no_circles() -> None:
    """No module imports itself by way of others, neither when it is loaded nor later."""
    graph = {module: imports_of(module) for module in MODULES if house_of(module)}
    assert circles(graph) == []


def test_circles_are_found() -> None:
    """The search finds what it looks for."""
    graph = {"a": frozenset("b"), "b": frozenset("c"), "c": frozenset("a"), "d": frozenset("a")}
    assert circles(graph) == [{"a", "b", "c"}]


def test_the_street_has_houses_and_faces_only() -> None:
    """At the top of np2tf/ stand the houses, and the import paths that a program may write."""
    entries = {
        path.stem
        for path in PACKAGE.iterdir()
        if path.suffix in ("", ".py") and path.name not in ("__init__.py", "__pycache__")
    }
    assert entries - {"rules"} == {*HOUSES, *FACES}


def test_core_is_light() -> None:
    """Core imports neither NumPy, TensorFlow nor libcst when it is loaded."""
    for module in MODULES:
        if house_of(module) == "core":
            names = {
                name
                for node in ast.parse(MODULES[module].read_text(encoding="utf-8")).body
                if isinstance(node, (ast.Import, ast.ImportFrom))
                for name in (
                    [node.module or ""] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names]
                )
            }
            assert not {name.partition(".")[0] for name in names} & {"numpy", "tensorflow", "libcst"}, module


def attributes_of(node: ast.ClassDef) -> set[str]:
    """The fields that a class declares, and the names that its methods assign on `self`."""
    fields = {
        statement.target.id
        for statement in node.body
        if isinstance(statement, ast.AnnAssign)
        and isinstance(statement.target, ast.Name)
        and "ClassVar" not in ast.unparse(statement.annotation)
    }
    return fields | {
        target.attr
        for method in node.body
        if isinstance(method, (ast.FunctionDef, ast.AsyncFunctionDef))
        for target in ast.walk(method)
        if isinstance(target, ast.Attribute)
        and isinstance(target.ctx, ast.Store)
        and isinstance(target.value, ast.Name)
        and target.value.id == "self"
    }


def test_classes_have_few_attributes() -> None:
    """No class has more attributes than a reader can hold, except the records; those that are listed do."""
    large = {
        f"{module}.{node.name}"
        for module, path in MODULES.items()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef) and len(attributes_of(node)) > MOST_ATTRIBUTES
    }
    assert large == set(PLAIN_RECORDS)


def test_attributes_are_counted() -> None:
    """Fields and assignments count, also those in tuples and in loops; class variables and reads do not."""
    text = """
class C:
    a: int
    B: ClassVar[int] = 1
    def f(self, other):
        self.c, self.d = other.x, self.y
        self.a = 1
        for self.e in ():
            other.z = 2
"""
    (node,) = ast.parse(text).body
    assert isinstance(node, ast.ClassDef)
    assert attributes_of(node) == {"a", "c", "d", "e"}
