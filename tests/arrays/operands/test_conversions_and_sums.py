"""Conversions to integers out of range, bfloat16, and the rounding errors of sums, against NumPy."""

from __future__ import annotations

import warnings

import ml_dtypes
import numpy as np
import pytest
import tensorflow as tf

import np2tf
from np2tf import tnp
from np2tf.arrays.array.ndarray import tensor_array
from tests.helpers import ufunc_table as table

MODES = ("eager", "graph", "xla")


def run(function, mode: str, *arrays: np.ndarray):
    """`function` of tensors in one of the modes: its results on the host."""
    if mode == "eager":
        with np2tf.config.using(eager="tensorflow"):
            return [np.asarray(made) for made in function(*map(tnp.asarray, arrays))]
    staged = tf.function(
        lambda *tensors: [made.tensor for made in function(*map(tensor_array, tensors))],
        jit_compile=mode == "xla",
        autograph=False,
    )
    return [made.numpy() for made in staged(*map(tf.constant, arrays))]


# -- conversions --------------------------------------------------------------------------------------------

#: Bounds for uint32: outside of them NumPy's own results depend on the place in the array.
_FITTING = {"uint32": (-(2.0**31), 2.0**32 - 2**10)}
SOURCES = (*table.FLOATS, *table.COMPLEX)


def numbers(source: str, wanted: str) -> np.ndarray:
    """Numbers that fit and numbers that do not fit integers of all widths."""
    edges = [2.0**k for k in (7, 8, 15, 16, 31, 32, 63, 64)]
    magnitudes = [0, 1.5, 300, 40000, 70000, 1e10, 1e20, np.inf, np.nan, *edges, *(k - 1 for k in edges)]
    with np.errstate(all="ignore"):
        made = np.array([sign * k for k in magnitudes for sign in (1, -1)]).astype(source)
    low, high = _FITTING.get(wanted, (-np.inf, np.inf))
    with np.errstate(invalid="ignore"):
        kept = ~((made.real < low) | (made.real > high) | (wanted in _FITTING and ~np.isfinite(made.real)))
    return made[kept]


def told(function) -> tuple[list[str], np.ndarray]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        made = function()
    return sorted(str(warning.message) for warning in found), np.asarray(made)


@pytest.mark.parametrize("wanted", table.INTEGERS)
def test_conversion_of_each_number_in_arrays_of_many_sizes(wanted):
    found = []
    with np2tf.config.using(eager="tensorflow"):
        for source in SOURCES:
            for number in numbers(source, wanted):
                for size in (1, 7, 64):
                    array = np.full(size, number)
                    tensor = tensor_array(tf.constant(array))
                    (warned, made), (wants, expected) = (
                        told(lambda given=given: given.astype(wanted)) for given in (tensor, array)
                    )
                    if warned != wants or made.dtype != expected.dtype or (made != expected).any():
                        found.append(f"{number!r} * {size}: {made[0]} {warned}, NumPy {expected[0]} {wants}")
    assert not found, "\n".join(found)


@pytest.mark.parametrize("mode", MODES[1:])
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::numpy.exceptions.ComplexWarning")
def test_staged_conversion(source, mode):
    arrays = [numbers(source, wanted) for wanted in table.INTEGERS]
    made = run(
        lambda *given: [array.astype(wanted) for array, wanted in zip(given, table.INTEGERS, strict=True)],
        mode,
        *arrays,
    )
    for array, wanted, converted in zip(arrays, table.INTEGERS, made, strict=True):
        np.testing.assert_array_equal(
            converted, array.astype(wanted), err_msg=f"{array} to {wanted}", strict=True
        )


# -- bfloat16 -----------------------------------------------------------------------------------------------

BRAIN = np.array([0.0, -0.0, 1.0, -2.5, np.nan, np.inf, -np.inf, 3.0, 0.5], ml_dtypes.bfloat16)


def of_brain(function, *args):
    try:
        made = function(*args)
    except (TypeError, ValueError) as error:
        return type(error)
    return made if isinstance(made, tuple) else (made,)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", table.NAMES)
def test_bfloat16(name):
    ufunc = getattr(np, name)
    args = (BRAIN, np.arange(len(BRAIN), dtype="int32")) if name == "ldexp" else (BRAIN,) * ufunc.nin
    expected = of_brain(ufunc, *args)
    with np2tf.config.using(eager="tensorflow"):
        made = of_brain(getattr(tnp, name), *map(tnp.asarray, args))
    if isinstance(expected, type):
        assert made is expected
        return
    for rounded, wanted in zip(made, expected, strict=True):
        rounded = np.asarray(rounded)
        assert rounded.dtype == wanted.dtype
        np.testing.assert_allclose(
            rounded.astype("float32"), wanted.astype("float32"), rtol=2**-7, atol=1e-38
        )


@pytest.mark.parametrize("name", ["sum", "mean", "std", "var", "prod", "max", "min", "argmax"])
def test_reductions_of_bfloat16(name):
    given = BRAIN[np.isfinite(BRAIN.astype("float32"))]
    expected = getattr(np, name)(given)
    with np2tf.config.using(eager="tensorflow"):
        made = np.asarray(getattr(tnp, name)(tnp.asarray(given)))
    assert made.dtype == expected.dtype
    np.testing.assert_allclose(made.astype("float32"), expected.astype("float32"), rtol=2**-6)


# -- sums ---------------------------------------------------------------------------------------------------

SUMS = [
    ((50, 40, 30, 20), axes)
    for axes in ((0, 2, 3), (0, 2), (1, 3), (0, 1), (1, 2), (2, 3), (0, 1, 2, 3), (1,))
] + [((200, 50, 20), axes) for axes in ((0, 2), (0,), (1,), (0, 1, 2))]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_sums_have_rounding_errors_like_numpys(dtype, mode):
    """XLA adds up one by one what NumPy adds up in pairs: some units more for 100,000 numbers."""
    names, arrays = (
        ("sum", "mean", "nansum"),
        {shape: np.random.default_rng(0).random(shape).astype(dtype) for shape, _ in SUMS},
    )
    slack = (8 if mode == "xla" else 2) * np.finfo(dtype).eps

    def all_sums(*given):
        of = dict(zip(arrays, given, strict=True))
        return [getattr(tnp, name)(of[shape], axis=axes) for shape, axes in SUMS for name in names]

    remaining = iter(run(all_sums, mode, *arrays.values()))
    for shape, axes in SUMS:
        wide = arrays[shape].astype("float64")
        exact = {"sum": wide.sum(axes), "mean": wide.mean(axes)}
        for name in names:
            right = exact.get(name, exact["sum"])
            results = next(remaining), getattr(np, name)(arrays[shape], axis=axes)
            error, numpy_error = (
                np.max(np.abs(np.asarray(result, "float64") / right - 1)) for result in results
            )
            assert error <= 4 * numpy_error + slack, (
                f"{name} of {shape} over {axes}: {error:.1e}, NumPy {numpy_error:.1e}"
            )
