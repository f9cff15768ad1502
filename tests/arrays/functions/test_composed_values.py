"""Values that random compositions have shown to be wrong (`tests/fuzz/test_composed_operations.py`)."""

import numpy as np
import pytest

import np2tf
from np2tf import tnp
from np2tf.core.counts import counts


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_negative_zero_is_no_zero_whatever_numbers_came_before(dtype):
    zeros = np.array([0.0, -0.0, 1.0], dtype)
    x = np2tf.device_put(zeros)
    for first, second in ((0.0, -0.0), (-0.0, 0.0), (0, -0.0)):
        for function in (lambda n, x: n - x, lambda n, x: x + n, lambda n, x: n * x, lambda n, x: x - n):
            function(first, x)
            result, wanted = np.asarray(function(second, x)), function(second, zeros)
            assert np.array_equal(np.signbit(result), np.signbit(wanted)), (first, second)


@pytest.mark.parametrize("name", ["exp", "expm1", "sinh", "cosh"])
def test_exponentials_of_known_nan_and_out_of_range_compile(name):
    function = getattr(tnp, name)
    numpys = getattr(np, name)
    x = np.array([np.inf, np.nan, 3e38, 1e3, -3e38, 0.5] * 4, np.float32)

    @np2tf.jit
    def computed(x, half):
        return function(x + np.nan), function(half * np.nan), x - function(x), function(x)

    half = np.arange(6, dtype=np.float16)
    with np2tf.config.using(tier="compile"):
        results = computed(x, half)
    with np.errstate(all="ignore"):
        wanted = numpys(x + np.nan), numpys(half * np.nan), x - numpys(x), numpys(x)
    for result, right in zip(results, wanted, strict=True):
        np.testing.assert_allclose(result, right, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("number", [np.float64(0.3), np.float32(0.3), np.int8(3), np.bool_(True)])
def test_a_numpy_scalar_left_of_a_comparison_compiles(number):
    @np2tf.jit
    def compared(x):
        return number < x, number == x

    x = np.arange(5.0)
    before = counts.compiled
    with np2tf.config.using(tier="compile"):
        results = compared(x)
    assert counts.compiled == before + 1
    for result, right in zip(results, (number < x, number == x), strict=True):
        assert np.array_equal(result, right)
