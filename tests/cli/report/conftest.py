"""A repository with names and sources that HTML could misread, and the page of its report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.helpers.reported_repository import NASTY, report

CELL = {"metadata": {}, "outputs": [], "execution_count": None, "cell_type": "code"}
NOTEBOOK = {
    "cells": [
        {"cell_type": "markdown", "metadata": {}, "source": "# np.wrong"},
        {**CELL, "source": "import numpy as np"},
        {**CELL, "source": "np.sin(1)\nnp.wrong"},
    ],
    "metadata": {},
    "nbformat": 4,
    "nbformat_minor": 5,
}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with sources and names that HTML could misread."""
    (tmp_path / "a & b").mkdir()
    (tmp_path / "a & b" / '<i>"x".py').write_text(NASTY, encoding="utf-8")
    (tmp_path / "a & b" / "plain.py").write_text("x = 1\n")
    (tmp_path / "broken.py").write_text("def (:\n")
    (tmp_path / "odd.py").write_bytes(b"# \xff\nimport numpy as np\n")
    (tmp_path / "cells.ipynb").write_text(json.dumps(NOTEBOOK))
    (tmp_path / "np2tf.toml").write_text('include = ["*.py", "*.ipynb"]\n')
    return tmp_path


@pytest.fixture
def made(repository: Path) -> str:
    """The page of that repository."""
    done = report(repository, "--html", repository / "report.html", "--title", "a <b> & c")
    assert done.exit_code == 0, done.output
    return (repository / "report.html").read_text(encoding="utf-8")
