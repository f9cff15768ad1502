"""The page of `np2tf play` in a real browser: typing, findings, both targets, runs, light and dark."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from np2tf import Options, convert
from np2tf.cli.play.app import Page, address_of, new_server, sample
from np2tf.cli.play.programs import Runner
from np2tf.core.diagnostics import codes
from tests.helpers.visible_pages import FAINT, TOO_WIDE

if os.name == "nt":
    pytest.skip("the browser is driven over the pipes of POSIX", allow_module_level=True)
from tests.helpers.browser import Browser, new_window

#: The maximal number of seconds that anything on the page takes.
PATIENCE = 40
TEXT = """import numpy as np


def f(x):
    for i in range(3):
        x[i] = np.sin(x[i])
    return x


def g(x):
    with open("file") as lines:
        return np.sum([float(line) for line in lines]) * x + np.nonsense(x)


print(f(np.ones(3)))  # <b>&amp;
"""
SHOWN = (
    "[...document.querySelectorAll('#translation .line')].map((one) => one.textContent).join('\\n') + '\\n'"
)
NOTES = "[...document.querySelectorAll('.margin p')].map((one) => [Number(one.dataset.line), one.className])"
VERDICT = "document.querySelector('#result').hidden ? '' : document.querySelector('#result').className"
RUN = "document.querySelector('#run')"


@pytest.fixture(scope="module")
def window(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A browser for all tests of this file."""
    yield from new_window(tmp_path_factory.mktemp("profile"))


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a page, for all tests of this file."""
    page = Page(tmp_path_factory.mktemp("play") / "play.py", TEXT, Runner(PATIENCE))
    server = new_server(page, 0)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield address_of(page, server)
    server.shutdown()
    thread.join()
    server.server_close()


def wait(value: Callable[[], object]) -> None:
    """Wait until something holds."""
    end = time.monotonic() + PATIENCE
    while not value():
        assert time.monotonic() < end, "the page does not do it"
        time.sleep(0.05)


def shown(window: Browser, address: str, width: int = 1400, scheme: str = "light") -> None:
    """Load the page, and wait for its first translation."""
    window.show(address, width, scheme)
    wait(lambda: window.value("document.body.dataset.examined"))


def typed(window: Browser, text: str) -> None:
    """Type a text into the source, in the place of the old one, and wait for its translation."""
    before = int(window.value("document.body.dataset.examined"))
    window.type("document.querySelector('textarea')", text)
    wait(lambda: int(window.value("document.body.dataset.examined")) > before)


def test_the_translation_stands_beside_the_source(window: Browser, address: str) -> None:
    shown(window, address)
    assert window.value(SHOWN) == convert(TEXT, Options(as_source=True)).text
    added = window.value("[...document.querySelectorAll('.added')].map((one) => one.textContent)")
    assert "@np2tf.jit" in added
    assert "def f(x):" not in added
    assert window.value("document.querySelector('#source pre').textContent") == TEXT + "\n"


def test_findings_and_fates_stand_beside_their_lines(window: Browser, address: str) -> None:
    shown(window, address)
    assert window.value(NOTES) == [[4, "fate"], [10, "fate"], [11, "note"], [12, "warning"]]
    tops = window.value(
        "[...document.querySelectorAll('.margin p')].map((one) => one.getBoundingClientRect().y)"
    )
    lines = window.value(
        "[...document.querySelectorAll('.gutter div')].map((one) => one.getBoundingClientRect().y)"
    )
    assert [top - lines[line] for top, line in zip(tops[:2], (3, 9))] == pytest.approx([0, 0], abs=2)
    assert window.value("document.querySelectorAll('.gutter div')[11].className") == "warning"
    text = "document.querySelector('.margin .warning').innerText"
    assert codes()["NP2TF002"].remedy.split("`")[0] not in window.value(text)
    window.click("document.querySelector('.margin .warning')")
    assert codes()["NP2TF002"].remedy.split("`")[0] in window.value(text)
    line = (
        "document.querySelector('textarea').value.slice(0, document.querySelector('textarea').selectionStart)"
    )
    assert window.value(line).count("\n") == 11


def test_typing(window: Browser, address: str) -> None:
    """Half a program keeps the last translation, and says what is wrong with it."""
    shown(window, address)
    typed(window, "import numpy as np\nx = np.sin(1)\n")
    assert window.value(SHOWN) == "from np2tf import tnp\nx = tnp.sin(1)\n"
    typed(window, "import numpy as np\nx = np.sin(\n")
    assert window.value(SHOWN) == "from np2tf import tnp\nx = tnp.sin(1)\n"
    assert window.value(NOTES) == [[2, "error"]]
    assert window.value("document.querySelector('#translation').className") == "old"
    typed(window, "")
    assert window.value("document.querySelectorAll('.gutter div').length") == 1
    assert window.value(NOTES) == []


def test_the_source_is_as_wide_and_high_as_its_text(window: Browser, address: str) -> None:
    """What is typed stands exactly over its colours, and both scroll together."""
    shown(window, address)
    typed(window, f"x = '{'long ' * 100}'\n" + "y = 2\n" * 200)
    box = "document.querySelector('{}').getBoundingClientRect().{}"
    for side in ("x", "y", "width", "height"):
        assert window.value(box.format("textarea", side)) == window.value(box.format(".editor pre", side)), (
            side
        )
    one = "document.querySelector('textarea')"
    assert window.value(f"{one}.scrollHeight - {one}.clientHeight") <= 0
    scroll = "document.querySelector('#source .scroll')"
    window.value(f"{scroll}.scrollTop = 300")
    assert window.value(f"{scroll}.scrollTop") == 300
    assert window.value("document.documentElement.scrollHeight") <= 900


def test_both_targets(window: Browser, address: str) -> None:
    shown(window, address)
    typed(window, "import numpy as np\nx = np.sin(1.0)\n")
    before = int(window.value("document.body.dataset.examined"))
    window.click("document.querySelector('#target input[value=tf]').parentElement")
    wait(lambda: int(window.value("document.body.dataset.examined")) > before)
    text = "import numpy as np\nx = np.sin(1.0)\n"
    assert window.value(SHOWN) == convert(text, Options(as_source=True, target="tf")).text
    assert "tensorflow" in window.value(SHOWN)


def test_both_programs_run_and_are_compared(window: Browser, address: str) -> None:
    shown(window, address)
    typed(window, "import numpy as np\nx = np.sin(np.ones(2))\nprint('<b>', x.sum())\n")
    window.click(RUN)
    wait(lambda: window.value(VERDICT) == "equal")
    outputs = window.value("[...document.querySelectorAll('#result pre')].map((one) => one.textContent)")
    assert outputs[0].startswith("<b> 1.68")
    assert outputs[0] == outputs[1]
    assert "1 printed line and 1 value of the module (x)" in window.value(
        "document.querySelector('#result p').innerText"
    )


def test_a_run_is_stopped(window: Browser, address: str) -> None:
    shown(window, address)
    typed(window, "while True:\n    pass\n")
    window.click(RUN)
    wait(lambda: window.value(f"{RUN}.innerText") == "Stop")
    time.sleep(0.5)
    window.click(RUN)
    wait(lambda: window.value(VERDICT) == "failed")
    assert window.value("document.querySelector('#result p').innerText") == "the source was stopped"


@pytest.mark.parametrize("width", [1400, 600, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_and_can_be_read(window: Browser, address: str, width: int, scheme: str) -> None:
    """Nothing reaches beyond the window, and each text stands out from what is behind it."""
    shown(window, address, width, scheme)
    window.click(RUN)
    wait(lambda: window.value(VERDICT))
    assert window.value("innerWidth") == width
    assert window.value(TOO_WIDE) == []
    assert window.value(FAINT) == []
    assert window.value("matchMedia('(prefers-color-scheme: dark)').matches") == (scheme == "dark")


def test_the_page_asks_nobody_else(window: Browser, address: str) -> None:
    shown(window, address)
    names = window.value("performance.getEntriesByType('resource').map((one) => one.name)")
    assert names
    assert all(name.startswith(address) for name in names)


def test_the_sample_is_the_same_on_both() -> None:
    """The program that the page begins with shows what the page is for."""
    text = sample()
    result = convert(text, Options(as_source=True))
    assert "np2tf.while_loop" in result.text
    assert result.diagnostics == []
    comparison = Runner(PATIENCE).run_both(text, result.text)
    assert comparison is not None
    assert (comparison.verdict, comparison.message) == (
        "equal",
        "equal: 2 printed lines and 2 values of the module (rod, steps)",
    )


def test_a_page_begins_with_a_file(window: Browser, tmp_path: Path) -> None:
    """Its text is data: nothing in it ends the script that holds it."""
    text = "x = '</script><script>document.title = 1</script>'\n"
    page = Page(tmp_path / "a<b>.py", text, Runner(1))
    server = new_server(page, 0)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        shown(window, address_of(page, server))
        assert window.value("document.querySelector('textarea').value") == text
        assert window.value("document.title") == "a<b>.py – np2tf play"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
