"""The kernels of benchmarks/, and the programs and projects of fixtures/, that `--target tf` translates."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.translator.tensorflow.applications import (
    kernels,
    projects,
    translated_kernels,
    translated_projects,
)
from tests.translator.tensorflow.programs import fixtures, translated_fixtures

DOCS = Path(__file__).resolve().parents[3] / "docs" / "target-tf.md"


def test_kernels(results: dict[str, Any]) -> None:
    """Every translated kernel gives NumPy's results, and leaves the same in its arguments."""
    told = {name: results["programs"][f"kernel: {name}"] for name in translated_kernels()}
    assert {name: why for name, why in told.items() if why} == {}


def test_projects(results: dict[str, Any]) -> None:
    """Every translated project prints what it prints on NumPy."""
    told = {name: results["programs"][f"application: {name}"] for name in translated_projects()}
    assert {name: why for name, why in told.items() if why} == {}


@pytest.mark.parametrize(
    ("sentence", "counts"),
    [
        (
            r"Of the (\d+) fixtures, (\d+) are translated",
            lambda: (len(fixtures()), len(translated_fixtures())),
        ),
        (
            r"of the (\d+) kernels of `benchmarks/`, (\d+)",
            lambda: (len(kernels()), len(translated_kernels())),
        ),
        (
            r"of the (\d+) programs of `fixtures/programs/`, (\d+)",
            lambda: tuple(
                sum(name.startswith("programs/") for name in names)
                for names in (fixtures(), translated_fixtures())
            ),
        ),
        (
            r"of the (\d+) projects of `fixtures/projects/`, (\d+)",
            lambda: (len(projects()), len(translated_projects())),
        ),
    ],
)
def test_counts(sentence: str, counts: Any) -> None:
    """The page tells how many are translated."""
    text = " ".join(DOCS.read_text().split())
    found = re.search(sentence, text)
    assert found is not None
    assert tuple(map(int, found.groups())) == counts()
