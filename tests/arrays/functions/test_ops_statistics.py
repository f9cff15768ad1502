"""Statistics, calculus, rounding and logic against NumPy, over dtypes and modes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import tensorflow as tf

import np2tf
from np2tf import tnp
from np2tf.arrays.array.ndarray import tensor_array
from np2tf.arrays.front.numpy_state import NUMPY
from tests.helpers.op_harness import Case, by_mode, differences

REALS = ("bool", "int8", "uint8", "int64", "float16", "float32", "float64")
NUMBERS = (*REALS, "complex128")


def values(dtype: str, *shape: int) -> np.ndarray:
    array = np.asarray(np.random.default_rng(3).uniform(0 if dtype.startswith("u") else -5, 6, shape))
    if dtype == "complex128":
        return array + 1j * array[..., ::-1]
    return (array > 0) if dtype == "bool" else array.astype(dtype)


X, Y, W = values("float64", 5), values("float64", 3, 4), np.array([1.0, 2.0, 0.5, 3.0, 1.0])
RISING, SPECIAL = np.array([0.0, 1.0, 2.5, 4.0]), np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5])
GAPS = np.array([[1.0, np.nan, 3.0, 7.0], [np.nan, np.nan, np.nan, np.nan], [4.0, 1.0, 2.0, np.nan]])
IMAGINARY = values("complex128", 5)


def averages() -> Iterator[Case]:
    for dtype in NUMBERS:
        a = values(dtype, 3, 4)
        yield Case("average", (a,))
        yield Case("average", (a, 0))
        yield Case("average", (a,), {"axis": 1, "weights": W[:4]})
        yield Case("average", (a,), {"axis": 1, "weights": W[:4], "returned": True, "keepdims": True})
        yield Case("cov", (a,))
        yield Case("cov", (a[0], a[1]))
    yield Case("average", (Y,), {"weights": np.abs(Y)})
    yield Case("average", (Y,), {"weights": W[:4]})
    yield Case("average", (Y,), {"weights": W[:4], "axis": 0})
    for kwargs in ({"rowvar": False}, {"bias": True}, {"ddof": 0}, {"ddof": 1.5}):
        yield Case("cov", (Y,), kwargs)
    yield Case("cov", (Y,), {"dtype": np.float32})
    yield Case("cov", (np.ones((2, 2, 2)),))
    yield Case("cov", (X,))
    yield Case("corrcoef", (Y,))
    yield Case("corrcoef", (Y[0], Y[1]))
    yield Case("corrcoef", (Y,), {"rowvar": False})
    yield Case("corrcoef", (X,))


def quantiles() -> Iterator[Case]:
    for dtype in REALS[1:]:
        a = values(dtype, 3, 5)
        yield Case("median", (a,))
        yield Case("median", (a, 0))
        yield Case("median", (a,), {"axis": -1, "keepdims": True})
        yield Case("median", (a[:, :4],), {"axis": (0, 1)})
        yield Case("percentile", (a, 30))
        yield Case("percentile", (a, [25, 50.0, 75]), {"axis": 1})
        yield Case("quantile", (a, 0.25), {"axis": 0, "keepdims": True})
        yield Case("nanmedian", (a,), {"axis": 1})
    for method in (
        "lower",
        "higher",
        "nearest",
        "midpoint",
        "hazen",
        "weibull",
        "median_unbiased",
        "normal_unbiased",
    ):
        yield Case("quantile", (Y, [0, 0.13, 0.5, 1]), {"method": method, "axis": 1})
    for name in ("nanmedian", "median"):
        yield Case(name, (GAPS,))
        yield Case(name, (GAPS,), {"axis": 1})
        yield Case(name, (GAPS,), {"axis": 0, "keepdims": True})
        yield Case(
            name, (np.array([[np.inf, np.inf, 1.0], [np.nan, np.inf, np.inf], [4.0, 2.0, 1.0]]),), {"axis": 1}
        )
    for name in ("percentile", "nanpercentile"):
        yield Case(name, (GAPS, 40), {"axis": 1})
        yield Case(name, (GAPS, [0, 40, 100]), {"axis": 0})
        yield Case(name, (GAPS, [40.0, 60.0]), {"axis": 1, "keepdims": True})
        yield Case(name, (Y, 101))
    yield Case("nanquantile", (GAPS.astype("float32"), [[0.1, 0.5], [0.2, 0.9]]), {"axis": 0})
    yield Case("quantile", (Y, -0.1))
    yield Case("quantile", (Y, 0.5), {"method": "odd"})
    yield Case("median", (np.zeros((0,)),))
    yield Case("median", (Y, 2))


def histograms() -> Iterator[Case]:
    for dtype in REALS:
        a = values(dtype, 40)
        yield Case("histogram", (a,))
        yield Case("histogram", (a, 5), {"range": (-2, 4)})
        yield Case("histogram", (a, [-3.0, 0.0, 1.0, 2.5]))
        yield Case("digitize", (a, RISING))
    a = values("float64", 40)
    yield Case("histogram", (a,), {"weights": np.abs(a)})
    yield Case("histogram", (a, np.array([0, 2, 4])), {"weights": np.arange(40), "density": True})
    yield Case("histogram", (a, 4), {"density": True})
    single = np.array([1.0, 2.0, 1.5], "float32")
    yield Case("histogram", (single, 3), {"range": (np.float64(0), np.float64(2.5))})
    yield Case("histogram", (single, 3), {"range": (0, np.float32(2.5))})
    bounds = np.array([1 + np.finfo("float32").eps, 2], "float32")
    yield Case("histogram", (single.astype("float16"), 1), {"range": (bounds[0], bounds[1])})
    yield Case("histogram", (np.ones(3), 4))
    yield Case("histogram", (np.zeros((0,)), 4))
    yield Case("histogram", (np.linspace(0, 1, 21), 10))
    yield Case("histogram", (a, 0))
    yield Case("histogram", (a, [3, 1, 2]))
    yield Case("histogram", (a, 3), {"range": (3, 1)})
    yield Case("histogram", (a,), {"weights": np.ones(3)})
    yield Case("histogram_bin_edges", (a, 7))
    yield Case("digitize", (SPECIAL, [0.0, 1.0, 2.0]), {"right": True})
    yield Case("digitize", (SPECIAL, [2.0, 1.0, 0.0]))
    yield Case("digitize", (Y, [2.0, 1.0, 0.0]), {"right": True})
    for dtype in ("int8", "uint8", "int64"):
        yield Case("bincount", (np.array([1, 3, 1, 0], dtype),))
        yield Case("bincount", (np.array([1, 3, 1, 0], dtype),), {"weights": W[:4], "minlength": 6})
    yield Case("bincount", (np.zeros((0,), int),), {"minlength": 3})
    yield Case("bincount", (np.ones(3),))
    yield Case("bincount", (np.ones((3, 1), int),))


def slidings() -> Iterator[Case]:
    for dtype in NUMBERS:
        a, v = values(dtype, 7), values(dtype, 3)
        for mode in ("full", "same", "valid"):
            yield Case("convolve", (a, v), {"mode": mode})
            yield Case("convolve", (v[:2], a), {"mode": mode})
            yield Case("correlate", (a, v), {"mode": mode})
            yield Case("correlate", (v[:2], a), {"mode": mode})
    yield Case("convolve", (values("float64", 50), values("float64", 20), "same"))
    yield Case("convolve", (values("int64", 50), values("float32", 20)))
    yield Case("convolve", (X, np.zeros((0,))))
    yield Case("correlate", (np.zeros((0,)), X))
    yield Case("convolve", (Y, X))
    yield Case("convolve", (X, X, "odd"))


def calculus() -> Iterator[Case]:
    for dtype in NUMBERS:
        a = values(dtype, 3, 4)
        yield Case("diff", (a,))
        yield Case("diff", (a,), {"n": 2, "axis": 0})
        yield Case("ediff1d", (a,))
        yield Case("gradient", (a,))
        yield Case("gradient", (a[0],), {"edge_order": 2})
        yield Case("gradient", (a, 0.5), {"axis": 1})
        yield Case("trapezoid", (a,))
        yield Case("cross", (a[:, :3], values(dtype, 3)))
    yield Case("gradient", (Y, 2.0, np.array([0.0, 1.0, 2.5, 4.0])))
    yield Case("gradient", (Y, RISING), {"axis": 1, "edge_order": 2})
    yield Case("gradient", (Y,), {"axis": (1, 0)})
    yield Case("gradient", (Y, 1.0, 2.0, 3.0))
    yield Case("gradient", (X[:1],))
    yield Case("diff", (X,), {"prepend": 0.0, "append": np.array([1.0, 2.0])})
    yield Case("diff", (Y,), {"prepend": 0})
    yield Case("diff", (X, 0))
    yield Case("diff", (X, -1))
    yield Case("diff", (np.array(1.0),))
    yield Case("diff", (Y,), {"axis": 2})
    yield Case("diff", (X[:1],), {"n": 3})
    yield Case("ediff1d", (X,), {"to_begin": -99.0, "to_end": np.array([88.0, 99.0])})
    yield Case("trapezoid", (Y,), {"dx": 0.5, "axis": 0})
    yield Case("trapezoid", (Y, RISING))
    yield Case("trapezoid", (Y, Y), {"axis": 0})
    yield Case("unwrap", (X * 3,))
    yield Case("unwrap", (Y * 3,), {"axis": 0})
    yield Case("unwrap", (X.astype("float32") * 3,), {"period": 4.0, "discont": 3.0})
    yield Case("cross", (Y[:, :3], Y[:, 1:]))
    yield Case("cross", (Y[:, :3], Y[:, 1:]), {"axis": 0})
    yield Case("cross", (Y[:, :3], Y[:, 1:]), {"axisa": 0, "axisc": 0})
    yield Case("cross", (Y, Y))


def interpolations() -> Iterator[Case]:
    for dtype in REALS:
        yield Case("interp", (values(dtype, 6), RISING, W[:4]))
    yield Case("interp", (SPECIAL, RISING, W[:4]))
    ends = np.array([0.5, np.nan, -np.inf, np.inf, 0.0, 1.0])
    for xp in ([-np.inf, 1.0], [0.0, np.inf], [-np.inf, np.inf], [0.0, 1.0]):
        for fp in (
            [0.0, 10.0],
            [10.0, 10.0],
            [-np.inf, 10.0],
            [0.0, np.inf],
            [np.inf, np.inf],
            [-np.inf, np.inf],
        ):
            yield Case("interp", (ends, np.array(xp), np.array(fp)))
    yield Case("interp", (2.0, RISING, W[:4]))
    yield Case("interp", (Y, RISING, W[:4]), {"left": -7.0, "right": np.nan})
    yield Case("interp", (Y, np.array([3.0, 0.5, 2.0]), W[:3]), {"period": 4})
    yield Case("interp", (Y, RISING[:1], W[:1]))
    yield Case("interp", (Y, RISING, W[:3]))
    yield Case("interp", (Y, np.zeros((0,)), np.zeros((0,))))


def roundings() -> Iterator[Case]:
    for dtype in NUMBERS:
        a = values(dtype, 3, 4)
        for name in ("round", ".round", "around"):
            yield Case(name, (a,))
        if dtype != "complex128":
            yield Case("clip", (a, 0, 3))
            yield Case(".clip", (a, 1))
            yield Case(".clip", (a,), {"max": 2})
            yield Case("fix", (a,))
        yield Case("nan_to_num", (a,))
        yield Case("angle", (a,))
        yield Case("sinc", (a,))
        if dtype != "bool":
            yield Case("round", (a, 1))
            yield Case("round", (a * np.array(10, a.dtype), -1))
    yield Case("round", (np.array([0.5, 1.5, 2.5, -0.5, 2.675]), 0))
    yield Case("round", (np.array([0.125, 2.675, 1e20]), 2))
    yield Case("clip", (Y, -1.0, np.array([1.0, 2.0, 3.0, 4.0])))
    yield Case("clip", (Y.astype("float32"), np.array(-1.0), 2))
    yield Case("clip", (np.array([np.nan, 1.0, 9.0]), 2, 4))
    yield Case("clip", (np.array([1.0, 9.0]), np.nan, 4))
    yield Case("clip", (Y, None, 2))
    yield Case("clip", (np.array([1, 2], "uint8"), 0, 300))
    yield Case("nan_to_num", (SPECIAL,))
    yield Case("nan_to_num", (SPECIAL.astype("float32"),), {"nan": 7.0, "posinf": 3.0, "neginf": -3.0})
    yield Case("nan_to_num", (SPECIAL,), {"nan": np.inf, "posinf": 3.0})
    yield Case("nan_to_num", (SPECIAL + 1j,))
    yield Case("real_if_close", (Y,))
    yield Case("angle", (IMAGINARY,), {"deg": True})
    yield Case("sinc", (np.array([0.0, 1.0, 0.5, 1e-9]),))


def logic() -> Iterator[Case]:
    for dtype in NUMBERS:
        a = values(dtype, 3, 4)
        for name in ("isclose", "allclose", "array_equal", "array_equiv"):
            yield Case(name, (a, a))
            yield Case(name, (a, values(dtype, 4)))
        for name in ("iscomplex", "isreal", "iscomplexobj", "isrealobj"):
            yield Case(name, (a,))
    for kwargs in ({}, {"equal_nan": True}, {"rtol": 0.5}, {"atol": 1.0}):
        yield Case("isclose", (SPECIAL, SPECIAL[::-1].copy()), kwargs)
        yield Case("isclose", (np.array([1, 2, 3]), np.array([1, 3, 9])), kwargs)
        yield Case("allclose", (SPECIAL, SPECIAL), kwargs)
    yield Case("isclose", (1.0, np.array([1.0, 1.1])))
    yield Case("isclose", (np.array([1, 2]), 1))
    yield Case("allclose", (np.ones(3), np.ones(2)))
    yield Case("array_equal", (SPECIAL, SPECIAL), {"equal_nan": True})
    yield Case("array_equal", (np.ones(3), np.ones((3, 1))))
    yield Case("array_equiv", (np.ones(3), np.ones((3, 1))))
    yield Case("array_equiv", (np.ones(3), np.ones(2)))
    for name in ("isneginf", "isposinf"):
        yield Case(name, (SPECIAL,))
        yield Case(name, (IMAGINARY,))


TABLES = {
    table.__name__: table
    for table in (
        averages,
        quantiles,
        histograms,
        slidings,
        calculus,
        interpolations,
        roundings,
        logic,
    )
}


def test_what_is_known_while_staging_only_by_its_value_is_checked_eagerly():
    with np2tf.config.using(eager="tensorflow"):
        with pytest.raises(ValueError, match="monotonically"):
            tnp.digitize(Y, np.array([2.0, 1.0, 3.0]))
        with pytest.raises(ZeroDivisionError):
            tnp.average(X, weights=np.zeros(5))
        with pytest.raises(ValueError, match="negative"):
            tnp.bincount(np.array([1, -1]))
        assert tnp.real_if_close(np.array([1 + 0j, 2 + 1e-20j])).dtype == np.float64


def test_nan_to_num_in_place_writes_to_the_array():
    array = tensor_array(tf.constant([np.nan, 1.0], tf.float64))
    assert tnp.nan_to_num(array, copy=False) is array
    assert array.numpy().tolist() == [0, 1]


def test_answers_decide_branches():
    with np2tf.config.using(eager="tensorflow"):
        assert tnp.allclose(X, X)
        assert not tnp.array_equal(X, X + 1)
        assert tnp.isscalar(tnp.sum(X))
        assert not tnp.isscalar(tnp.add(X, 1))


def test_bessel_function():
    with np2tf.config.using(eager="tensorflow"):
        np.testing.assert_allclose(tnp.i0(Y).numpy(), np.i0(Y), rtol=1e-12)


@by_mode
@pytest.mark.parametrize("name", TABLES)
def test_like_numpy(name, mode):
    found = [f"{case}: {difference}" for case, difference in differences(TABLES[name](), mode)]
    assert not found, "\n".join(found)


def test_settings_of_vectorize_may_come_later():
    function = tnp.vectorize(lambda x: x)
    with pytest.raises(ValueError, match="otypes"):
        function(tnp.zeros((0, 5), int))
    function.otypes = "i"
    assert function(tnp.zeros((0, 5), int)).shape == (0, 5)


def test_edges_that_are_not_apart_are_refused():
    narrow = np.array([1.0, 1 + 2**-52])

    def edges(values):
        return tnp.histogram(values, 10)[1].tolist()

    if NUMPY < (2, 2):
        assert edges(tensor_array(tf.constant(narrow))) == edges(narrow)
        return
    for values in (narrow, tensor_array(tf.constant(narrow))):
        with pytest.raises(ValueError, match="Too many bins for data range"):
            edges(values)
