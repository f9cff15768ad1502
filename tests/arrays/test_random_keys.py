"""`np2tf.random` against JAX, bit by bit; on the host, on tensors, and in one program."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("jax", reason="JAX is the judge of these functions")

import jax

import np2tf
from np2tf import random, tnp
from np2tf.arrays.array.ndarray import is_array

jax.config.update("jax_enable_x64", True)

SEEDS = (0, 1, 42, -1, 2**31, 2**40 + 7, -(2**63))
WEIGHTS = np.array([0.1, 0.0, 0.4, 0.5])
LOGITS = np.log(np.array([[0.2, 0.3, 0.5], [0.7, 0.2, 0.1]]))
ROWS = np.arange(12.0).reshape(4, 3)
#: name -> the calls of one function with a key, in JAX's names.
EXACT: dict[str, Callable[[Any, Any], Any]] = {
    "split": lambda r, key: r.split(key),
    "split shape": lambda r, key: r.split(key, (3, 2)),
    "fold_in": lambda r, key: r.fold_in(key, 7),
    "fold_in large": lambda r, key: r.fold_in(key, np.uint32(2**32 - 1)),
    **{f"bits {n}": lambda r, key, n=n: r.bits(key, (3, 5), f"uint{n}") for n in (8, 16, 32, 64)},
    "bits none": lambda r, key: r.bits(key, (0, 2), "uint32"),
    "uniform": lambda r, key: r.uniform(key, (4, 5)),
    "uniform number": lambda r, key: r.uniform(key),
    "uniform f32": lambda r, key: r.uniform(key, (7,), "float32"),
    "uniform f16": lambda r, key: r.uniform(key, (7,), "float16"),
    "bernoulli": lambda r, key: r.bernoulli(key, 0.3, (50,)),
    "bernoulli of p": lambda r, key: r.bernoulli(key, WEIGHTS),
    "randint": lambda r, key: r.randint(key, (40,), -3, 11),
    "randint arrays": lambda r, key: r.randint(key, (2, 3), np.array([[0], [5]]), np.array([3, 9, 70])),
    "randint u8": lambda r, key: r.randint(key, (40,), 0, 256, "uint8"),
    "randint i16": lambda r, key: r.randint(key, (40,), -(2**15), 2**15, "int16"),
    "randint u32": lambda r, key: r.randint(key, (40,), 5, 2**32, "uint32"),
    "randint wide": lambda r, key: r.randint(key, (40,), -(2**62), 2**62),
    "randint i32 clipped": lambda r, key: r.randint(key, (40,), -(2**40), 2**40, "int32"),
    "randint empty range": lambda r, key: r.randint(key, (3,), 5, 5),
    "permutation": lambda r, key: r.permutation(key, 30),
    "permutation rows": lambda r, key: r.permutation(key, ROWS),
    "permutation columns": lambda r, key: r.permutation(key, ROWS, 1),
    "permutation independent": lambda r, key: r.permutation(key, ROWS, 1, True),
    "choice": lambda r, key: r.choice(key, 9, (5, 2)),
    "choice rows": lambda r, key: r.choice(key, ROWS, (3,), True, None, 1),
    "choice without": lambda r, key: r.choice(key, ROWS, (2,), False),
    "choice p": lambda r, key: r.choice(key, np.arange(4), (30,), True, WEIGHTS),
    "choice p without": lambda r, key: r.choice(key, 4, (3,), False, WEIGHTS),
    "categorical": lambda r, key: r.categorical(key, LOGITS),
    "categorical shape": lambda r, key: r.categorical(key, LOGITS, 0, (20, 3)),
}
#: Functions that use logarithms, which differ in the last digit.
ROUNDED: dict[str, Callable[[Any, Any], Any]] = {
    "uniform between": lambda r, key: r.uniform(key, (4, 5), "float64", -2.0, 5.0),
    "normal": lambda r, key: r.normal(key, (40, 5)),
    "normal number": lambda r, key: r.normal(key),
    "normal f32": lambda r, key: r.normal(key, (40,), "float32"),
    "exponential": lambda r, key: r.exponential(key, (40,)),
    "gumbel": lambda r, key: r.gumbel(key, (40,)),
}


@pytest.mark.parametrize("seed", SEEDS)
def test_keys(seed: int) -> None:
    wanted = np.asarray(jax.random.PRNGKey(seed))
    found = random.PRNGKey(seed)
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(np2tf.device_get(random.PRNGKey(np2tf.device_put(np.int64(seed)))), wanted)


def keys(seed: int) -> tuple[Any, Any, Any]:
    """JAX's key, the same on the host, and on a tensor."""
    key = jax.random.PRNGKey(seed)
    return key, np.asarray(key), np2tf.device_put(np.asarray(key))


@pytest.mark.parametrize("name", EXACT)
def test_bit_by_bit(name: str) -> None:
    for seed in (0, 42, -1):
        jax_key, host, tensor = keys(seed)
        wanted = np.asarray(EXACT[name](jax.random, jax_key))
        for key in (host, tensor) if seed == 42 else (host,):
            found = EXACT[name](random, key)
            assert is_array(found) == (key is tensor)
            found = np2tf.device_get(found)
            assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
            np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("name", ROUNDED)
def test_to_rounding(name: str) -> None:
    for seed in (0, 42, -1):
        jax_key, host, tensor = keys(seed)
        wanted = np.asarray(ROUNDED[name](jax.random, jax_key))
        tolerance = 1e-5 if wanted.dtype == np.float32 else 1e-12
        for key in (host, tensor) if seed == 42 else (host,):
            found = np2tf.device_get(ROUNDED[name](random, key))
            assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
            np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)


def simulation(seed, steps):
    key = random.PRNGKey(seed)
    total = tnp.zeros(3)
    for step in range(steps):
        drawn, chosen = random.split(random.fold_in(key, step))
        total += random.normal(drawn, (3,)) * random.bernoulli(chosen, 0.5, (3,))
    order = random.permutation(key, tnp.arange(5))
    return total, order, random.randint(key, (4,), 0, 10), random.uniform(key, (2,), np.float32)


def test_compiled_equals_eager() -> None:
    """One program with a staged seed and a loop gives the numbers of the host."""
    compiled = np2tf.jit(simulation, tier="compile")
    for seed in (3, 4, 5):
        for found, wanted in zip(np2tf.device_get(compiled(np.int64(seed), 6)), simulation(seed, 6)):
            assert found.dtype == wanted.dtype
            np.testing.assert_allclose(found, wanted, rtol=1e-13, atol=1e-15)
    assert compiled.compiled_count + compiled.graph_count == 3


def test_functions_that_draw_by_keys_are_saved(tmp_path: Any) -> None:
    """Keys are arguments, so that nothing of this process is needed."""

    def noisy(x, key):
        return x + random.normal(key, (3,))

    np2tf.save(noisy, tmp_path, [["x: f64[?, 3]", "key: u32[2]"]])
    key, x = random.PRNGKey(5), np.ones((4, 3))
    np.testing.assert_allclose(np2tf.load(tmp_path)(x, key), noisy(x, key), rtol=1e-13)


def distance(sample: np.ndarray, cdf: Callable[[np.ndarray], np.ndarray]) -> float:
    """The statistic of Kolmogorov and Smirnov, times the root of the sample's size."""
    ordered = np.sort(sample)
    n = len(ordered)
    expected = cdf(ordered)
    steps = np.arange(n + 1) / n
    return float(max((steps[1:] - expected).max(), (expected - steps[:-1]).max()) * math.sqrt(n))


_normal_cdf = np.vectorize(lambda x: 0.5 * math.erfc(-x / math.sqrt(2)))


@pytest.mark.parametrize(
    ("draw", "cdf", "mean", "variance"),
    [
        (random.uniform, lambda x: x, 0.5, 1 / 12),
        (random.normal, _normal_cdf, 0.0, 1.0),
        (random.exponential, lambda x: 1 - np.exp(-x), 1.0, 1.0),
        (random.gumbel, lambda x: np.exp(-np.exp(-x)), 0.5772156649015329, math.pi**2 / 6),
    ],
    ids=["uniform", "normal", "exponential", "gumbel"],
)
def test_distributions(draw: Any, cdf: Any, mean: float, variance: float) -> None:
    """Moments within five standard errors, and the distance of the distributions below its 0.1 % bound."""
    n = 50_000
    sample = draw(random.PRNGKey(2024), (n,))
    assert abs(sample.mean() - mean) < 5 * math.sqrt(variance / n)
    assert abs(sample.var() - variance) < 10 * variance / math.sqrt(n)
    assert distance(sample, cdf) < 1.95
    assert abs(np.corrcoef(sample[1:], sample[:-1])[0, 1]) < 5 / math.sqrt(n)


def test_keys_are_independent() -> None:
    first, second = (random.normal(key, (20_000,)) for key in random.split(random.PRNGKey(0)))
    assert abs(np.corrcoef(first, second)[0, 1]) < 5 / math.sqrt(20_000)
    drawn = random.categorical(random.PRNGKey(1), LOGITS[0], shape=(30_000,))
    np.testing.assert_allclose(np.bincount(drawn) / 30_000, np.exp(LOGITS[0]), atol=0.015)


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda: random.PRNGKey(np.zeros(2, int)), TypeError, "seed"),
        (lambda: random.PRNGKey(1.5), TypeError, "seed"),
        (lambda: random.uniform(np.zeros(2)), TypeError, "uint32"),
        (lambda: random.uniform(random.PRNGKey(0), (2,), int), ValueError, "float"),
        (lambda: random.bits(random.PRNGKey(0), (2,), int), ValueError, "unsigned"),
        (lambda: random.randint(random.PRNGKey(0), (2,), 0, 3, float), TypeError, "integers"),
        (lambda: random.randint(random.PRNGKey(0), (2,), 0.5, 3), TypeError, "integers"),
        (lambda: random.permutation(random.PRNGKey(0), 2.5), TypeError, "integer"),
        (lambda: random.choice(random.PRNGKey(0), 3, (4,), False), ValueError, "4 of 3"),
        (lambda: random.choice(random.PRNGKey(0), 3, (2,), p=WEIGHTS), ValueError, "shape"),
        (lambda: random.categorical(random.PRNGKey(0), LOGITS, shape=(2, 3)), ValueError, "does not end"),
        (lambda: random.bits(random.PRNGKey(0), (2**17, 2**17)), ValueError, "at most"),
    ],
)
def test_errors(call: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        call()
