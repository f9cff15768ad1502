"""The form of docstrings: public functions tell their parameters."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import np2tf

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "np2tf"
_SECTION = re.compile(r"^(Args|Returns|Raises|Yields|Attributes):$", re.MULTILINE)
_TELLS = re.compile(r"https://|^(Args|Returns|Yields|Attributes):$", re.MULTILINE)
_Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def parsed(file: Path) -> ast.Module:
    """Return the tree of a file."""
    return ast.parse(file.read_text(encoding="utf-8"))


def top_level(tree: ast.Module) -> Iterator[ast.stmt]:
    """Yield the statements of a module, with the statements under its conditions."""
    for node in tree.body:
        yield node
        if isinstance(node, ast.If):
            yield from (*node.body, *node.orelse)


def parameters_of(node: ast.FunctionDef) -> list[str]:
    """Return the names of a function's parameters."""
    given = node.args
    named = [*given.posonlyargs, *given.args, *([given.vararg] if given.vararg else [])]
    named += [*given.kwonlyargs, *([given.kwarg] if given.kwarg else [])]
    return [parameter.arg for parameter in named]


def documented_parameters(text: str) -> list[str]:
    """Return the names in the section Args of a docstring."""
    section = text.partition("\nArgs:\n")[2]
    next_section = _SECTION.search(section)
    lines = section[: next_section.start()] if next_section else section
    found = re.findall(r"^    (\*{0,2}\w+(?:, \*{0,2}\w+)*): ", lines, re.MULTILINE)
    return re.findall(r"\w+", " ".join(found))


def gives(node: ast.FunctionDef, kind: type[ast.Return] | type[ast.Raise]) -> bool:
    """Return whether a function, and not one within it, returns or raises something."""
    waiting: list[ast.AST] = list(node.body)
    while waiting:
        inner_node = waiting.pop()
        if isinstance(inner_node, (ast.FunctionDef, ast.Lambda, ast.ClassDef)):
            continue
        given = inner_node.value if isinstance(inner_node, ast.Return) else getattr(inner_node, "exc", None)
        if isinstance(inner_node, kind) and given is not None and ast.unparse(given) != "None":
            return True
        waiting += ast.iter_child_nodes(inner_node)
    return False


def missing_sections(node: ast.FunctionDef) -> list[str]:
    """Return the sections that the docstring of a function should have and lacks."""
    sections = set(_SECTION.findall(ast.get_docstring(node) or ""))
    needed = {"Returns": ast.Return, "Raises": ast.Raise}
    return [name for name, kind in needed.items() if name not in sections and gives(node, kind)]


# -- np2tf's own names ---------------------------------------------------------------------------------------


def definition(module: str, name: str) -> _Documented | None:
    """Return the definition of a function or class in a module of the package; None if there is none."""
    file = ROOT / f"{module.replace('.', '/')}.py"
    found = (
        [node for node in top_level(parsed(file)) if getattr(node, "name", None) == name]
        if file.is_file()
        else []
    )
    return found[-1] if found else None  # type: ignore[return-value]  # overloads come first


def own_names() -> dict[str, _Documented]:
    """Return the definitions of np2tf's public names; only staged operators, and no builtins."""
    places = {name: place for name, place in np2tf._LAZY.items() if place[1]}
    for name, operator in np2tf._OPERATORS.items():
        module, _, attribute = operator.staged.partition(":")
        if attribute and not operator.python.startswith("builtins:"):
            places.setdefault(name, (module, attribute))
    found = {name: definition(*place) for name, place in places.items()}
    return {name: node for name, node in found.items() if node is not None}


#: Names for which neither NumPy, TensorFlow, Python nor JAX has a page.
OF_NP2TF_ALONE = frozenset(
    {
        "Options",
        "StagingError",
        "call",
        "convert",
        "numpy_function",
        "translate",
        "translating",
        "use_backend",
    }
)


@pytest.mark.parametrize("name", sorted(own_names()))
def test_public_names_tell_their_use(name: str) -> None:
    """A public name of np2tf has a docstring with a link, Args for the parameters, Returns and Raises."""
    node = own_names()[name]
    text = ast.get_docstring(node) or ""
    assert ("https://" in text) is (name not in OF_NP2TF_ALONE)
    if isinstance(node, ast.FunctionDef):
        assert sorted(parameters_of(node)) == sorted(documented_parameters(text))
        assert missing_sections(node) == []
    else:
        assert _TELLS.search(text)


# -- the rules themselves ------------------------------------------------------------------------------------


def test_the_rules_see_what_they_should() -> None:
    """The rules find missing sections and parameters."""
    returning = ast.parse(
        "def f(a):\n    if a:\n        raise b\n    return c\ndef g():\n    return None\n"
    ).body
    assert [missing_sections(function) for function in returning] == [["Returns", "Raises"], []]  # type: ignore[arg-type]
    assert parameters_of(returning[0]) == ["a"]  # type: ignore[arg-type]
    assert documented_parameters("One.\n\nArgs:\n    a: array.\n    b: array.\n") == ["a", "b"]
    assert len(own_names()) > 15
