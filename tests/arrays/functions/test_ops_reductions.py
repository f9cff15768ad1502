"""Every reduction against NumPy, over dtypes, shapes, axes and modes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import np2tf
from np2tf import tnp
from np2tf.arrays.array.ndarray import tensor_array
from np2tf.core.errors import StagingError
from tests.helpers.op_harness import Case, by_mode, differences

DTYPES = ("bool", "int8", "uint8", "int32", "int64", "uint64", "float16", "float32", "float64", "complex128")
OVER_AXES = ("sum", "prod", "mean", "var", "std", "max", "min", "amax", "any", "all", "ptp", "count_nonzero")
OF_NAN = ("nansum", "nanprod", "nanmean", "nanvar", "nanstd", "nanmax", "nanmin")
POSITIONS = ("argmax", "argmin")
RUNNING = ("cumsum", "cumprod", "nancumsum", "nancumprod", "cumulative_sum", "cumulative_prod")


def values(dtype: str, shape: tuple[int, ...], nan: bool = False, seed: int = 0) -> np.ndarray:
    """Small numbers, so that products fit; with NaN in some places if wanted."""
    rng = np.random.default_rng(seed)
    array = np.asarray(rng.integers(-3 if np.dtype(dtype).kind in "ifc" else 0, 4, shape)).astype(dtype)
    if np.dtype(dtype).kind in "fc":
        array = array + np.asarray(rng.random(shape)).astype(dtype)
        if np.dtype(dtype).kind == "c":
            array = array - 1j * array[..., ::-1] if shape else array * (1 + 1j)
        if nan and shape:
            array[rng.random(shape) < 0.3] = np.nan
    return array


def axis_cases(name: str, nan: bool = False, thorough: bool = True) -> Iterator[Case]:
    for dtype in DTYPES:
        array = values(dtype, (2, 3, 4), nan)
        yield Case(name, (array,))
        yield Case(name, (array,), {"axis": 1})
        if not thorough and dtype not in ("bool", "int64", "float32", "complex128"):
            continue
        yield Case(name, (array, (0, -1)))
        yield Case(name, (array,), {"axis": (2, 0), "keepdims": True})
        yield Case(name, (values(dtype, (3,), nan), -1))
        yield Case(name, (values(dtype, ()),))
        yield Case(name, (values(dtype, (0,)),))
        yield Case(name, (values(dtype, (0, 3)),), {"axis": 1})
    array = values("float64", (2, 3))
    yield Case(name, (array, ()))
    for axis in (2, -3, (0, 0)):
        yield Case(name, (array,), {"axis": axis})


def special_cases(name: str) -> Iterator[Case]:
    array, mask = values("float32", (2, 3)), np.array([[True, False, True], [False, False, False]])
    thousands = np.full(3000, 1000, "float16")
    if name in ("sum", "mean", "var", "std"):
        yield Case(name, (thousands / 100,))
    if name in ("sum", "prod", "mean", "std", "var", "nansum", "nanmean"):
        yield Case(name, (array,), {"dtype": np.float64})
        yield Case(name, (values("int8", (2, 3)),), {"dtype": np.float32, "axis": 0})
        yield Case(name, (array,), {"where": mask})
        yield Case(name, (array,), {"where": mask, "axis": 1, "keepdims": True})
    if name in ("std", "var", "nanstd", "nanvar"):
        yield Case(name, (array,), {"ddof": 1})
        yield Case(name, (array,), {"axis": 1, "ddof": 3})
        yield Case(name, (array,), {"axis": 1, "correction": 1})
        yield Case(name, (array,), {"axis": 1, "correction": 1, "ddof": 1})
        yield Case(name, (array,), {"axis": 1, "mean": np.array([[1.0], [2.0]], "float32")})
    if name in ("sum", "prod", "max", "min"):
        yield Case(name, (array,), {"initial": 2})
        yield Case(name, (array,), {"axis": 1, "initial": 2, "where": mask})
        yield Case(name, (values("int8", (0,)),), {"initial": 5})
    if name in ("max", "min"):
        yield Case(name, (array,), {"where": mask})
        yield Case(name, (np.array([1.0, np.nan, 3.0]),))
        yield Case(name, (np.array([[1.0, np.nan], [3.0, -np.inf]]), 0))
    if name in ("any", "all"):
        yield Case(name, (np.array([np.nan, 1.0]),))
        yield Case(name, (array > 0,), {"where": mask, "axis": 1})
    if name.startswith("nan"):
        yield Case(name, (np.array([[np.nan, np.nan], [1.0, np.nan]]),), {"axis": 1})
    if name not in ("amax", "ptp", "count_nonzero") and not name.startswith("nan"):
        yield Case(f".{name}", (array,))
        yield Case(f".{name}", (array, 1))


def position_cases(name: str) -> Iterator[Case]:
    for dtype in DTYPES[:-1]:
        array = values(dtype, (3, 4))
        yield Case(name, (array,))
        yield Case(name, (array, 0))
        yield Case(name, (array,), {"axis": -1, "keepdims": True})
        yield Case(name, (array,), {"keepdims": True})
        yield Case(f".{name}", (array, 1))
    yield Case(name, (np.array(3.0),))
    yield Case(name, (np.array([2.0, np.inf, np.nan, np.nan]),))
    yield Case(name, (np.array([2.0, -np.inf, -np.inf]),))
    yield Case(name, (np.array([1, 3, 3, 1, 1]),))
    yield Case(name, (np.zeros((0,)),))
    yield Case(name, (np.zeros((2, 3)), 2))


def running_cases(name: str) -> Iterator[Case]:
    for dtype in DTYPES:
        array = values(dtype, (3, 4), nan=name.startswith("nan"))
        if name.startswith("cumulative"):
            yield Case(name, (array[0],))
            yield Case(name, (array[0],), {"include_initial": True})
            yield Case(name, (array,))
        else:
            yield Case(name, (array,))
            yield Case(name, (array, -1))
        yield Case(name, (array,), {"axis": 0})
        yield Case(name, (array[:0],), {"axis": 0})
        yield Case(name, (values(dtype, ()),))
    yield Case(name, (values("int8", (3, 4)),), {"axis": 1, "dtype": np.int8})
    yield Case(name, (values("int8", (3, 4)),), {"axis": 1, "dtype": np.float32})
    yield Case(name, (values("int8", (3, 4)),), {"axis": 2})


def ufunc_cases() -> Iterator[Case]:
    array, whole = np.random.default_rng(1).random((5, 3)), values("int32", (5, 3))
    for name in (
        "add",
        "multiply",
        "maximum",
        "minimum",
        "fmax",
        "hypot",
        "logaddexp",
        "logical_and",
        "logical_xor",
    ):
        yield Case(f"{name}.reduce", (array,))
        yield Case(f"{name}.reduce", (array,), {"axis": 1, "keepdims": True})
        yield Case(f"{name}.reduce", (array,), {"axis": None})
        if name != "logical_xor":
            yield Case(f"{name}.accumulate", (array,))
            yield Case(f"{name}.accumulate", (array, 1))
    for name in ("add", "bitwise_and", "bitwise_or", "bitwise_xor", "gcd", "lcm", "logical_or"):
        yield Case(f"{name}.reduce", (whole,))
        yield Case(f"{name}.reduce", (whole[:0],))
    yield Case("add.reduce", (np.array([1, 2], "int8"),))
    yield Case("add.outer", (whole[:, 0], array[0]))
    yield Case("subtract.outer", (whole, array))


def output_cases() -> Iterator[Case]:
    """Outputs of other dtypes than the result's, which take part in promotion, and are cast to at the end."""
    outputs = ("bool", "int8", "int64", "uint8", "float32", "float64", "complex128")
    for dtype in ("bool", "uint8", "int64", "float16", "float32", "float64"):
        array = (values("float64", (2, 3)) * 1.3).astype(dtype) if dtype != "bool" else values(dtype, (2, 3))
        for name in (
            *OVER_AXES,
            *OF_NAN,
            *POSITIONS,
            *RUNNING,
            "median",
            "quantile",
            "trace",
            "take",
            "round",
        ):
            if name in ("count_nonzero", "ptp", "median", "quantile") and dtype == "bool":
                continue
            more: tuple[Any, ...] = {"quantile": (0.3,), "take": ([2, 1, 0],), "round": (1,)}.get(name, ())
            length = (2, 3) if name in (*RUNNING, "take", "round") else () if name == "trace" else (2,)
            along = {} if name in ("trace", "round") else {"axis": 1}
            for output in outputs if name != "count_nonzero" else ():
                yield Case(name, (array, *more), {**along, "out": np.ones(length, output)})
        for name in ("add", "multiply", "maximum", "fmax", "hypot", "logaddexp", "logical_and", "bitwise_or"):
            for output in outputs:
                yield Case(f"{name}.reduce", (array,), {"axis": 1, "out": np.ones(2, output)})
                if name in ("add", "multiply", "maximum"):
                    yield Case(f"{name}.accumulate", (array,), {"axis": 1, "out": np.ones((2, 3), output)})
                    yield Case(
                        f"{name}.reduceat", (array, [0, 1]), {"axis": 1, "out": np.ones((2, 2), output)}
                    )
    # NumPy casts to the output after every buffer.
    yield Case("sum", (np.full(20_000, 0.7),), {"out": np.zeros((), int)})
    yield Case("cumsum", (np.full(20_000, 0.7),), {"out": np.zeros(20_000, int)})


def keyword_cases() -> Iterator[Case]:
    """Every keyword of the methods of ufuncs."""
    array, mask = values("float64", (2, 3)), np.array([[True, False, True], [False, False, False]])
    whole = values("int64", (2, 3))
    for name in ("add", "multiply", "maximum", "fmin", "hypot", "logaddexp", "logical_and", "logical_or",
                 "logical_xor", "bitwise_or", "gcd", "lcm", "subtract", "power"):  # fmt: skip
        x = whole if name in ("bitwise_or", "gcd", "lcm") else array
        for axis in (0, 1, None):
            for initial in (1, 2.5, None):
                yield Case(f"{name}.reduce", (x,), {"axis": axis, "initial": initial})
                yield Case(f"{name}.reduce", (x,), {"axis": axis, "initial": initial, "where": mask})
                yield Case(f"{name}.reduce", (x[:0],), {"axis": axis, "initial": initial})
            yield Case(f"{name}.reduce", (x,), {"axis": axis, "where": mask})
            for dtype in ("int8", "float32", "complex128", "bool"):
                yield Case(f"{name}.reduce", (x,), {"axis": axis, "dtype": dtype, "keepdims": True})
        for dtype in ("int8", "float32"):
            yield Case(f"{name}.accumulate", (x,), {"dtype": dtype, "axis": 1})
            yield Case(f"{name}.reduceat", (x, [0, 1]), {"dtype": dtype, "axis": 1})
        yield Case(f"{name}.accumulate", (x,), {"axis": None})
    yield Case("add", (array, 2), {"casting": "equiv"})
    yield Case("add", (array, 2), {"casting": "no"})
    yield Case("matmul", (array, array.T.copy()), {"where": mask})
    yield Case("sum", (mask,), {"dtype": bool, "axis": 0, "initial": True})
    yield Case("prod", (mask,), {"dtype": bool, "axis": 0})
    yield Case("clip", (array, 0, 1), {"casting": "unsafe", "dtype": "int8"})
    yield Case("clip", (array, 0, 1), {"casting": "no"})
    yield Case("polyder", (array[0],))
    yield Case("polyint", (array[0], 2, [1.0, 2.0]))
    for how in ({}, {"mode": "edge"}, {"constant_values": 2}):
        yield Case("pad", (np.array(5.0), 1), how)


def check(cases: Iterator[Case], mode: str) -> None:
    found = [f"{case}: {difference}" for case, difference in differences(cases, mode)]
    assert not found, "\n".join(found)


def reduction_cases(name: str, thorough: bool = True) -> Iterator[Case]:
    """All cases of a name above."""
    if name in POSITIONS:
        yield from position_cases(name)
    elif name in RUNNING:
        yield from running_cases(name)
    else:
        yield from axis_cases(name, nan=name.startswith("nan"), thorough=thorough)
        yield from special_cases(name)


@by_mode
@pytest.mark.parametrize("name", OVER_AXES + OF_NAN + POSITIONS + RUNNING)
def test_reduction(name, mode):
    check(reduction_cases(name, thorough=mode == "eager"), mode)


@by_mode
def test_ufunc_methods(mode):
    check(ufunc_cases(), mode)


@pytest.mark.parametrize("cases", [output_cases, keyword_cases])
@pytest.mark.parametrize("mode", ["eager", "graph", pytest.param("xla", marks=pytest.mark.long)])
def test_outputs_and_keywords(cases: Callable[[], Iterator[Case]], mode: str) -> None:
    """What a graph leaves to the host is refused."""
    listed = list(cases())
    found = [f"{case}: {text}" for case, text in differences(listed, mode)]
    found = [text for text in found if mode == "eager" or "NoGraphFormError" not in text]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("name", ["nanargmax", "nanargmin"])
def test_positions_without_nan(name):
    gaps = np.array([[np.nan, 2.0, 1.0], [3.0, np.nan, 5.0]])
    with np2tf.config.using(eager="tensorflow"):
        for axis in (None, 0, 1):
            assert np.array_equal(getattr(tnp, name)(gaps, axis=axis), getattr(np, name)(gaps, axis=axis))
        with pytest.raises(ValueError, match="All-NaN"):
            getattr(tnp, name)(np.array([np.nan]))

    @tf.function(autograph=False)
    def staged(x):
        return getattr(tnp, name)(tensor_array(x)).tensor

    # A compiled function could not raise where a slice has nothing but NaN.
    with pytest.raises(StagingError) as refused:
        staged(tf.constant(gaps))
    assert refused.value.code == "NP2TF542"


def test_out_by_position_and_by_name():
    with np2tf.config.using(eager="tensorflow"):
        a, out = tensor_array(tf.constant([[1.0, 2.0], [3.0, 4.0]])), tensor_array(tf.zeros(2))
        assert a.sum(0, None, out) is out
        assert out.numpy().tolist() == [4, 6]
        assert tnp.max(a, axis=1, out=out) is out
        assert out.numpy().tolist() == [2, 4]
