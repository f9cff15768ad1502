"""Results and output frozen as plain data, and the first difference between two of them."""

from __future__ import annotations

import math
import re
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np


# -- freeze --------------------------------------------------------------------------------------------------
# Turns a program's result into plain data: containers of host arrays, strings and Python scalars.
#
# Freezing copies. A result that a later call overwrites stays as it was, and a result on a device has
# arrived on the host before the clock stops.


@dataclass(frozen=True)
class Instance:
    """An object of a class of the program: the name of the class, and the frozen attributes."""

    kind: str
    attributes: dict[str, Any]


def freeze(value: Any, seen_ids: frozenset[int] = frozenset()) -> Any:
    """Copy `value` into plain data. An object that has no readable attributes is represented by its class's
    name.

    Args:
        seen_ids: the ids of the containers around `value`, by which cycles are found.
    """
    import numpy as np

    if value is None or (isinstance(value, (bool, int, float, complex, str, bytes)) and _is_builtin(value)):
        return value
    if hasattr(value, "__array__") and hasattr(value, "dtype"):
        return np.array(value)
    if id(value) in seen_ids:
        return "<cycle>"
    seen_ids = seen_ids | {id(value)}
    if isinstance(value, Mapping):
        return {_key(key, seen_ids): freeze(item, seen_ids) for key, item in value.items()}
    if isinstance(value, tuple):
        return tuple(freeze(item, seen_ids) for item in value)
    if isinstance(value, list):
        return [freeze(item, seen_ids) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted((freeze(item, seen_ids) for item in value), key=repr)
    if hasattr(value, "__dict__") and not callable(value):
        attributes = {name: freeze(item, seen_ids) for name, item in vars(value).items()}
        return Instance(type(value).__name__, attributes)
    return Instance(type(value).__name__, {})


def _key(key: Any, seen_ids: frozenset[int]) -> Any:
    value = freeze(key, seen_ids)
    return value.item() if hasattr(value, "dtype") else value  # arrays do not hash, and 1 == np.int64(1)


def _is_builtin(value: Any) -> bool:
    # numpy.float64 is a subclass of float, and numpy.str_ of str: NumPy's scalars are frozen like arrays.
    return type(value).__module__ == "builtins"


# -- compare -------------------------------------------------------------------------------------------------
# Find the first difference between two frozen results, in the order in which a person would read them.

RTOL = 1e-7
"""The relative tolerance of 64-bit floats. Integers, booleans and strings are compared exactly."""
LEAST_RTOL = {16: 2e-2, 32: 1e-4}
"""Bits of a float -> its least relative tolerance. Rounding alone costs 16 bits 1e-3, and 32 bits 1e-7."""
FLOOR = 1e-3
"""Small elements are often differences of large ones: this share of the largest is added to their size."""


@dataclass(frozen=True)
class Difference:
    """The place where two results differ, with NumPy's value there (`expected`) and the translation's.

    Attributes:
        path: the path to the value, such as `['pos']`.
        property: the property that differs: "type", "keys", "length", "class", "dtype", "shape" or "value".
        index: the index of the element in the array at `path`; None if the difference is not in one element.
    """

    path: str
    property: str
    expected: str
    actual: str
    index: tuple[int, ...] | None = None

    def __str__(self) -> str:
        where = f"result{self.path}"
        if self.index is not None and self.index != ():
            where += f" at [{', '.join(map(str, self.index))}]"
        return f"{where}: {self.property} {self.expected} on NumPy, {self.actual} translated"


def tolerance_text(rtol: float) -> str:
    """Return the tolerance that `first_difference` allows floats, as text for people."""
    return f"floats within {rtol:g} × (|x| + {FLOOR:g} × max|x|), 32-bit ones {max(rtol, LEAST_RTOL[32]):g}"


def first_difference(reference: Any, actual: Any, rtol: float = RTOL) -> Difference | None:
    """Return the first difference between two frozen results, or None; `rtol` is that of 64-bit floats."""
    return next(_differences(reference, actual, rtol, ""), None)


def _differences(reference: Any, actual: Any, rtol: float, path: str) -> Iterator[Difference]:
    if _is_number(reference) and _is_number(actual):
        yield from _numbers(reference, actual, rtol, path)
    elif type(reference) is not type(actual):
        yield Difference(path, "type", _type(reference), _type(actual))
    elif isinstance(reference, dict):
        if list(reference) != list(actual):
            yield Difference(path, "keys", repr(list(reference)), repr(list(actual)))
            return
        for key, item in reference.items():
            yield from _differences(item, actual[key], rtol, f"{path}[{key!r}]")
    elif isinstance(reference, (list, tuple)):
        if len(reference) != len(actual):
            yield Difference(path, "length", str(len(reference)), str(len(actual)))
            return
        for position, (left, right) in enumerate(zip(reference, actual)):
            yield from _differences(left, right, rtol, f"{path}[{position}]")
    elif isinstance(reference, Instance):
        if reference.kind != actual.kind:
            yield Difference(path, "class", reference.kind, actual.kind)
            return
        yield from _differences(reference.attributes, actual.attributes, rtol, path)
    elif reference != actual:
        yield Difference(path, "value", _short(reference), _short(actual))


def _is_number(value: Any) -> bool:
    return hasattr(value, "dtype") or isinstance(value, (bool, int, float, complex))


def _type(value: Any) -> str:
    return f"{value.dtype} array" if hasattr(value, "dtype") else type(value).__name__


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _numbers(reference: Any, actual: Any, rtol: float, path: str) -> Iterator[Difference]:
    """Yield the difference of two arrays or Python scalars, if they differ.

    Python's scalars count as zero-dimensional arrays of the dtype that NumPy would give them.
    """
    import numpy as np

    left, right = np.asarray(reference), np.asarray(actual)
    if left.dtype != right.dtype:
        yield Difference(path, "dtype", str(left.dtype), str(right.dtype))
    elif left.shape != right.shape:
        yield Difference(path, "shape", str(left.shape), str(right.shape))
    else:
        wrong = _wrong(left, right, rtol)
        if wrong.any():
            index = tuple(int(i) for i in np.argwhere(wrong)[0])
            yield Difference(path, "value", _short(left[index]), _short(right[index]), index)


def _wrong(left: np.ndarray, right: np.ndarray, rtol: float) -> np.ndarray:
    """Return a boolean mask, of the shape of the arrays, of the elements that differ."""
    import numpy as np

    if left.dtype.kind in "mM":
        return np.asarray((left != right) & ~(np.isnat(left) & np.isnat(right)))
    if left.dtype.kind not in "fc":
        return np.asarray(left != right)
    rtol = max(rtol, LEAST_RTOL.get(np.finfo(left.dtype).bits, 0.0))
    size = np.abs(left)
    finite = np.isfinite(left)
    floor = FLOOR * size[finite].max() if finite.any() else 0.0
    with np.errstate(invalid="ignore"):
        close = np.abs(left - right) <= rtol * (size + floor)
    equal = (left == right) | (np.isnan(left) & np.isnan(right))
    return ~np.where(finite, close, equal)


# -- transcript ----------------------------------------------------------------------------------------------
# Compares the visible output of two runs: the text, line by line in order, and the files that they leave.

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
    left, right = reference.read_bytes(), actual.read_bytes()
    if left == right:
        return None
    if reference.suffix in (".npy", ".npz"):
        try:
            difference = first_difference(_arrays(reference), _arrays(actual), rtol)
        except (ValueError, OSError, zipfile.BadZipFile):  # no file of NumPy's, or one with pickled objects
            return "the bytes differ"
        return None if difference is None else str(difference)
    try:
        return text_difference(left.decode().splitlines(), right.decode().splitlines(), rtol)
    except UnicodeDecodeError:
        return "the bytes differ"


def _arrays(path: Path) -> Any:
    """Return the array of a .npy file, or the arrays of a .npz file by their names."""
    import numpy as np

    with path.open("rb") as file:
        data = np.load(file)
        return data if isinstance(data, np.ndarray) else {name: freeze(data[name]) for name in data.files}
