"""Sentences in comments and pages name their subject, as in docstrings (tests/test_docstrings.py).

Nouns stand where a reader would have to search for them: no `those of`, `new ones`, `the others`.
"""

from __future__ import annotations

import ast
import re
import tokenize
from pathlib import Path

import pytest
from doc_pages import DOCS, ROOT

TOPS = ("np2tf", "tests", "tools", "benchmarks", "examples")
#: The folders of Python code, but for fixtures, which are programs as users write them.
CODE_FOLDERS = sorted({path.parent for top in TOPS for path in (ROOT / top).rglob("*.py")})
#: The beginning of a sentence that names no subject; questions may begin so.
_UNNAMED = re.compile(r"(?:^|(?<=[.:;] ))(What|Whether|Which) [a-z][^?]*$")
_SENTENCE_END = re.compile(r"(?<=[.?!]) ")
#: A pronoun in the place of a noun. (`arrays of ones`, `zeros and ones` are numbers.)
_PRONOUN = re.compile(
    r"(?<!of )(?<!and )(?<!with )(?<!as )(?<!, )\bones\b(?![:(])|\b[Tt]he others\b|\bthe other(?=[.,;:)])"
    r"|\bthose (?:of|in|that|which|who|with|from|on|at|for|by|to)\b|\bone (?:that|which|whose)\b"
)
#: Code and addresses in a text.
_CODE = re.compile(r"``.*?``|`[^`]*`|https?://\S+", re.DOTALL)


def unnamed(text: str) -> list[str]:
    """Return the sentences of a paragraph that begin with "What", "Whether" or "Which", without questions."""
    return [sentence for sentence in _SENTENCE_END.split(text) if _UNNAMED.search(sentence)]


def pronouns(text: str) -> list[str]:
    """Return the pronouns of a text that stand in the place of a noun, with the words around them."""
    words = " ".join(_CODE.sub("`…`", text).split())
    return [words[max(0, one.start() - 30) : one.end() + 10] for one in _PRONOUN.finditer(words)]


def docstrings(path: Path) -> list[str]:
    """Return the docstrings of a module, its classes and functions."""
    kinds = ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return [ast.get_docstring(node) or "" for node in nodes if isinstance(node, kinds)]


def comments(path: Path) -> str:
    """Return the comments of a file; comments on successive lines are one paragraph, and a line."""
    found: list[str] = []
    last = -1
    with tokenize.open(path) as file:
        for token in tokenize.generate_tokens(file.readline):
            if token.type == tokenize.COMMENT:
                text = token.string.lstrip("#: ")
                if token.start[0] == last + 1:
                    found[-1] += f" {text}"
                else:
                    found.append(text)
                last = token.start[0]
    return "\n".join(found)


def paragraphs(page: Path) -> list[str]:
    """Return the paragraphs, items and cells of a page, without code and headings."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^#.*$", "", text, flags=re.MULTILINE)
    parts = re.split(r"\n\s*\n|^\s*(?:[*-]|\d+\.) |\|", text, flags=re.MULTILINE)
    return [" ".join(part.split()) for part in parts]


def _relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("folder", CODE_FOLDERS, ids=_relative)
def test_comments_and_docstrings(folder: Path) -> None:
    """No sentence of a comment or docstring begins so."""
    found = [
        (path.name, sentence)
        for path in sorted(folder.glob("*.py"))
        for text in (*comments(path).split("\n"), *docstrings(path))
        for sentence in unnamed(" ".join(text.split()))
    ]
    assert found == []


@pytest.mark.parametrize("folder", CODE_FOLDERS, ids=_relative)
def test_nouns(folder: Path) -> None:
    """No comment and no docstring has a pronoun in the place of a noun."""
    found = [
        (path.name, one)
        for path in sorted(folder.glob("*.py"))
        for text in (*comments(path).split("\n"), *docstrings(path))
        for one in pronouns(text)
    ]
    assert found == []


@pytest.mark.parametrize("page", sorted([ROOT / "README.md", *DOCS.glob("*.md")]), ids=lambda path: path.name)
def test_pages(page: Path) -> None:
    """No sentence of a page begins so, and none has a pronoun in the place of a noun."""
    assert [sentence for part in paragraphs(page) for sentence in unnamed(part)] == []
    assert [one for part in paragraphs(page) for one in pronouns(part)] == []


def test_the_rule_sees_what_it_should() -> None:
    """The rule finds such sentences, and leaves questions and other sentences alone."""
    assert unnamed("It is right. What it gives is x. What is x? The rest: Whether it is y.") == [
        "What it gives is x.",
        "The rest: Whether it is y.",
    ]
    assert unnamed("Return whether it is what is wanted.") == []
    assert len(pronouns("New ones and those of x: one that is, the others, after the other.")) == 5
    assert pronouns("Zeros and ones, an array of ones, `those of`, the other arrays, one by one.") == []
