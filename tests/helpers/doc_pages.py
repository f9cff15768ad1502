"""Reads the pages of documentation for contributors: their links, and the names that the links promise."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
_LINK = re.compile(r"\[([^\]]+)\]\(([^)\s]+)\)")


class Link(NamedTuple):
    """A Markdown link: its text and its target."""

    text: str
    target: str

    @property
    def is_outside(self) -> bool:
        """Return whether the link leads out of the repository."""
        return self.target.startswith("https://")

    @property
    def file(self) -> Path:
        """The file in the repository that the link leads to, which need not exist."""
        return (DOCS / self.target.partition("#")[0]).resolve()

    @property
    def name(self) -> str:
        """The name that a link to a module promises to be defined there; "" if its text names no object."""
        quoted = re.fullmatch(r"`(\w+)`", self.text)
        return quoted[1] if quoted and self.file.suffix == ".py" else ""


def links_of(text: str) -> list[Link]:
    """Return all links of a Markdown text, in order."""
    return [Link(*found) for found in _LINK.findall(text)]


def defined_names(module: Path) -> set[str]:
    """Return the names of classes, functions, methods and variables that a module's text defines."""
    found = set()
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
    return found
