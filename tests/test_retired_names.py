"""Names that the glossary has retired do not come back: no function or class of np2tf bears such a name."""

from __future__ import annotations

import ast
import re
from functools import cache

import pytest
from doc_pages import DOCS, ROOT

PACKAGE = ROOT / "np2tf"
TABLE = (DOCS / "glossary.md").read_text(encoding="utf-8").partition("\n## Retired names\n")[2]
#: The names of the first column.
RETIRED = [
    name for row in re.findall(r"^\| (`.+?) \|", TABLE, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)
]


def words(name: str) -> str:
    """A name as its words, whether it is a function's or a class's, public or private."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.strip("_")).lower()


@cache
def defined() -> dict[str, list[str]]:
    """The functions, methods and classes of the package, by their words, with the places."""
    found: dict[str, list[str]] = {}
    kinds = ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, kinds):
                found.setdefault(words(node.name), []).append(f"{path.relative_to(ROOT)}:{node.lineno}")
    return found


@pytest.mark.parametrize("name", RETIRED)
def test_retired_names_do_not_come_back(name: str) -> None:
    """Nothing is called so."""
    assert defined().get(words(name), []) == []


def test_the_test_sees_names() -> None:
    """The table is read, no name stands in it twice, and functions, methods and classes are seen."""
    assert len(RETIRED) == len(set(RETIRED)) > 60
    assert {"settle", "twins", "renewed"} <= set(RETIRED)
    assert words("_FrozenInstances") == "frozen_instances"
    for name in ("specialization_cache", "write_back", "prefers_host", "trace_once", "mutation_guard"):
        assert defined()[name]
