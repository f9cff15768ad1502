"""docs/contributing.md: every file and folder that it names exists, and every link resolves."""

from __future__ import annotations

import re

import pytest

from tests.helpers.doc_pages import DOCS, ROOT, Link, links_of

PAGE = (DOCS / "contributing.md").read_text(encoding="utf-8")
#: The first parts of paths in the repository, and files at its top.
_TOP = "np2tf|rules|tests|docs|fixtures|benchmarks|tools"
_PATH = re.compile(rf"(?<![\w/.])(?:(?:{_TOP})/[\w./-]*[\w/]|[\w-]+\.(?:md|py|toml)\b)")
#: Words in capitals stand for a name of the contributor's choice.
_PLACEHOLDER = re.compile(r"[A-Z]{4,}")


def paths_of(text: str) -> list[str]:
    """The paths that a text names in code, without the paths that hold a placeholder; each once."""
    fences = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    quoted = re.findall(r"`([^`]+)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL))
    found = [path for part in (*fences, *quoted) for path in _PATH.findall(part)]
    return sorted({path for path in found if not _PLACEHOLDER.search(path) or path == "CHANGELOG.md"})


@pytest.mark.parametrize("path", paths_of(PAGE))
def test_paths_exist(path: str) -> None:
    """A path of the page is that of a file, or of a folder if it ends in a slash."""
    assert (ROOT / path).is_dir() if path.endswith("/") else (ROOT / path).is_file()


@pytest.mark.parametrize("link", links_of(PAGE), ids=lambda link: link.target)
def test_links_resolve(link: Link) -> None:
    """The links lead to pages beside this one."""
    assert link.file.is_file()


def test_every_recipe_has_its_parts() -> None:
    """Each recipe has numbered steps, tests to run, and an example from the history."""
    recipes = re.split(r"^## ", PAGE, flags=re.MULTILINE)[2:]
    assert len(recipes) == 9
    for recipe in recipes:
        assert recipe.count("\n1. ") == 1
        assert "\nRun: " in recipe
        assert re.search(r'^Examples?: "', recipe, re.MULTILINE)


def test_the_test_sees_what_it_should() -> None:
    """The reader of paths finds files, folders and paths in commands, and leaves out placeholders."""
    text = "`np2tf/core/rules.py` and `pytest -n0 tests/nowhere.py -k X`, `np2tf/arrays/functions/`; "
    text += "`benchmarks/kernels/NAME.py`"
    assert paths_of(text) == ["np2tf/arrays/functions/", "np2tf/core/rules.py", "tests/nowhere.py"]
    assert len(paths_of(PAGE)) > 50
