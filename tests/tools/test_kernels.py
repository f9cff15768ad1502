"""The runner of the kernels compares results and prints a row for each kernel."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_one_kernel(root: Path) -> None:
    """With small arguments, whose ratio means nothing."""
    words = ["--small", "--system", "np2tf", "--seconds", "0", "--repeat", "1", "lu"]
    done = subprocess.run(
        [sys.executable, "benchmarks/run_kernels.py", *words],
        cwd=root,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    (row,) = [line for line in done.stdout.splitlines() if line.split()[:1] == ["lu"]]
    assert any(character.isdigit() for character in row)
    assert "wrong" not in done.stdout
