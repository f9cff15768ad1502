"""Every ufunc against NumPy, over dtypes, shapes and modes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import tensorflow as tf

import np2tf
from np2tf import tnp
from np2tf.arrays.array.ndarray import tensor_array
from np2tf.arrays.functions.ufuncs import table as ufuncs
from np2tf.core.errors import StagingError
from tests.helpers.op_harness import Case, by_mode, differences

DTYPES = ("bool", "int8", "uint8", "int32", "int64", "uint64", "float16", "float32", "float64", "complex128")
UFUNCS = sorted({getattr(np, name).__name__ for name in ufuncs.__all__} - {"isnat"})
UNARY = [name for name in UFUNCS if getattr(np, name).nin == 1]
BINARY = [name for name in UFUNCS if getattr(np, name).nin == 2 and getattr(np, name).signature is None]
PRODUCTS = [name for name in UFUNCS if getattr(np, name).signature is not None]
_SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan]


def sample(dtype: str, length: int, seed: int = 0) -> np.ndarray:
    """Numbers of both signs, large and small, zeros, and infinities and NaN where there are any."""
    kind = np.dtype(dtype)
    rng = np.random.default_rng(seed)
    if kind.kind == "b":
        return rng.integers(0, 2, length).astype(bool)
    if kind.kind in "iu":
        limits = np.iinfo(kind)
        edges = [limits.min, limits.max, 0, 1, limits.max - 1, limits.min + 1]
        values = rng.integers(max(limits.min, -9), 10, length)
        mixed = np.array([*values, *edges], dtype=object)
        rng.shuffle(mixed)
        return mixed[:length].astype(kind)
    values = rng.uniform(-3, 3, length)
    if kind.kind == "c":
        return (values + 1j * rng.uniform(-3, 3, length)).astype(kind)
    mixed = np.array([*values, *_SPECIAL, 1.0, 0.5, -1.0])
    rng.shuffle(mixed)
    return mixed[:length].astype(kind)


#: Dtypes that are tried with every shape; for all other dtypes, while tracing, one shape is enough.
_EVERY_SHAPE = ("int32", "float64")


def unary_cases(name: str, thorough: bool = True) -> Iterator[Case]:
    for dtype in DTYPES:
        values = sample(dtype, 14)
        if name == "reciprocal":
            values = np.where(values == 0, np.ones((), dtype), values)
        yield Case(name, (values,))
        if thorough or dtype in _EVERY_SHAPE:
            for array in (values.reshape(2, 7)[:, ::2], values[0], values[:0]):
                yield Case(name, (np.array(array),))


def operands(name: str, dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """Two rows that the ufunc takes."""
    a, b = sample(dtype, 14, 1), sample("int32" if name == "ldexp" else dtype, 14, 2)
    if name == "power" and a.dtype.kind in "iu":
        # The sign of a traced exponent is not known: refused, see `test_power_refuses`.
        unsigned = f"uint{a.itemsize * 8}"
        return a.astype(unsigned), b.astype(unsigned) % np.array(7, unsigned)
    return a, b


def binary_cases(name: str, thorough: bool = True) -> Iterator[Case]:
    for dtype in DTYPES:
        a, b = operands(name, dtype)
        yield Case(name, (a, b))
        if thorough or dtype in _EVERY_SHAPE:
            yield Case(name, (a[:4, None], b[:3]))
            yield Case(name, (np.array(a[0]), b))
            yield Case(name, (a[:0], b[:0]))
            yield Case(name, (a, 2))
            if name != "power" or a.dtype.kind not in "iu":
                yield Case(name, (2, b))
        if (thorough or dtype == "float32") and a.dtype.kind == "f" and name != "ldexp":
            special = np.array([*_SPECIAL, 1.0, -2.5]).astype(dtype)
            yield Case(name, (special[:, None], special))
            yield Case(name, (special, np.nan))
            yield Case(name, (1.5, special))
    yield Case(name, (np.ones(3), np.ones(2)))


MIXED = [
    ("int8", "uint8"),
    ("int64", "uint64"),
    ("int32", "float32"),
    ("bool", "int8"),
    ("float32", "complex128"),
]


def mixed_cases() -> Iterator[Case]:
    names = (
        "add",
        "multiply",
        "divide",
        "floor_divide",
        "less",
        "equal",
        "greater_equal",
        "maximum",
        "logical_or",
    )
    for dtype, other_dtype in MIXED:
        a, b = sample(dtype, 12, 3), sample(other_dtype, 12, 4)
        for name in names:
            yield Case(name, (a, b))
            yield Case(name, (b, a))
    for name in ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal"):
        for number in (300, -300):
            yield Case(name, (np.array([1, 2], "int8"), number))
            yield Case(name, (number, np.array([1, 2], "uint8")))
    yield Case("add", (np.array([1, 2], "int8"), 300))
    yield Case("subtract", (np.array([True]), np.array([False])))


def power_cases() -> Iterator[Case]:
    for dtype in DTYPES[1:]:
        for exponent in (0, 1, 2, 3, 7, 0.5, 2.0, 1.5):
            yield Case("power", (np.array([1, 2, 3, 0]).astype(dtype), exponent))
    for exponent in (-1, -2, -0.5, 0.3):
        yield Case("power", (np.array([1.0, 2.0, -3.0, 0.0]), exponent))
    yield Case("power", (np.array([1, 2]), -1))
    yield Case("power", (np.array([1, 2], np.int8), 300))
    yield Case("power", (np.array([1, 2]), np.uint8(3)))
    yield Case("power", (np.array([True, False]), np.array([True, False])))
    yield Case("power", (2, np.array([1.5, -3.0])))


def product_cases(name: str) -> Iterator[Case]:
    rng = np.random.default_rng(5)
    shapes = {
        "matmul": [
            ((2, 3), (3, 4)),
            ((3,), (3,)),
            ((3,), (3, 2)),
            ((2, 3), (3,)),
            ((5, 2, 3), (3, 2)),
            ((2, 3), (5, 3, 1)),
            ((4,), (2, 4, 3)),
            ((2, 0), (0, 3)),
            ((0, 2), (2, 3)),
            ((2, 3), (2, 3)),
            ((), (3,)),
            ((3,), (2,)),
        ],
        "vecdot": [((3,), (3,)), ((2, 3), (3,)), ((2, 1, 3), (4, 3)), ((3,), (2,))],
        "matvec": [((2, 3), (3,)), ((2, 3), (5, 3)), ((2, 3), (2,))],
        "vecmat": [((3,), (3, 2)), ((5, 3), (3, 2)), ((3,), (2, 3))],
    }
    for dtype in DTYPES:
        for left, right in shapes[name]:
            a, b = rng.integers(0, 5, left), rng.integers(0, 5, right)
            a, b = np.asarray(a).astype(dtype), np.asarray(b).astype(dtype)
            if dtype == "complex128":
                a = a * (1 + 2j)
            yield Case(name, (a, b))


#: Every kind of part, each with each.
_PARTS = [-np.inf, np.inf, np.nan, 0.0, -0.0, 3.0, -2.0]
COMPLEX_SPECIAL = np.array([complex(a, b) for a in _PARTS for b in _PARTS])


def _of_complex(operands: int) -> set[str]:
    return {
        value.__name__
        for value in vars(np).values()
        if isinstance(value, np.ufunc) and value.nin == operands and not value.signature
        if "D" * operands in {signature.partition("->")[0] for signature in value.types}
    }


OF_COMPLEX, OF_TWO_COMPLEX = _of_complex(1), _of_complex(2)


@by_mode
def test_complex_numbers_with_infinite_parts_nan_and_signed_zeros(mode):
    check((Case(name, (COMPLEX_SPECIAL,)) for name in OF_COMPLEX), mode)
    pair = (COMPLEX_SPECIAL[:, None], COMPLEX_SPECIAL)
    # XLA's and C's limits of powers with infinite operands are not NumPy's: see docs/op-library.md.
    check((Case(name, pair) for name in OF_TWO_COMPLEX - {"power", "float_power"}), mode)
    finite = COMPLEX_SPECIAL[np.isfinite(COMPLEX_SPECIAL)]
    check((Case(name, (finite[:, None], finite)) for name in ("power", "float_power")), mode)


def check(cases: Iterator[Case], mode: str) -> None:
    found = [f"{case}: {difference}" for case, difference in differences(cases, mode)]
    assert not found, "\n".join(found)


@by_mode
@pytest.mark.parametrize("name", UNARY)
def test_unary(name, mode):
    check(unary_cases(name, thorough=mode == "eager"), mode)


@by_mode
@pytest.mark.parametrize("name", BINARY)
def test_binary(name, mode):
    check(binary_cases(name, thorough=mode == "eager"), mode)


@by_mode
@pytest.mark.parametrize("name", PRODUCTS)
def test_product(name, mode):
    check(product_cases(name), mode)


@by_mode
def test_mixed_dtypes(mode):
    check(mixed_cases(), mode)


@by_mode
def test_power_by_a_constant(mode):
    check(power_cases(), mode)


def test_power_refuses_a_staged_exponent_that_may_be_negative():
    """NumPy raises for a negative exponent; a compiled function could not."""

    @tf.function(autograph=False)
    def staged(exponent):
        return tnp.power(tensor_array(tf.constant([2, 3])), tensor_array(exponent)).tensor

    with pytest.raises(StagingError) as refused:
        staged(tf.constant([1, 2]))
    assert refused.value.code == "NP2TF542"


def test_signed_zeros_are_kept():
    zeros = np.array([0.0, -0.0, 1.0, -1.0])
    with np2tf.config.using(eager="tensorflow"):
        for name in ("floor_divide", "remainder", "copysign", "multiply", "divide"):
            with np.errstate(all="ignore"):
                wanted = getattr(np, name)(zeros[:2, None], zeros[2:])
            got = getattr(tnp, name)(tensor_array(tf.constant(zeros[:2, None])), zeros[2:]).numpy()
            np.testing.assert_array_equal(np.signbit(got), np.signbit(wanted), err_msg=name)
        for name in ("rint", "trunc", "ceil", "cbrt", "negative"):
            got = getattr(tnp, name)(tensor_array(tf.constant([-0.3, -0.0, 0.0]))).numpy()
            np.testing.assert_array_equal(np.signbit(got), np.signbit(getattr(np, name)([-0.3, -0.0, 0.0])))


def test_every_ufunc_has_all_its_names():
    assert {name for name in np.__all__ if isinstance(getattr(np, name), np.ufunc)} == set(ufuncs.__all__)
    assert tnp.abs is tnp.absolute
    assert tnp.bitwise_not is tnp.invert


def test_keyword_arguments():
    a, out = tensor_array(tf.constant([1.0, 4.0, 9.0])), tensor_array(tf.zeros(3, tf.float64))
    with np2tf.config.using(eager="tensorflow"):
        assert tnp.sqrt(a, out=out) is out
        assert out.numpy().tolist() == [1, 2, 3]
        tnp.add(a, 1, out=out, where=np.array([True, False, True]))
        assert out.numpy().tolist() == [2, 2, 10]
        assert tnp.add(np.array([1, 2]), 1, dtype="float32").dtype == np.float32
        with pytest.raises(TypeError):
            tnp.add(a)


#: name -> a function whose gradient is compared with finite differences; `m` is numpy or tnp.
DIFFERENTIABLE = {
    "square": lambda m, x: m.sum(x**2),
    "power": lambda m, x: m.sum(x**1.5 + x**3 / 1e6),
    "logs": lambda m, x: m.sum(m.log10(x) + m.log2(x)),
    "hypot": lambda m, x: m.sum(m.hypot(x, 2.0)),
    "cbrt": lambda m, x: m.sum(m.cbrt(x)),
    "maximum": lambda m, x: m.sum(m.maximum(x, 0.9) + m.fmin(x, 5.0)),
    "remainder": lambda m, x: m.sum(m.remainder(x, 0.4 * x[0]) + m.fmod(x, 7.0)),
    "logaddexp": lambda m, x: m.sum(m.logaddexp(x, 1.0) + m.logaddexp2(1.0, x)),
    "arctan2": lambda m, x: m.sum(m.arctan2(x, x[1])),
    "inner": lambda m, x: m.matmul(x, x),
    "sinc": lambda m, x: m.sum(m.sinc(x)),
    "spread": lambda m, x: m.std(x, ddof=1) + m.ptp(x) + 2 * m.min(x) + m.median(x) + m.percentile(x, 30),
    "average": lambda m, x: m.average(x, weights=x + 1) + m.prod(x) + m.nanmean(x),
    "calculus": lambda m, x: m.sum(m.gradient(x) ** 2) + m.trapezoid(x**2) + m.sum(m.diff(x) ** 3) / 1e6,
    "sliding": lambda m, x: m.sum(m.convolve(x, x[:2]) ** 2),
    "interp": lambda m, x: m.sum(m.interp(x, np.array([0.0, 1.5, 3.0, 2000.0]), np.arange(4.0) ** 2)),
}


@pytest.mark.parametrize("staged", [False, True])
@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_gradient(name, staged):
    function, x = DIFFERENTIABLE[name], np.array([0.3, 1.0, 2.5, 100.0])
    steps = np.diag(1e-6 * np.maximum(1, x))
    wanted = [(function(np, x + h) - function(np, x - h)) / (2 * h.sum()) for h in steps]

    def gradient(at):
        with np2tf.config.using(eager="tensorflow"), tf.GradientTape() as tape:
            tape.watch(at)
            result = function(tnp, tensor_array(at)).tensor
        return tf.convert_to_tensor(tape.gradient(result, at))

    found = (tf.function(gradient, autograph=False) if staged else gradient)(tf.constant(x))
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)
