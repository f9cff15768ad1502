"""Large constants of a program in StableHLO that follow a pattern: the program computes them instead.

TensorFlow computes an index array, an identity matrix or a triangle when it traces, and writes all elements
into the program: megabytes, which XLA would make to the same pattern again when it compiles.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

#: Arrays of so many elements.
LARGE = 1024
_CONSTANT = re.compile(
    r'^( *)(%[\w#]+) = stablehlo\.constant dense<"0x([0-9A-F]+)"> : '
    r"tensor<([\dx]+)x(i1|i32|i64|f32|f64)>(.*)$",
    re.MULTILINE,
)
#: Identity matrices and diagonals, triangles, and their complements.
_DIRECTIONS = {"EQ": np.equal, "GE": np.greater_equal, "LT": np.less, "NE": np.not_equal}
_DTYPES = {"i32": np.int32, "i64": np.int64, "f32": np.float32, "f64": np.float64}


def compute_patterns(text: str) -> str:
    """Return a program in which large arithmetic sequences, diagonals and triangles are computed."""
    return _CONSTANT.sub(_replaced, text)


def _replaced(match: re.Match[str]) -> str:
    indent, name, digits, lengths, dtype, location = match.groups()
    shape = [int(length) for length in lengths.split("x")]
    array = _array(bytes.fromhex(digits), shape, dtype)
    lines = None if array is None or array.size < LARGE else _computed(name, array, lengths, dtype)
    return match[0] if lines is None else "\n".join(f"{indent}{line}{location}" for line in lines)


def _array(data: bytes, shape: list[int], dtype: str) -> np.ndarray | None:
    """Return the elements of a constant; None if the text does not have them all."""
    size = int(np.prod(shape))
    if dtype == "i1":  # TensorFlow prints eight elements as a byte
        bits = np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little")
        return bits[:size].reshape(shape).astype(bool) if len(data) == -(-size // 8) else None
    array = np.frombuffer(data, _DTYPES[dtype])
    return array.reshape(shape) if array.size == size else None


def _computed(name: str, array: np.ndarray, lengths: str, dtype: str) -> list[str] | None:
    """Return the lines that compute an array; None if it has no pattern."""
    if array.dtype.kind == "f" and np.signbit(array[array == 0]).any():
        return None
    if array.ndim == 1 and dtype != "i1" and np.isfinite(array[:2]).all():
        first, step = int(array[0]), int(array[1]) - int(array[0])
        # Integers are exact in every one of these dtypes, up to a size.
        if abs(first) + abs(step) * array.size < 2**24 and np.array_equal(
            array, first + step * np.arange(array.size)
        ):
            return [*_sequence(name, first, step, f"tensor<{lengths}x{dtype}>")]
    if array.ndim == 2 and np.isin(array, (0, 1)).all():
        truth = array.astype(bool)
        # The first place of another value in the first row, or else in the first column, gives the diagonal.
        in_row, in_column = truth[0] != truth[0, 0], truth[:, 0] != truth[0, 0]
        k = int(in_row.argmax()) if in_row.any() else -int(in_column.argmax())
        rows, columns = np.arange(array.shape[0])[:, None], np.arange(array.shape[1])
        for direction, compare in _DIRECTIONS.items():
            for offset in (k - 1, k, k + 1):
                if np.array_equal(truth, compare(rows + offset, columns)):
                    return [*_comparison(name, direction, offset, lengths, dtype)]
    return None


def _sequence(name: str, first: int, step: int, kind: str) -> Iterator[str]:
    point = "" if "xi" in kind else ".0"
    yield f"{name}_places = stablehlo.iota dim = 0 : {kind}"
    yield f"{name}_step = stablehlo.constant dense<{step}{point}> : {kind}"
    yield f"{name}_first = stablehlo.constant dense<{first}{point}> : {kind}"
    yield f"{name}_steps = stablehlo.multiply {name}_places, {name}_step : {kind}"
    yield f"{name} = stablehlo.add {name}_steps, {name}_first : {kind}"


def _comparison(name: str, direction: str, offset: int, lengths: str, dtype: str) -> Iterator[str]:
    kind, result = f"tensor<{lengths}xi64>", f"tensor<{lengths}x{dtype}>"
    equal = name if dtype == "i1" else f"{name}_equal"
    yield f"{name}_rows = stablehlo.iota dim = 0 : {kind}"
    yield f"{name}_columns = stablehlo.iota dim = 1 : {kind}"
    yield f"{name}_offset = stablehlo.constant dense<{offset}> : {kind}"
    yield f"{name}_diagonal = stablehlo.add {name}_rows, {name}_offset : {kind}"
    yield (
        f"{equal} = stablehlo.compare {direction}, {name}_diagonal, {name}_columns : ({kind}, {kind}) -> "
        f"tensor<{lengths}xi1>"
    )
    if dtype != "i1":
        yield f"{name} = stablehlo.convert {equal} : (tensor<{lengths}xi1>) -> {result}"


__all__ = ["compute_patterns"]
