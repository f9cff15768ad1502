"""Compares the visible output of two runs: the text, line by line in order, and the files that they leave."""

from __future__ import annotations

import math
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from np2tf.verify.compare import first_difference
from np2tf.verify.freeze import freeze

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
#: The lines that TensorFlow's own logger writes, before and after it is set up.
_LOG_LINE = re.compile(
    r"[IWEF]\d{4} \d\d:\d\d:\d\d|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+: [IWEF] |"
    r"WARNING: All log messages before absl"
)
#: The lines of np2tf's own warnings. Below each of them stands a line of source, which belongs to it.
_WARNING_LINE = re.compile(r"\S.*:\d+: (?:TranslationWarning|UnjittedWarning): ")


def own_lines(text: str) -> list[str]:
    """Return the lines of a program's output that are its own: no log of TensorFlow, no warning of np2tf."""
    return [line for line in text.splitlines() if not _WARNING_LINE.match(line) and not _LOG_LINE.match(line)]


def text_difference(reference: list[str], actual: list[str], rtol: float) -> str | None:
    """Describe the first line that differs. Return None if the numbers are close and all other text is the
    same.
    """
    for number, (left, right) in enumerate(zip(reference, actual), 1):
        if not _same_line(left, right, rtol):
            return f"line {number} of the output: {left!r} on NumPy, {right!r} translated"
    if len(reference) == len(actual):
        return None
    first = min(len(reference), len(actual))
    longer, where = (reference, "on NumPy") if len(reference) > first else (actual, "translated")
    return f"line {first + 1} of the output: only {where}: {longer[first]!r}"


def _same_line(left: str, right: str, rtol: float) -> bool:
    if left == right:
        return True
    if _NUMBER.sub("#", left) != _NUMBER.sub("#", right):
        return False
    pairs = zip(_NUMBER.findall(left), _NUMBER.findall(right))
    return all(_same_number(first, second, rtol) for first, second in pairs)


def _same_number(left: str, right: str, rtol: float) -> bool:
    """Return whether two printed numbers are equal. Floats may differ by one in the last printed place."""
    if left == right:
        return True
    places = _place(left), _place(right)
    if -math.inf in places:
        return False
    a, b = float(left), float(right)
    # One and a half units, because the difference of two decimals is not exact.
    return abs(a - b) <= rtol * max(abs(a), abs(b)) + 1.5 * 10.0 ** max(places)


def _place(number: str) -> float:
    """Return the power of ten of the last place of a printed float; minus infinity for an integer."""
    mantissa, _, exponent = number.lower().partition("e")
    if "." not in mantissa and not exponent:
        return -math.inf
    return int(exponent or 0) - len(mantissa.partition(".")[2])


def files_difference(reference: Path, actual: Path, rtol: float) -> str | None:
    """Describe the first difference between the files in two folders; return None if there is none."""
    names = [
        sorted(str(path.relative_to(folder)) for path in _files(folder)) for folder in (reference, actual)
    ]
    if names[0] != names[1]:
        return f"files: {names[0]} on NumPy, {names[1]} translated"
    for name in names[0]:
        difference = _file_difference(reference / name, actual / name, rtol)
        if difference:
            return f"{name}: {difference}"
    return None


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_file())


def _file_difference(reference: Path, actual: Path, rtol: float) -> str | None:
    if zipfile.is_zipfile(reference) and reference.suffix == ".npz":
        difference = first_difference(_arrays(reference), _arrays(actual), rtol)
        return None if difference is None else str(difference)
    left, right = reference.read_bytes(), actual.read_bytes()
    if left == right:
        return None
    try:
        return text_difference(left.decode().splitlines(), right.decode().splitlines(), rtol)
    except UnicodeDecodeError:
        return "the bytes differ"


def _arrays(path: Path) -> dict[str, Any]:
    import numpy as np

    with np.load(path) as data:
        return {name: freeze(data[name]) for name in data.files}
