"""Systems of a few equations, determinants and short sorts in loops: XLA programs, with NumPy's results."""

from __future__ import annotations

import numpy as np
import pytest

import np2tf
from np2tf import tnp
from np2tf.arrays.functions.linalg.solving import ROWS
from tests.helpers.differential import HEAD, compare, load, translation
from tests.helpers.selections import in_turn

DTYPES = ["float64", "float32", "complex128", "int64"]


@np2tf.jit(tier="compile")
def solved(a, b):  # type: ignore[no-untyped-def]
    sign, logarithm = tnp.linalg.slogdet(a)
    return tnp.linalg.solve(a, b), tnp.linalg.inv(a), tnp.linalg.det(a), sign, logarithm


def matrices(n: int, dtype: str) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(n)
    a, b = (generator.integers(-9, 9, shape).astype(dtype) for shape in ((3, n, n), (3, n, 2)))
    if dtype == "complex128":
        a, b = a + 1j * a[:, ::-1] ** 2, b - 2j
    return a + 20 * np.eye(n, dtype=dtype)[generator.permutation(n)], b


@pytest.mark.parametrize(("n", "dtype"), in_turn(range(1, ROWS + 1), DTYPES))
def test_solutions_inverses_and_determinants(n: int, dtype: str) -> None:
    a, b = matrices(n, dtype)
    found = solved(a, b)
    wanted = np.linalg.solve(a, b), np.linalg.inv(a), np.linalg.det(a), *np.linalg.slogdet(a)
    tolerance = 2e-5 if dtype == "float32" else 1e-12
    for found_array, wanted_array in zip(found, wanted, strict=True):
        assert found_array.dtype == wanted_array.dtype
        assert found_array.shape == wanted_array.shape
        np.testing.assert_allclose(
            found_array, wanted_array, rtol=tolerance, atol=tolerance * np.abs(wanted_array).max()
        )
    # Calls of other lengths may have led to a graph for all lengths.
    assert np2tf.jit(solved.__wrapped__, tier="compile").lower(a, b).how == "xla"


def test_singular_matrices() -> None:
    """The host decides, and raises; a determinant is 0, and no minus 0."""
    body = "def f(a, b):\n    return np.linalg.{}\n"
    singular = "np.array([[1.0, 2.0], [2.0, 4.0]]), np.ones(2)"
    nearly = "np.array([[1.0, 1.0], [1.0, 1.0 + 4e-16]]), np.ones(2)"
    for expression in ("solve(a, b)", "inv(a)", "cholesky(a)"):
        compare(HEAD + body.format(expression), singular, nearly, ran=None)
    for expression in ("det(a)", "slogdet(a)"):
        compare(HEAD + body.format(expression), singular, "np.zeros((3, 3)), np.ones(2)")
    compare(HEAD + body.format("cholesky(a)"), "np.ones((2, 2)), np.ones(2)", ran=None)


def test_not_a_number_stays_one() -> None:
    compare(
        HEAD + "def f(a, b):\n    return np.linalg.solve(a, b), np.linalg.det(a)\n",
        "np.array([[np.nan, 1.0], [0.0, 2.0]]), np.ones(2)",
        ran=None,
    )


FILTER = """
def f(z, small):
    x, P = np.zeros(4), np.eye(4)
    F, H = np.eye(4) + 0.1 * np.eye(4, k=2), np.eye(2, 4)
    out = np.zeros((len(z), 4))
    total = 0.0
    for k in range(len(z)):
        x, P = F @ x, F @ P @ F.T + 0.01 * np.eye(4)
        S = H @ P @ H.T + small * np.eye(2)
        x = x + P @ H.T @ np.linalg.solve(S, z[k] - H @ x)
        P = P - P @ H.T @ np.linalg.inv(S) @ H @ P
        total += np.linalg.slogdet(S)[1] + np.linalg.det(S) + np.linalg.cholesky(P).trace()
        out[k] = x
    return out, total
"""

MEDIANS = """
def f(x, width):
    out = np.empty(len(x) - 7)
    rank = np.empty(len(x) - 7)
    places = []
    for i in range(len(x) - 7):
        window = x[i : i + 7]
        out[i] = np.median(window)
        rank[i] = np.argsort(window)[2] + np.searchsorted(np.sort(window), 0.1 * width)
        if abs(window[3] - out[i]) > 1:
            places.append(i)
    return out, rank, np.array(places, dtype=int)
"""


@pytest.mark.parametrize(
    ("body", "call", "runs"),
    [
        (FILTER, "np.sin(np.arange(60.0)).reshape(30, 2), 0.5", "xla"),
        (MEDIANS, "np.sin(np.arange(60.0) ** 2) * 3, 4", "graph"),
    ],
    ids=["a filter", "running medians"],
)
def test_loops_are_compiled(body: str, call: str, runs: str) -> None:
    compare(HEAD + body, call)
    translated = load(translation(HEAD + body))["f"]
    with np2tf.config.using(jit="on", tier="compile"):
        explained = translated.explain(*eval(call, {"np": np}))
    assert explained.runs == runs
    assert set(explained.loops) == {"xla"}


@pytest.mark.parametrize("key", ["x", "-x", "np.where(x > 1, np.nan, x)"])
def test_the_order_of_equal_elements_is_numpys(key: str):
    """NumPy's quick sort depends on the processor; where there are equal elements, the call is NumPy's."""
    source = (
        f"import numpy as np\n\n\ndef f(x):\n    return ({key}).argsort(), np.argsort({key}, kind='stable')\n"
    )
    jitted, numpys = np2tf.jit(load(translation(source))["f"]), load(source)["f"]
    rng = np.random.default_rng(1)
    with np2tf.config.using(tier="compile"):
        for x in (rng.integers(0, 4, 60).astype(float), rng.random(60)):
            for found, wanted in zip(jitted(x), numpys(x)):
                np.testing.assert_array_equal(found, wanted)
    assert jitted.compiled_count + jitted.graph_count >= (0 if "nan" in key else 1)
