"""The universal functions of scipy.special on TensorFlow against SciPy's: value for value, in every mode."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
import pytest
import tensorflow as tf

import np2tf
from np2tf.arrays.array.ndarray import tensor_array
from np2tf.core import rules
from np2tf.core.errors import StagingError
from np2tf.scipy import special as ours
from tests.helpers.op_harness import MODES

scipy = pytest.importorskip("scipy")
special = pytest.importorskip("scipy.special")

NAMES = sorted(
    name.removeprefix("scipy.special.")
    for name in rules.scipy()
    if name.startswith("scipy.special.")
    and isinstance(getattr(special, name.removeprefix("scipy.special.")), np.ufunc)
)
#: So far results may be from SciPy's, relative to their size …
BOUND = 1e-12
#: … and where they are farther, how far and why. An entry that is not needed fails.
LIMITS = {
    "betainc": (2e-11, "TensorFlow's continued fraction, under XLA, where a parameter is below 0.1"),
    "gammaincc": (4e-12, "TensorFlow's series, under XLA, where the first parameter is below 0.01"),
    "betaln": (4e-12, "the logarithm of a gamma function of some thousands, beside a small sum"),
    "beta": (4e-12, "the exponential of a logarithm of some hundreds"),
    "binom": (4e-12, "the exponential of a logarithm of some hundreds"),
}
#: TensorFlow has kernels of them, and XLA has not: a compiled function that calls them is a TensorFlow graph.
NOT_IN_XLA = frozenset({"j0", "j1", "y0", "y1", "k0", "k0e", "k1", "k1e"})
SCIPY = tuple(map(int, scipy.__version__.split(".")[:2]))
#: Since then they have limits for zeros and infinities, where they were NaN, and NaN for every NaN.
LIMITS_OF_1_16 = frozenset({"betainc", "gammainc", "gammaincc"})
SPECIAL = np.array(
    [
        0.0,
        1,
        2,
        3,
        5,
        10,
        20,
        171,
        172,
        0.5,
        1.5,
        2.5,
        1e-10,
        1e-300,
        1e10,
        1e300,
        np.inf,
        0.25,
        30,
        700,
        37.5,
        100.5,
    ]
)
RNG = np.random.default_rng(0)
NUMBERS = np.concatenate(
    [
        *(SPECIAL, -SPECIAL, [np.nan, 0.75, 1e-5]),
        *(
            RNG.normal(0, 3, 200),
            np.exp(RNG.normal(0, 3, 200)),
            RNG.uniform(0, 1, 200),
            np.arange(-5, 40) / 2,
        ),
    ]
)
FEW = np.concatenate([SPECIAL[:-3], -SPECIAL[:-3], [np.nan], RNG.normal(0, 4, 25), RNG.uniform(0, 1, 15)])
POSITIVE = np.concatenate([np.exp(RNG.uniform(-6, 7, 40)), np.arange(1, 30)])


def pairs(*values: np.ndarray) -> tuple[np.ndarray, ...]:
    """Every number with every other."""
    return tuple(map(np.ravel, np.meshgrid(*values)))


def operands(name: str) -> Iterator[tuple[np.ndarray, ...]]:
    """Where a function is compared. (What it leaves to SciPy is in tests/arrays/test_scipy.py.)"""
    broken = RNG.uniform(-6, 6, 40)
    edges = np.array([0.0, -0.0, 1, 2, 0.5, -1, -0.5, 1e-3, 30, np.inf, -np.inf, np.nan])
    size = np.exp(RNG.uniform(-4, 6, 1500))
    if name in ("beta", "betaln"):
        yield pairs(POSITIVE, POSITIVE)
        yield pairs(broken, broken)
    elif name == "poch":
        yield pairs(np.concatenate([POSITIVE[:50], [1.0, 2, 3]]), np.array([0.0, 0.5, 1, 2, 5, 20]))
    elif name == "binom":
        first, second = pairs(POSITIVE, POSITIVE)
        yield np.maximum(first, second), np.minimum(first, second)
        yield pairs(broken, broken)
        yield pairs(np.arange(-3, 40.0), np.arange(-3, 40.0))
    elif name in ("gammainc", "gammaincc"):
        yield size, size * np.exp(RNG.normal(0, 0.6, 1500))
        yield pairs(edges, edges)
    elif name in ("chdtr", "chdtrc"):
        yield 2 * size, 2 * size * np.exp(RNG.normal(0, 0.6, 1500))
    elif name == "betainc":
        other_operand = np.exp(RNG.uniform(-4, 6, 1500))
        near = size / (size + other_operand) + RNG.normal(0, 0.3, 1500) / np.sqrt(1 + size + other_operand)
        yield size, other_operand, np.clip(near, 1e-3, 0.999)
        yield pairs(edges, edges, np.array([0.0, 0.3, 1, np.nan, -1, 2]))
    elif getattr(special, name).nin == 2:
        yield pairs(FEW, FEW)
    else:
        yield (NUMBERS,)


def computed(name: str, args: tuple[np.ndarray, ...], mode: str) -> np.ndarray:
    """The values of np2tf, computed in a mode."""

    def call(*tensors: tf.Tensor) -> tf.Tensor:
        return getattr(ours, name)(*map(tensor_array, tensors)).tensor

    function = call if mode == "eager" else tf.function(call, jit_compile=mode == "xla", autograph=False)
    return function(*map(tf.constant, args)).numpy()


def wanted(name: str, args: tuple[np.ndarray, ...]) -> np.ndarray:
    """The values of SciPy, without its warnings."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return getattr(special, name)(*args)


def distances(got: np.ndarray, want: np.ndarray) -> np.ndarray:
    """Relative differences; what is subnormal or nearly so is as good as 0."""
    with np.errstate(all="ignore"):
        apart = np.abs(got - want) / np.abs(want)
    apart[(got == want) | (np.isnan(got) & np.isnan(want))] = 0
    apart[(np.abs(got) < 1e-300) & (np.abs(want) < 1e-300)] = 0
    return np.nan_to_num(apart, nan=np.inf)


@pytest.mark.parametrize("name", NAMES)
def test_values_are_scipys(name: str) -> None:
    """Ordinary and special numbers, eagerly, in graphs and under XLA."""
    bound, _ = LIMITS.get(name, (BOUND, ""))
    worst = 0.0
    args = tuple(map(np.concatenate, zip(*operands(name))))
    if name in LIMITS_OF_1_16 and SCIPY < (1, 16):
        ordinary = np.all([np.isfinite(arg) & (arg != 0) for arg in args], axis=0)
        args = tuple(arg[ordinary] for arg in args)
    want = wanted(name, args)
    for mode in MODES:
        if mode == "xla" and name in NOT_IN_XLA:
            continue
        got = computed(name, args, mode)
        assert got.dtype == want.dtype
        apart = distances(got, want)
        k = int(np.argmax(apart))
        assert apart[k] <= bound, (mode, [arg[k] for arg in args], got[k], want[k], apart[k])
        worst = max(worst, float(apart[k]))
    assert name not in LIMITS or worst > BOUND, "the limit is not needed any more"


@pytest.mark.parametrize("name", sorted(NOT_IN_XLA))
def test_what_xla_lacks_it_still_lacks(name: str) -> None:
    """Should XLA get these kernels, the exception can go."""
    with pytest.raises(tf.errors.InvalidArgumentError, match="unsupported operations"):
        computed(name, (np.array([0.5]),), "xla")


def test_dtypes_and_shapes_are_scipys() -> None:
    """Integers, single and half precision, arrays of no axes and of no elements, broadcasting."""
    for name in NAMES:
        count = getattr(special, name).nin
        for dtype in ("float64", "float32", "float16", "int64", "int32", "uint8", "int8", "bool"):
            args = tuple(np.array([1, 1, 0], dtype)[: 3 - k] for k in range(count))
            args = (
                tuple(arg[:, None] if k else arg for k, arg in enumerate(args))
                if count < 3
                else (args[0],) * 3
            )
            want = wanted(name, args)
            with np2tf.config.using(eager="tensorflow"):
                got = computed(name, args, "eager")
            assert (got.dtype, got.shape) == (want.dtype, want.shape), (name, dtype)
            close = 2e-3 if dtype == "float16" else 2e-6
            np.testing.assert_allclose(got, want, rtol=close, err_msg=f"{name} {dtype}")
        for shape in ((), (0,), (2, 0)):
            args = (np.full(shape, 0.5),) * count
            assert (
                computed(name, args, "graph" if shape == (0,) and count == 1 else "eager").shape
                == wanted(name, args).shape
            )


def test_complex_numbers_are_scipys() -> None:
    """Which TensorFlow's functions do not take: eagerly SciPy answers, and staging ends."""
    for name in NAMES:
        scipys = getattr(special, name)
        if "D" not in "".join(scipys.types):
            continue
        args = (np.array([1 + 2j, 0.5 - 1j]),) * scipys.nin
        np.testing.assert_allclose(computed(name, args, "eager"), wanted(name, args), rtol=1e-14)
        with pytest.raises(StagingError, match="complex"):
            computed(name, args, "graph")


def test_results_are_written_where_scipy_writes_them() -> None:
    """`out=` and `where=`."""
    x = np.linspace(0.1, 2, 5)
    out, mask = tensor_array(tf.zeros(5, tf.float64)), np.array([True, False, True, True, False])
    ours.erf(tensor_array(tf.constant(x)), out=out, where=mask)
    np.testing.assert_allclose(out.numpy(), np.where(mask, special.erf(x), 0), rtol=1e-14)


def test_whole_numbers_come_out_whole() -> None:
    """Programs take ``int()`` of them."""
    n = np.arange(1.0, 23)
    np.testing.assert_array_equal(computed("gamma", (n,), "graph"), special.gamma(n))
    top, bottom = pairs(np.arange(0.0, 30), np.arange(0.0, 20))
    np.testing.assert_array_equal(computed("binom", (top, bottom), "graph"), special.binom(top, bottom))
