"""Every ufunc, every dtype, and the values at which kernels differ: NumPy's results, and np2tf's.

A *row* is a ufunc with the dtypes of its operands. Its operands are the special values of these dtypes, in
all pairs if there are two operands; the result is compared element by element.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import tensorflow as tf

import np2tf
from np2tf import tnp
from np2tf.arrays.array.ndarray import is_array, tensor_array
from np2tf.arrays.functions.ufuncs import table as ufuncs

INTEGERS = tuple(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))
FLOATS = ("float16", "float32", "float64")
COMPLEX = ("complex64", "complex128")
DTYPES = ("bool", *INTEGERS, *FLOATS, *COMPLEX)
#: Vector kernels compute several elements at once and the rest one by one; large arrays are split for
#: threads.
SIZES = (0, 1, 2, 7, 64, 1000)
NAMES = sorted(
    {getattr(np, name).__name__ for name in ufuncs.__all__ if getattr(np, name).signature is None} - {"isnat"}
)


@dataclass(frozen=True)
class Row:
    """A ufunc and the dtypes of its operands."""

    name: str
    dtypes: tuple[str, ...]

    @property
    def ufunc(self) -> np.ufunc:
        return getattr(np, self.name)

    def __str__(self) -> str:
        return f"{self.name}({', '.join(self.dtypes)})"


def rows(name: str, dtypes: Sequence[str] = DTYPES) -> list[Row]:
    """Return the rows of a ufunc that NumPy has a loop for."""
    ufunc = getattr(np, name)
    second = {"ldexp": "int32"}
    found = []
    for dtype in dtypes:
        taken = (dtype, second.get(name, dtype))[: ufunc.nin]
        try:
            ufunc.resolve_dtypes((*map(np.dtype, taken), *[None] * ufunc.nout))
        except TypeError:
            continue
        found.append(Row(name, taken))
    return found


@cache
def _floats(dtype: str, is_short: bool) -> np.ndarray:
    limits = np.finfo(dtype)
    tiny, large = float(limits.smallest_normal), float(limits.max)
    root = float(np.sqrt(limits.max))
    positive = [0.0, 1.0, np.inf, 2.5, large, tiny, root * 1.5, 1 / root / 3]
    if not is_short:
        subnormal = float(limits.smallest_subnormal)
        positive += [
            0.5,
            3.0,
            1.5,
            subnormal,
            tiny * 0.75,
            np.pi / 2,
            0.3,
            10.0,
            88.5,
            127.0,
            128.0,
            300.0,
            1e3,
        ]
        positive += [32768.0, 65536.0, 2.0**31, 2.0**32, 2.0**63, 2.0**64, 1e10, 709.5, float(limits.eps)]
        positive += [np.nextafter(1, 2, dtype=dtype), np.nextafter(1, 0, dtype=dtype)]
    with np.errstate(over="ignore"):
        made = np.array([*positive, np.nan], dtype)
    # Without repetitions, and in this order for every version of NumPy.
    _, first = np.unique(made.view(f"i{limits.bits // 8}"), return_index=True)
    return made[np.sort(first)]


@cache
def values(dtype: str, is_short: bool = False) -> np.ndarray:
    """Return the special values of a dtype, ordinary values among them."""
    kind = np.dtype(dtype)
    if kind.kind == "b":
        return np.array([False, True])
    if kind.kind in "iu":
        limits = np.iinfo(kind)
        given = {0, 1, 2, 3, 7, 10, limits.max // 2, limits.max // 2 + 1, limits.max - 1, limits.max}
        given |= {-1, -2, -3, -7, limits.min, limits.min + 1, kind.itemsize * 8 - 1, kind.itemsize * 8}
        return np.array(sorted(k for k in given if limits.min <= k <= limits.max), dtype)
    if kind.kind == "f":
        positive = _floats(dtype, is_short)
        return np.concatenate([positive, -positive])
    parts = values(f"float{kind.itemsize * 4}", is_short=True)
    if is_short:
        parts = parts[[0, 1, 3, 4, 5, 7, 9, -1, -3, -4]]
    made = np.empty((len(parts), len(parts)), dtype)
    made.real, made.imag = parts[:, None], parts
    near_one = np.array([-0.8 + 0.6j, 0.6 + 0.8j, 0.9 + 0.1j, 0.999 - 1e-3j, 1 + 1e-3j], dtype)
    return np.concatenate([made.ravel(), near_one[: 0 if is_short else None]])


@cache
def operands(row: Row) -> tuple[np.ndarray, ...]:
    """Return the operands of a row: one array for each, all of one length."""
    if row.ufunc.nin == 1:
        return (values(row.dtypes[0]),)
    first, second = (values(dtype, is_short=dtype in COMPLEX) for dtype in row.dtypes)
    if row.name == "ldexp":
        second = np.array(
            [0, 1, -1, 30, -30, 127, -149, 1000, -1074, 2100, -2100, 2**31 - 1, -(2**31)], "int32"
        )
    if row.name == "power" and second.dtype.kind == "i":
        second = second[second >= 0]
    return np.repeat(first, len(second)), np.tile(second, len(first))


def pieces(arrays: tuple[np.ndarray, ...], size: int, max_count: int) -> Iterator[tuple[np.ndarray, ...]]:
    """Yield at most about `max_count` pieces of length `size` from all over the arrays, the last piece among
    them.

    Arrays that are not longer than `size` are repeated to this length.
    """
    length = len(arrays[0])
    if size >= length:
        yield tuple(np.resize(array, size) for array in arrays)
        return
    starts = range(0, length - size + 1, max(1, size))
    step = -(-len(starts) // max_count)
    for start in sorted({*starts[::step], length - size}):
        yield tuple(array[start : start + size] for array in arrays)


Results = tuple[np.ndarray, ...]


def wanted(row: Row, arrays: tuple[np.ndarray, ...]) -> tuple[Results, set[str]]:
    """Return NumPy's results and warnings."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        made = row.ufunc(*arrays)
    return made if isinstance(made, tuple) else (made,), {str(warning.message) for warning in told}


def compute(row: Row, tensors: Sequence[tf.Tensor]) -> tuple[tf.Tensor, ...]:
    made = getattr(tnp, row.name)(*map(tensor_array, tensors))
    parts = made if isinstance(made, tuple) else (made,)
    return tuple(part.tensor if is_array(part) else tf.constant(part) for part in parts)


def eagerly(row: Row, arrays: tuple[np.ndarray, ...]) -> tuple[Results, set[str]]:
    with np2tf.config.using(eager="tensorflow"), warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        made = compute(row, [tf.constant(array) for array in arrays])
    return tuple(part.numpy() for part in made), {str(warning.message) for warning in told}


def staged(rows: Sequence[Row], xla: bool):
    """Return all rows as one compiled function that takes arrays of any length."""

    signature = [[tf.TensorSpec([None], dtype) for dtype in row.dtypes] for row in rows]

    @tf.function(jit_compile=xla, autograph=False, input_signature=None if xla else [signature])
    def together(inputs: list[list[tf.Tensor]]) -> list[tuple[tf.Tensor, ...]]:
        return [compute(row, tensors) for row, tensors in zip(rows, inputs, strict=True)]

    def call(inputs: Sequence[tuple[np.ndarray, ...]]) -> list[Results]:
        made = together([[tf.constant(array) for array in arrays] for arrays in inputs])
        return [tuple(part.numpy() for part in parts) for parts in made]

    return call


def _far(a: np.ndarray, b: np.ndarray, scale: np.ndarray, ulps: np.ndarray) -> np.ndarray:
    is_equal = (np.isnan(a) & np.isnan(b)) | ((a == b) & (np.signbit(a) == np.signbit(b)))
    with np.errstate(all="ignore"):
        apart = np.abs(a.astype(np.longdouble) - b)
        near = np.isfinite(a) & np.isfinite(b) & (apart <= ulps * np.spacing(scale).astype(np.longdouble))
    # Zeros of different signs count as different numbers.
    return ~(is_equal | (near & (a != b)))


def differs(a: np.ndarray, b: np.ndarray, ulps: np.ndarray) -> np.ndarray:
    """Return where arrays differ by more than `ulps` units in the last place (complex: of the larger
    part).
    """
    if a.dtype.kind not in "fc":
        return a != b
    if a.dtype.kind == "f":
        return _far(a, b, np.where(np.isfinite(a), np.abs(a), 0), ulps)
    top = np.finfo(a.dtype).max
    # Beside an infinite part, the finite part is arbitrary.
    sizes = (np.nan_to_num(np.abs(part), nan=0, posinf=top) for part in (a.real, a.imag))
    scale = np.minimum(np.maximum(*sizes), top * 0.9)
    return _far(a.real, b.real, scale, ulps) | _far(a.imag, b.imag, scale, ulps)
