"""The gallery: each program has its translation and its picture, and both sides have the same results."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tools.gallery import PAGE, PICTURES, draw, programs, results, with_translations

PROGRAMS = programs(PAGE.read_text(encoding="utf-8"))


def test_the_page_is_up_to_date() -> None:
    """The page has the translations that np2tf makes today, and each program has a picture."""
    page = PAGE.read_text(encoding="utf-8")
    assert with_translations(page) == page
    assert {path.stem for path in PICTURES.glob("*.png")} == set(PROGRAMS)
    assert len(PROGRAMS) >= 5


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_both_sides_are_equal(name: str, tmp_path: Path) -> None:
    """The arrays of NumPy and of the compiled translation are equal up to rounding, and can be drawn."""
    both = results(name, PROGRAMS[name])
    for numpys, ours in zip(*both, strict=True):
        assert numpys.dtype == ours.dtype
        np.testing.assert_allclose(ours, numpys, rtol=1e-9, atol=1e-12)
        assert np.ptp(numpys) > 0
    pytest.importorskip("matplotlib", reason="pictures are drawn where the extra [plot] is installed")
    draw(name, both, tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 5000


def test_a_wrong_translation_is_seen() -> None:
    """A page whose translation differs is not up to date."""
    page = PAGE.read_text(encoding="utf-8")
    broken = page.replace("np2tf.range(steps)", "np2tf.range(steps + 1)", 1)
    assert broken != page
    assert with_translations(broken) == page
