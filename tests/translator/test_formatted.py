"""A translation is linted and formatted where its source is: what ruff says of the kernels and fixtures."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import np2tf

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted(
    path
    for pattern in ("benchmarks/kernels/*.py", "benchmarks/scripts/*.py", "fixtures/*/*.np.py")
    for path in ROOT.glob(pattern)
)
#: The project's own length of lines, and the one that ruff has by default.
WIDTHS = 110, 88
#: Imports that nothing in the file uses any more, but that other code may read by name.
_STAY = {
    "fixtures__control__math_of_elements.py": ["F401 `math.exp` imported but unused (line 2)"],
    "fixtures__refused__eval.py": ["F401 `numpy` imported but unused (line 1)"],
}
_RUFF = [sys.executable, "-m", "ruff"]
_ISOLATED = ["--isolated", "--target-version", "py310", "--no-cache"]
_RULES = ["--select", "E4,E7,E9,F,I"]


def _name(source: Path) -> str:
    return source.relative_to(ROOT).as_posix().replace("/", "__").replace(".np.py", ".py")


def _findings(folder: Path, width: int) -> dict[str, list[str]]:
    """What the linter and the formatter say of the files in a folder, by the names of the files."""
    common = [*_ISOLATED, "--line-length", str(width), str(folder)]
    command = [*_RUFF, "check", *_RULES, "--output-format", "json", *common]
    linted = subprocess.run(command, capture_output=True, text=True, cwd=folder)  # np2tf is no part of it
    findings: dict[str, list[str]] = {}
    for found in json.loads(linted.stdout):
        text = f"{found['code']} {found['message']} (line {found['location']['row']})"
        findings.setdefault(Path(found["filename"]).name, []).append(text)
    copy = folder.with_name(f"{folder.name} formatted")
    shutil.copytree(folder, copy)
    subprocess.run([*_RUFF, "format", "--quiet", *common[:-1], str(copy)], capture_output=True)
    for path in sorted(folder.iterdir()):
        if path.read_bytes() != (copy / path.name).read_bytes():
            findings.setdefault(path.name, []).append("other line breaks")
    return findings


@pytest.mark.parametrize("width", WIDTHS)
def test_what_is_clean_stays_clean(tmp_path: Path, width: int) -> None:
    """No translation has a finding, or other line breaks, unless its source has some."""
    before, after = tmp_path / "before", tmp_path / "after"
    before.mkdir()
    after.mkdir()
    for source in SOURCES:
        data = source.read_bytes()
        (before / _name(source)).write_bytes(data)
    unclean = _findings(before, width)
    clean = [source for source in SOURCES if _name(source) not in unclean]
    assert len(clean) > 150
    for source in clean:
        options = np2tf.Options(line_length=width)
        (after / _name(source)).write_text(np2tf.convert(source.read_text(), options).text)
    assert _findings(after, width) == _STAY


#: A program whose translation has longer lines of each kind than its source.
WIDE = '''"""Long names."""

import numpy as np


def relaxed(temperature, conductivity, tolerance):
    largest_change = 1.0
    number_of_rounds = 0
    while largest_change > tolerance:
        before = temperature.copy()
        temperature[1:-1] += conductivity * (before[2:] - 2 * before[1:-1])
        for place in range(1, len(temperature) - 1):
            if temperature[place] > 3.0 * conductivity[0] + tolerance:
                temperature[place] = np.sqrt(before[place]) + before[place - 1]
                conductivity[place] *= 0.5 + temperature[place] - before[place]
            elif temperature[place] < -3.0:
                temperature[place] = np.minimum(before[place], temperature[0])
            else:
                temperature[place], before[place] = before[place], tolerance
        largest_change = np.max(np.abs(temperature - before))
        number_of_rounds += 1
        if number_of_rounds > 100 and np.any(np.isnan(temperature[1:-1])):
            return temperature, number_of_rounds, largest_change, conductivity
    return temperature, number_of_rounds, largest_change, conductivity
'''


@pytest.mark.parametrize("width", [79, 80, 84, 88, 92, 100, 120])
def test_longer_lines_are_broken(tmp_path: Path, width: int) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    for folder, text in (
        (before, WIDE),
        (after, np2tf.convert(WIDE, np2tf.Options(line_length=width)).text),
    ):
        folder.mkdir()
        (folder / "program.py").write_text(text)
        assert _findings(folder, width) == {}
    assert max(map(len, text.splitlines())) <= width
