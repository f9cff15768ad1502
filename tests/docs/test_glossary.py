"""docs/glossary.md: the modules and names that it links to exist, and each entry has its parts."""

from __future__ import annotations

import re

import pytest

from tests.helpers.doc_pages import DOCS, ROOT, Link, defined_names, links_of

PAGE = (DOCS / "glossary.md").read_text(encoding="utf-8")
#: The text of each entry, by its heading.
ENTRIES = {
    heading: body.partition("\n## ")[0].strip()
    for heading, body in re.findall(r"^### (.+)\n((?:(?!^### ).*\n?)*)", PAGE, re.MULTILINE)
}
INSIDE = [link for link in links_of(PAGE) if not link.is_outside]


@pytest.mark.parametrize("link", INSIDE, ids=lambda link: f"{link.text}-{link.target}")
def test_links_resolve(link: Link) -> None:
    """A link within the repository leads to a file, and an object named as its text is defined there."""
    assert link.file.is_file()
    assert link.file.is_relative_to(ROOT)
    if link.name:
        assert link.name in defined_names(link.file)
    else:
        assert link.text.strip("`") == link.file.name


@pytest.mark.parametrize("heading", ENTRIES)
def test_entries_have_their_parts(heading: str) -> None:
    """An entry explains its term in two sentences, and says where it lives."""
    explanation, _, parts_behind = ENTRIES[heading].partition("\n\n")
    assert len(re.findall(r"\.(?=\s|$)", explanation)) == 2
    assert parts_behind.startswith("Where: ")
    where = parts_behind.partition("\nSee: ")[0]
    assert [link for link in links_of(where) if link.file.suffix == ".py"]


def test_headings() -> None:
    """No term is explained twice, and the reader of entries finds all of them."""
    headings = re.findall(r"^### (.+)$", PAGE, re.MULTILINE)
    assert headings == list(ENTRIES)
    assert len(headings) == len(set(headings)) > 30


def test_the_test_sees_missing_names() -> None:
    """The reader of links is not blind."""
    assert links_of("[`Nothing`](../np2tf/core/rules.py)") == [Link("`Nothing`", "../np2tf/core/rules.py")]
    assert "Nothing" not in defined_names(Link("`Nothing`", "../np2tf/core/rules.py").file)
    assert "Rule" in defined_names(Link("`Rule`", "../np2tf/core/rules.py").file)
    assert not Link("x", "../np2tf/nowhere.py").file.exists()
