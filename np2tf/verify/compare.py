"""Find the first difference between two frozen results, in the order in which a person would read them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from np2tf.verify.freeze import Instance

if TYPE_CHECKING:
    import numpy as np

RTOL = 1e-7
"""The relative tolerance of 64-bit floats. Integers, booleans and strings are compared exactly."""
LEAST_RTOL = {16: 2e-2, 32: 1e-4}
"""Bits of a float -> its least relative tolerance. Rounding alone costs 16 bits 1e-3, and 32 bits 1e-7."""
FLOOR = 1e-3
"""Small elements are often differences of large ones: this share of the largest is added to their size."""


@dataclass(frozen=True)
class Difference:
    """The place where two results differ, and both values there.

    Attributes:
        path: the path to the value, such as `['pos']`.
        property: the property that differs: "type", "keys", "length", "class", "dtype", "shape" or "value".
        expected: NumPy's side.
        actual: the translated side.
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
    """Return the first difference between two frozen results, or None if they are equal.

    Args:
        reference: NumPy's result.
        actual: the translated result.
        rtol: the relative tolerance of 64-bit floats.
    """
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
