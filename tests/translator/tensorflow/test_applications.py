"""The kernels of benchmarks/, and the programs and projects of fixtures/, that `--target tf` translates."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.translator.tensorflow.applications import (
    changed_kernels,
    changed_projects,
    kernels,
    projects,
    translated_kernels,
    translated_projects,
)
from tests.translator.tensorflow.programs import fixtures, reasons, translated_fixtures

DOCS = Path(__file__).resolve().parents[3] / "docs" / "target-tf.md"


def test_kernels(results: dict[str, Any]) -> None:
    """Every kernel of which something is translated gives NumPy's results, and leaves the same in its
    arguments.
    """
    told = {name: results["programs"][f"kernel: {name}"] for name in changed_kernels()}
    assert {name: why for name, why in told.items() if why} == {}


def test_projects(results: dict[str, Any]) -> None:
    """Every project of which something is translated prints what it prints on NumPy."""
    told = {name: results["programs"][f"application: {name}"] for name in changed_projects()}
    assert {name: why for name, why in told.items() if why} == {}


def _stay(names: Iterable[str]) -> int:
    """Of how many of these fixtures something stays on NumPy."""
    return sum(bool(reasons(fixtures()[name][1])) for name in names)


def _programs() -> tuple[int, int, int]:
    names = [name for name in translated_fixtures() if name.startswith("programs/")]
    return sum(name.startswith("programs/") for name in fixtures()), len(names), _stay(names)


@pytest.mark.parametrize(
    ("sentence", "counts"),
    [
        (
            r"Of the (\d+) fixtures, (\d+) are translated, (\d+) of them",
            lambda: (len(fixtures()), len(translated_fixtures()), _stay(translated_fixtures())),
        ),
        (r"of the (\d+) programs of `fixtures/programs/`, (\d+), (\d+) of them", _programs),
        (
            r"Of the (\d+) kernels of `benchmarks/`, (\d+) take tensors alone; in (\d+) others",
            lambda: (
                len(kernels()),
                len(translated_kernels()),
                len(changed_kernels()) - len(translated_kernels()),
            ),
        ),
        (
            r"Of the (\d+) projects of `fixtures/projects/`, (\d+) are translated as a whole, (\d+) in parts",
            lambda: (
                len(projects()),
                len(translated_projects()),
                len(changed_projects()) - len(translated_projects()),
            ),
        ),
    ],
)
def test_counts(sentence: str, counts: Any) -> None:
    """The page tells how many are translated."""
    text = " ".join(DOCS.read_text().split())
    found = re.search(sentence, text)
    assert found is not None
    assert tuple(map(int, found.groups())) == counts()
