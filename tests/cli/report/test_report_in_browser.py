"""The page of `np2tf report` in a real browser: mouse and keyboard, light and dark, wide and narrow."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from np2tf import convert
from np2tf.cli.report.page import page
from np2tf.cli.report.runs import run_of
from np2tf.cli.report.survey import Survey
from tests.helpers.reported_repository import NASTY, RAN
from tests.helpers.visible_pages import FAINT, TOO_WIDE

if os.name == "nt":
    pytest.skip("the browser is driven over the pipes of POSIX", allow_module_level=True)
from tests.helpers.browser import Browser, new_window

FILES = "document.querySelector('#files')"
#: The file names that the table shows, in their order.
SHOWN = f"[...{FILES}.querySelectorAll('tbody:not([hidden])')].map((one) => one.dataset.file)"
SEARCH = f"{FILES}.querySelector('input[type=search]')"
NASTY_NAME = 'a & b/<i>"x".py'
NASTY_FILE = f"[...{FILES}.querySelectorAll('tbody')].find((one) => one.dataset.file.includes('<i>'))"
#: The numbers in the second column of a table.
NUMBERS = "[...document.querySelectorAll('{} tbody')].map((one) => Number(one.rows[0].cells[1].textContent))"


@pytest.fixture(scope="module")
def window(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A browser for all tests of this file."""
    yield from new_window(tmp_path_factory.mktemp("profile"))


@pytest.fixture
def shown(window: Browser, made: str, repository: Path) -> Browser:
    """The page in a wide window."""
    window.show(repository / "report.html", 1400)
    return window


def heading(table: str, text: str) -> str:
    """The button of a column."""
    buttons = f"[...document.querySelectorAll('{table} thead button')]"
    return f"{buttons}.find((one) => one.textContent === '{text}')"


def opened(window: Browser) -> None:
    """Open the file with a mouse click, and what is folded in it."""
    window.click(f"{NASTY_FILE}.querySelector('button')")
    window.value(f"{NASTY_FILE}.querySelectorAll('.fold').forEach((one) => one.click())")


def test_each_column_sorts(shown: Browser) -> None:
    everything = shown.value(SHOWN)
    assert set(everything) == {NASTY_NAME, "a & b/plain.py", "broken.py", "cells.ipynb", "odd.py"}
    shown.click(heading("#files", "lines"))
    lines = NUMBERS.format("#files")
    assert shown.value(lines) == sorted(shown.value(lines), reverse=True)
    assert shown.value(SHOWN)[0] == NASTY_NAME
    assert (
        shown.value(f"{heading('#files', 'lines')}.parentElement.getAttribute('aria-sort')") == "descending"
    )
    shown.click(heading("#files", "file"))
    assert shown.value(SHOWN) == sorted(everything)
    shown.click(heading("#files", "file"))
    assert shown.value(SHOWN) == sorted(everything, reverse=True)
    shown.click(heading("#names", "uses"))
    uses = NUMBERS.format("#names")
    assert shown.value(uses) == sorted(shown.value(uses), reverse=True)


def test_the_search_finds_names_codes_and_sources(shown: Browser) -> None:
    for text, files in {
        "np2tf002": [NASTY_NAME, "cells.ipynb"],
        "DOCSTRING</b>": [NASTY_NAME],
        "odd": ["odd.py"],
        "no such text": [],
    }.items():
        shown.type(SEARCH, text)
        assert sorted(shown.value(SHOWN)) == sorted(files), text
        assert shown.value(f"{FILES}.querySelector('output').textContent") == f"{len(files)} of 5"
    shown.type(SEARCH, "")
    assert len(shown.value(SHOWN)) == 5
    shown.click(f"{FILES}.querySelector('[data-only=changes]')")
    assert shown.value(SHOWN) == [NASTY_NAME, "cells.ipynb"]
    shown.click(f"{FILES}.querySelector('[data-only=changes]')")
    shown.click("document.querySelector('#findings button[data-search=NP2TF002]')")
    assert shown.value(SHOWN) == [NASTY_NAME, "cells.ipynb"]
    shown.type("document.querySelector('#names input')", "np.abs")
    names = (
        "[...document.querySelectorAll('#names tbody:not([hidden]) th')].map((one) => one.textContent.trim())"
    )
    assert shown.value(names) == ["np.abs"]


def test_a_file_beside_its_translation(shown: Browser) -> None:
    opened(shown)
    side = "[...{}.querySelectorAll('.line.{}:not(.empty)')].map((one) => one.textContent)"
    assert shown.value(side.format(NASTY_FILE, "before")) == NASTY.splitlines()
    assert shown.value(side.format(NASTY_FILE, "after")) == convert(NASTY).text.splitlines()
    notes = shown.value(f"[...{NASTY_FILE}.querySelectorAll('.notes p')].map((one) => one.textContent)")
    assert any(note.startswith("NP2TF002 NumPy has no public name np.wrong") for note in notes)
    assert any(note.startswith("relax compiled") for note in notes)
    injected = f"{NASTY_FILE}.querySelectorAll('script, b:not(.notes b), i:not(.notes i):not(.dot)').length"
    assert shown.value(injected) == 0
    assert shown.value("document.title") == "a <b> & c – np2tf report"
    assert shown.value(f"{NASTY_FILE}.querySelectorAll('.k').length") > 0
    # A finding stands at the height of its line, and both texts of an edit begin at one height.
    beside = f"""(() => {{
      const note = {NASTY_FILE}.querySelector('.notes p.warning').getBoundingClientRect();
      const line = [...{NASTY_FILE}.querySelectorAll('.line.before')].find(
        (one) => one.textContent.includes('np.wrong'));
      const place = line.getBoundingClientRect();
      const other = line.nextElementSibling.getBoundingClientRect();
      return [Math.abs(note.top - place.top) < 5, note.left > place.right,
        other.top === place.top, other.left >= place.right];
    }})()"""
    assert shown.value(beside) == [True, True, True, True]
    shown.click(f"{NASTY_FILE}.querySelector('button')")
    assert shown.value(f"{NASTY_FILE}.rows.length") == 1


def test_a_notebook_shows_its_cells(shown: Browser) -> None:
    cells = f"[...{FILES}.querySelectorAll('tbody')].find((one) => one.dataset.file === 'cells.ipynb')"
    shown.click(f"{cells}.querySelector('button')")
    before = f"[...{cells}.querySelectorAll('.line.before:not(.empty)')].map((one) => one.textContent)"
    assert shown.value(before) == ["# cell 2", "import numpy as np", "", "# cell 3", "np.sin(1)", "np.wrong"]
    row = f"{cells}.querySelector('.notes p').closest('.row').firstElementChild.textContent"
    assert shown.value(row) == "np.wrong"
    assert shown.value(f"{cells}.querySelector('.notes p').textContent").startswith(
        "NP2TF002 cell 3, line 2: "
    )


def test_a_narrow_window_shows_old_lines_before_new_ones(
    window: Browser, made: str, repository: Path
) -> None:
    window.show(repository / "report.html", 390)
    opened(window)
    tops = f"""[...{NASTY_FILE}.querySelectorAll('.block')].map(
      (block) => ['.removed', '.added'].map(
        (kind) => [...block.querySelectorAll(kind)].map((one) => one.getBoundingClientRect().top)))"""
    blocks = window.value(tops)
    assert any(len(removed) > 1 and added for removed, added in blocks)
    assert all(max(removed) < min(added) for removed, added in blocks if removed and added)


@pytest.mark.parametrize("width", [1400, 768, 390, 320])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_and_can_be_read(
    window: Browser, made: str, repository: Path, width: int, scheme: str
) -> None:
    """Nothing reaches beyond the window, and each text stands out from what is behind it."""
    window.show(repository / "report.html", width, scheme)
    window.value("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    opened(window)
    assert window.value("innerWidth") == width
    assert window.value(TOO_WIDE) == []
    assert window.value(FAINT) == []
    assert window.value("matchMedia('(prefers-color-scheme: dark)').matches") == (scheme == "dark")


@pytest.mark.parametrize("width", [1400, 390])
def test_a_run_in_a_browser(window: Browser, tmp_path: Path, width: int) -> None:
    run = run_of("pytest <x>", 1, RAN, "/here")
    (tmp_path / "page.html").write_text(page(Survey([]), "t", "now", "0", run), encoding="utf-8")
    window.show(tmp_path / "page.html", width)
    window.click(heading("#run", "function"))
    assert window.value("document.querySelector('#run tbody th code').textContent") == "<f>"
    assert window.value(TOO_WIDE) == []
    name = "document.querySelector('#run tbody th').getBoundingClientRect().width"
    assert window.value(name) < width / 2  # the numbers are beside it in a narrow window, too
    shares = (
        "[...document.querySelectorAll('#run .bar rect')].map((one) => one.getBoundingClientRect().width)"
    )
    assert sum(window.value(shares)) == pytest.approx(
        window.value("document.querySelector('#run .bar').getBoundingClientRect().width"), rel=1e-3
    )


def test_the_page_asks_for_nothing_else(window: Browser, made: str, repository: Path) -> None:
    window.show(repository / "report.html", 1400)
    assert window.value("performance.getEntriesByType('resource').length") == 0
    assert json.loads(window.value("document.getElementById('data').textContent"))["files"]
