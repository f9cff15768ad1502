"""Every ufunc x every dtype x special values x sizes, eagerly, in graphs and under XLA, against NumPy.

Results are equal bit for bit where NumPy's are exact, else within 4 units in the last place. `limits` has
the results that cannot be had, with the reason; an entry that agrees with NumPy by now fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
import tensorflow as tf

import np2tf
from np2tf import tnp
from tests.helpers import ufunc_table as table
from tests.helpers.ufunc_table import Row

ULPS = 4.0
#: Of integers all are exact, of floats and of complex numbers these.
EXACT = {
    "add", "subtract", "multiply", "divide", "floor_divide", "remainder", "divmod", "fmod", "negative",
    "positive", "absolute", "fabs", "sign", "square", "reciprocal", "conjugate", "rint", "floor", "ceil",
    "trunc", "modf", "frexp", "ldexp", "copysign", "nextafter", "spacing", "heaviside", "sqrt", "maximum",
    "minimum", "fmax", "fmin",
}  # fmt: skip
EXACT_OF_COMPLEX = {"add", "subtract", "negative", "positive", "conjugate", "rint"} | {
    "maximum", "minimum", "fmax", "fmin"
}  # fmt: skip
#: Sizes, and how many pieces of each are tried.
PIECES = {0: 1, 1: 6, 2: 4, 7: 4, 64: 2, 1000: 1}


def allowed(row: Row, arrays: tuple[np.ndarray, ...], result: np.ndarray) -> np.ndarray:
    """How many units in the last place a result may be off: a power by as many as its logarithm has."""
    if row.name in (EXACT_OF_COMPLEX if arrays[0].dtype.kind == "c" else EXACT):
        return np.zeros(len(result))
    ulps = np.full(len(result), ULPS)
    if row.name in ("power", "float_power") and result.dtype.kind == "c":
        base, exponent = (array.astype(complex) for array in arrays)
        with np.errstate(all="ignore"):
            ulps += np.nan_to_num(ULPS * np.abs(exponent * np.log(base)), nan=0, posinf=0)
    if row.name.startswith("logaddexp"):
        # The sum of logarithms near zero has their errors.
        with np.errstate(all="ignore"):
            larger = np.maximum(*(np.abs(array.astype(result.dtype)) for array in arrays))
            ratio = np.spacing(larger).astype(np.longdouble) / np.spacing(np.abs(result))
            ulps = ULPS * np.nan_to_num(np.maximum(1, ratio), nan=1)
    return ulps


def vanishing(row: Row, arrays: tuple[np.ndarray, ...], results: tuple[np.ndarray, ...]) -> np.ndarray:
    """Where an operand or result is smaller than normal numbers or nearly so, or what is in between."""
    given = [part for array in (*arrays, *results) if array.dtype.kind in "fc" for part in _parts(array)]
    kind = min((part.dtype for part in given), key=lambda dtype: dtype.itemsize)
    lowest = np.finfo(kind).minexp + 2
    exponents = [_exponents(part) for part in given]
    found = np.any([exponent < lowest for exponent in exponents], axis=0)
    if any(array.dtype.kind == "c" for array in arrays):
        operands = [_exponents(part) for array in arrays for part in _parts(array)]
        for size in operands:
            for other_size in operands:
                found |= (size + other_size < lowest) | (size - other_size < lowest)
    return found


def _parts(array: np.ndarray) -> tuple[np.ndarray, ...]:
    return (array.real, array.imag) if array.dtype.kind == "c" else (array,)


def _exponents(part: np.ndarray) -> np.ndarray:
    """Exponents of 2; NaN of zeros, infinities and NaN."""
    with np.errstate(all="ignore"):
        return np.where(np.isfinite(part) & (part != 0), np.frexp(part)[1] - 1.0, np.nan)


def endless(row: Row, arrays: tuple[np.ndarray, ...], results: tuple[np.ndarray, ...]) -> np.ndarray:
    """Where an operand or result is infinite or NaN."""
    return ~np.all([np.isfinite(array) for array in (*arrays, *results)], axis=0)


def lost(row: Row, arrays: tuple[np.ndarray, ...], results: tuple[np.ndarray, ...]) -> np.ndarray:
    """Where a power's angle is larger than its digits tell."""
    base, exponent = (array.astype(complex) for array in arrays)
    with np.errstate(all="ignore"):
        size = np.abs(exponent * np.log(base))
    return (size > 0.05 / np.finfo(arrays[0].dtype).eps) | endless(row, arrays, results)


def anywhere(row: Row, arrays: tuple[np.ndarray, ...], results: tuple[np.ndarray, ...]) -> np.ndarray:
    return np.ones(len(arrays[0]), bool)


def zeros(row: Row, arrays: tuple[np.ndarray, ...], results: tuple[np.ndarray, ...]) -> np.ndarray:
    """Where all operands are zeros."""
    return np.all([array == 0 for array in arrays], axis=0)


@dataclass(frozen=True)
class Limit:
    """Where a ufunc differs from NumPy, and why; `ulps` is by how much at most, None: as it may."""

    reason: str
    where: Callable[..., np.ndarray]
    modes: str
    names: str
    kinds: str = "fciub"
    ulps: float | None = None

    def concerns(self, row: Row, mode: str) -> bool:
        kinds = {np.dtype(dtype).kind for dtype in row.dtypes}
        return mode in self.modes.split() and row.name in self.names.split() and bool(kinds & set(self.kinds))


_FLUSHED = "TensorFlow's and XLA's kernels compute with subnormal numbers taken for zero"
_EVERYWHERE = "eager graph xla"
#: Until 2.2 NumPy computes these by itself; since then it leaves them to the C library.
_INVERSES = "arccos arccosh arcsin arcsinh" if np.isnan(np.arccosh(complex(0, np.nan)).imag) else ""
#: Of zeros with two signs NumPy takes the second, until 2.2 in these, too.
_SECOND_ZERO = "maximum minimum " + ("" if np.signbit(np.fmax([-0.0], [0.0]))[0] else "fmax fmin")
#: TensorFlow before 2.21 flushes more, and its logarithm of XLA has fewer digits.
_IS_OLD = tuple(map(int, tf.__version__.split(".")[:2])) < (2, 21)


def near_one(row: Row, arrays: tuple[np.ndarray, ...], results: tuple[np.ndarray, ...]) -> np.ndarray:
    """Where the operand is close to 1."""
    return np.abs(arrays[0] - 1) < 2e-3


def flushing(*names: str) -> str:
    """The functions among `names` that take subnormal float32 for zero: it depends on the C library."""
    subnormal = np2tf.device_put(np.array([np.finfo("f4").tiny * 0.75], "f4"))
    return " ".join(name for name in names if np.asarray(getattr(tnp, name)(subnormal))[0] == 0)


@cache
def limits() -> tuple[Limit, ...]:
    """Where the results may differ. (TensorFlow is asked for some of it.)"""
    return (
        Limit(
            _FLUSHED,
            vanishing,
            _EVERYWHERE,
            "add arcsin arctan arctan2 arctanh cbrt ceil deg2rad degrees divide divmod equal exp exp2 "
            "float_power floor floor_divide fmax fmin fmod frexp greater greater_equal heaviside hypot ldexp "
            "less less_equal log log10 log1p log2 logaddexp logaddexp2 logical_and logical_not logical_or "
            "logical_xor maximum minimum modf multiply nextafter not_equal power rad2deg radians reciprocal "
            "remainder sign spacing sqrt square subtract tanh",
        ),
        Limit(_FLUSHED, vanishing, "eager", "expm1 sin", kinds="fc"),
        Limit(_FLUSHED, vanishing, "graph", "sin sinh", kinds="fc"),
        Limit(_FLUSHED, vanishing, "eager", flushing("arcsinh", "sinh", "tan"), kinds="fc"),
        Limit(_FLUSHED, vanishing, "graph", flushing("arcsinh", "tan"), kinds="fc"),
        Limit(
            "TensorFlow takes the first of two zeros, but for vectors",
            zeros,
            "eager",
            _SECOND_ZERO,
            kinds="f",
        ),
        Limit(
            "infinities beside NaN have other signs in C's functions",
            endless,
            _EVERYWHERE,
            _INVERSES,
            kinds="c",
        ),
        Limit(_FLUSHED, vanishing, "xla", "arccos arccosh arcsinh sinh", kinds="fc"),
        Limit(_FLUSHED, vanishing, "graph", "expm1" if _IS_OLD else "", kinds="fc"),
        Limit(_FLUSHED, vanishing, "xla", "tan" if _IS_OLD else "", kinds="fc"),
        Limit("the logarithm near 1", near_one, "xla", "arccosh" if _IS_OLD else "", kinds="f", ulps=1e8),
        Limit(
            "the logarithm near 1", near_one, "xla", "arccos arccosh" if _IS_OLD else "", kinds="c", ulps=128
        ),
        Limit(
            "TensorFlow's kernel for vectors of float64 has too few digits of the logarithm",
            anywhere,
            "eager graph",
            "power float_power",
            kinds="f",
            ulps=64.0,
        ),
        Limit(
            "powers with an infinite or NaN part, or an angle with no digits left, end otherwise than C's",
            lost,
            _EVERYWHERE,
            "power float_power",
            kinds="c",
        ),
        Limit(
            "the product is one kernel, and looking for infinities afterwards would cost as much as it does",
            endless,
            _EVERYWHERE,
            "multiply",
            kinds="c",
        ),
    )


def differences(row: Row, mode: str, arrays: tuple[np.ndarray, ...], made, used: set[Limit]) -> Iterator[str]:
    results, _ = table.wanted(row, arrays)
    concerned = [limit for limit in limits() if limit.concerns(row, mode)]
    for wanted, got in zip(results, made, strict=True):
        if (wanted.dtype, wanted.shape) != (got.dtype, got.shape):
            yield f"{row} {mode}: {got.dtype}{got.shape} where NumPy has {wanted.dtype}{wanted.shape}"
            continue
        bad = table.differs(wanted, got, allowed(row, arrays, wanted))
        for limit in concerned:
            if not bad.any():
                break
            excused = bad & limit.where(row, arrays, results)
            if limit.ulps is not None:
                excused &= ~table.differs(wanted, got, np.full(len(wanted), limit.ulps))
            if excused.any():
                used.add(limit)
                bad = bad & ~excused
        if bad.any():
            at = np.flatnonzero(bad)
            shown = "; ".join(
                f"{tuple(array[k] for array in arrays)} -> {got[k]!r}, NumPy {wanted[k]!r}"
                for k in at[:: -(-len(at) // 3)]
            )
            yield f"{row} {mode}, {len(wanted)} elements, {len(at)} differ: {shown}"


def eager_differences(row: Row, used: set[Limit]) -> Iterator[str]:
    full = table.operands(row)
    inputs = [arrays for size, limit in PIECES.items() for arrays in table.pieces(full, size, limit)]
    for arrays in [*inputs, full]:
        made, told = table.eagerly(row, arrays)
        yield from differences(row, "eager", arrays, made, used)
        results, wanted = table.wanted(row, arrays)
        # Of floating-point numbers TensorFlow keeps no flags, and np2tf does not warn (errstate.py).
        if not any(array.dtype.kind in "fc" for array in (*arrays, *results)) and told != wanted:
            yield f"{row} warns of {told}, NumPy of {wanted}"


def staged_differences(
    rows: list[Row], mode: str, sizes: tuple[int | None, ...], used: set[Limit]
) -> Iterator[str]:
    call = table.staged(rows, xla=mode == "xla")
    for size in sizes:
        inputs = [table.operands(row) for row in rows]
        if size is not None:
            inputs = [next(iter(table.pieces(arrays, size, 1))) for arrays in inputs]
        for row, arrays, made in zip(rows, inputs, call(inputs), strict=True):
            yield from differences(row, mode, arrays, made, used)


def stageable(name: str, dtypes=table.DTYPES) -> list[Row]:
    """The rows that can be staged: not a power of integers whose exponent may be negative."""
    return [row for row in table.rows(name, dtypes) if name != "power" or np.dtype(row.dtypes[0]).kind != "i"]


def check(found: list[str], used: set[Limit], rows: list[Row], mode: str) -> None:
    assert not found, "\n".join(found[:40])
    stale = {limit for limit in limits() if any(limit.concerns(row, mode) for row in rows)} - used
    assert not stale, f"these agree with NumPy by now: {stale}"


@pytest.mark.parametrize("name", table.NAMES)
def test_eagerly(name):
    used: set[Limit] = set()
    rows = table.rows(name)
    found = [difference for row in rows for difference in eager_differences(row, used)]
    check(found, used, rows, "eager")


@pytest.mark.parametrize("name", table.NAMES)
def test_in_a_graph(name):
    used: set[Limit] = set()
    rows = stageable(name)
    check([*staged_differences(rows, "graph", (1, 7, None), used)], used, rows, "graph")


@pytest.mark.parametrize("name", table.NAMES)
def test_compiled_by_xla(name):
    """The widest dtypes; all of them, in two sizes, with ``-m long``."""
    used: set[Limit] = set()
    rows = stageable(name, ("float64", "complex128"))
    found = [*staged_differences(rows, "xla", (None,), used)] if rows else []
    check(found, set(limits()), rows, "xla")


@pytest.mark.long
@pytest.mark.parametrize("name", table.NAMES)
def test_every_dtype_compiled_by_xla(name):
    used: set[Limit] = set()
    rows = stageable(name)
    check([*staged_differences(rows, "xla", (7, None), used)], used, rows, "xla")
