"""Results whose class, dtype, byte order or rounding is easily lost: Python's bools, squares, halves."""

from __future__ import annotations

import json
import numbers
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import np2tf
from np2tf import tnp
from np2tf.core.counts import counts
from tests.helpers.op_harness import Case, differences

METHODS = ("hazen", "weibull", "linear", "median_unbiased", "lower", "midpoint", "nearest", "inverted_cdf")


def _powers() -> Iterator[Case]:
    for dtype in ("bool", "int8", "uint8", "int64", "float16", "float32"):
        x = np.array([1, 0, 1], dtype)
        for exponent in (0, 1, 2, 3, 2.0, 0.5, True, np.int8(2), np.float32(2)):
            yield Case(".__pow__", (x, exponent))
            yield Case("power", (x, exponent))
        for shift in (0, 1, True, np.uint8(1)) if x.dtype.kind in "iub" else ():
            yield Case(".__lshift__", (x, shift))
            yield Case(".__rshift__", (x, shift))


def _quantiles() -> Iterator[Case]:
    rng = np.random.default_rng(0)
    for dtype in ("float16", "float32", "float64", "int32"):
        for n in (4, 7, 50):
            x = (rng.random(n) * 10).astype(dtype)
            for method in METHODS:
                for q in (0.1, 0.37, np.array([0.05, 0.5, 0.93]), np.float32(0.3)):
                    yield Case("quantile", (x, q), {"method": method})
                    yield Case("nanquantile", (x, q), {"method": method})
                yield Case("percentile", (x, 33.3), {"method": method})
            yield Case("median", (x,))
            yield Case("nanmedian", (x,))


def _halves() -> Iterator[Case]:
    for values in ([60000, -60000, 60000], [300] * 5 + [-300], [1, 2, 3], [65504, 65504], [250, -250]):
        for name in ("std", "var", "mean", "nanstd", "nanvar", "nanmean", "sum"):
            yield Case(name, (np.array(values, np.float16),))
            yield Case(name, (np.array([values], np.float16),), {"axis": 1, "keepdims": True})
    for name in ("nanvar", "nanstd"):
        yield Case(name, (np.array([1e200, -1e200, np.nan]),))
        yield Case(name, (np.array([[1.0, np.nan], [1.0, 2.0]]),), {"axis": 1, "ddof": 1})


@pytest.mark.parametrize("cases", [_powers, _quantiles, _halves])
@pytest.mark.parametrize("mode", ["eager", "graph"])
@pytest.mark.filterwarnings("ignore")
def test_to_the_last_bit(cases: Callable[[], Iterator[Case]], mode: str) -> None:
    """What a graph leaves to the host is refused."""
    found = [f"{case}: {text}" for case, text in differences(cases(), mode, tolerance=0)]
    assert [text for text in found if mode == "eager" or "[NP2TF5" not in text] == []


@pytest.mark.parametrize("dtype", [">f8", ">i4", ">u2", ">c16"])
def test_the_byte_order_is_kept(dtype: str) -> None:
    """By functions that keep the elements; arithmetic gives the machine's order, as in NumPy."""
    x = np.array([3, 1, 2], dtype)
    calls: dict[str, tuple[Any, ...]] = {
        **dict.fromkeys(("sort", "unique", "copy", "ravel", "flip", "transpose", "zeros_like"), (x,)),
        **dict.fromkeys(("add", "maximum", "dot"), (x, x)),
        "concatenate": ([x, x],),
        "stack": ([x, x],),
        "where": ([True, False, True], x, x),
        "take": (x, [0]),
        "reshape": (x, (3, 1)),
        "repeat": (x, 2),
        "partition": (x, 1),
        "pad": (x, 1),
        "sum": (x,),
        "cumsum": (x,),
        "mean": (x,),
        "clip": (x, 1, 2),
        "append": (x, x),
        "roll": (x, 1),
    }
    with np2tf.config.using(eager="tensorflow"):
        for name, args in calls.items():
            if (name, dtype) == ("clip", ">c16"):
                continue
            wanted, found = getattr(np, name)(*args), getattr(tnp, name)(*args)
            assert np.dtype(found.dtype).str == np.dtype(wanted.dtype).str, name
            np.testing.assert_array_equal(np.asarray(found), wanted)


def _sum_of_floats(x: Any) -> Any:
    total = 0.0
    for k in range(len(x)):
        total = total + x[k] if isinstance(x[k], float) else total - x[k]
    return total if isinstance(total, (float, np.floating)) else -total


def _abstract(x: Any) -> Any:
    number = x[0] * 2
    real = isinstance(number, numbers.Real) and not isinstance(number, numbers.Integral)
    return x * 2 if real else x * 3


def _matched(x: Any) -> Any:
    match x[1] * 1.0:
        case int():
            return x * 0
        case float():
            return x * 2
    return x


def _compared(x: Any) -> Any:
    return x * 2 if type(x[0]) is np.float64 else x * 3


def _no_array(x: Any) -> Any:
    return x * 2 if isinstance(x.sum(), np.ndarray) else x * 3


def _pythons(x: Any) -> Any:
    answers = np.allclose(x, x), np.array_equal(x, x + 1), np.array_equiv(x, x)
    return [*answers, np.ndim(x), np.size(x), list(np.shape(x)), np.isscalar(x[0]), np.iscomplexobj(x)]


@pytest.mark.parametrize(
    "function",
    [_sum_of_floats, _abstract, _matched, _compared, _no_array, _pythons],
    ids=lambda f: f.__name__,
)
@pytest.mark.filterwarnings("ignore")
def test_classes_in_functions_that_are_jitted_by_hand(function: Callable[[Any], Any]) -> None:
    """A staged number has the class that it has in NumPy; ``type(x)`` is left to the host."""
    x = np.arange(3.0)
    wanted, found = function(x), np2tf.jit(function, tier="compile")(x)
    assert repr(found) == repr(wanted)
    if function is _pythons:
        assert found[0] is True
        assert json.dumps(found) == json.dumps(wanted)


def test_elements_cannot_be_deleted() -> None:
    with pytest.raises(ValueError, match="cannot delete array elements"):
        del np2tf.device_put(np.arange(3.0))[0]


def test_numbers_of_numpy_wrap_where_they_are_converted_and_the_call_stays_compiled() -> None:
    """`astype` of a NumPy number looks no more than that of an array whether the number fits."""

    def f(x: Any) -> Any:
        return x.sum().astype(np.int8), x.sum().astype(np.uint16), x.max().astype(np.int32)

    compiled = np2tf.jit(f, tier="compile")
    for x in (np.arange(5), np.arange(5) * -(2**40) - 1, np.arange(5, dtype=np.uint64) * 2**62):
        before = counts.compiled
        for found, expected in zip(compiled(x), f(x), strict=True):
            assert found == expected
            assert type(found) is type(expected)
        assert counts.compiled == before + 1


@pytest.mark.parametrize("key", [(), 0, slice(None), [0], ...], ids=str)
@pytest.mark.parametrize("dtype", ["float16", "float64", "int8", "int64", "complex128", "bool"])
def test_a_masked_element_is_written_as_numpy_writes_it(key: Any, dtype: str) -> None:
    def write(namespace: Any) -> Any:
        array = namespace.zeros(() if key == () else 3, dtype)
        with warnings.catch_warnings(record=True) as given:
            warnings.simplefilter("always")
            try:
                array[key] = np.ma.masked
            except np.ma.MaskError as error:
                return str(error)
        return np.asarray(array), [str(warning.message) for warning in given]

    with np2tf.config.using(eager="tensorflow"):
        written = write(tnp)
    np.testing.assert_equal(written, write(np))


@pytest.mark.parametrize("function", ["mean", "nanmean", "nanvar", "nanstd"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_the_mean_of_nothing_warns(function: str, dtype: str) -> None:
    empty = np.zeros((0, 2)) if function == "mean" else np.full((3, 2), np.nan)
    with np2tf.config.using(eager="tensorflow"), pytest.warns(RuntimeWarning, match="empty|Degrees"):
        assert np.isnan(np.asarray(getattr(tnp, function)(tnp.array(empty, dtype), axis=0))).all()
