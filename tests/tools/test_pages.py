"""What the tools write into pages: short tables of many figures."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.examples import BEGIN, END, HEAD, with_figures

FIGURES = """
| a loss, ms | 10 | 1,000 |
| --- | ---: | ---: |
| NumPy | 0.1 | 2 |
| np2tf, eager | 5 | 9 |
| np2tf, compiled | 0.2 | 1,000 |
| tf.function | 0.3 | 3,000 |
| tf.function, XLA | 0.3 | 2,500 |

a note
"""


def test_rows_of_a_demonstration_replace_its_rows() -> None:
    """The largest size, the best of each system, and the best ratio first."""
    page = f"before\n{BEGIN}\n{HEAD}\n| old | x, 1 | – | 1 | 1 | – | 1.00 |\n{END}\nbehind\n"
    for figures in (FIGURES, FIGURES.replace("2,500", "18")):
        page = with_figures(page, "loss", figures)
    rows = page.splitlines()[4:-2]
    assert rows == [
        "| loss | a loss, 1,000 | 2 | 9 | 18 | – | 2.00 |",
        "| old | x, 1 | – | 1 | 1 | – | 1.00 |",
    ]
    assert page.startswith("before\n")
    assert page.endswith(f"{END}\nbehind\n")
    with pytest.raises(ValueError, match="no place"):
        with_figures("a page", "loss", FIGURES)


def test_the_suite_is_told_by_folders(monkeypatch: pytest.MonkeyPatch, root: Path) -> None:
    """The page has a row for each folder of NumPy, the terminal one for each module."""
    monkeypatch.syspath_prepend(str(root / "tools"))
    from suite import report, runner

    outcomes = [
        runner.Outcome("lib/tests/test_a.py::test_1", "passed", 0, 1.0, ""),
        runner.Outcome("lib/tests/test_b.py::test_2", "passed", 3, 1.0, ""),
        runner.Outcome("fft/tests/test_c.py::test_3", "failed", 0, 1.0, "no"),
    ]
    assert report.table(outcomes, by_folder=True).splitlines()[2:4] == [
        "| fft | 1 | 0.0 % | 0 (0.0 %) | 0 | 1 | 0 |",
        "| lib | 2 | 100.0 % | 1 (50.0 %) | 1 | 0 | 0 |",
    ]
    assert len(report.table(outcomes).splitlines()) == 6
