"""Factorizations judged by what they rebuild, views, out= and errors of linear algebra."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import np2tf
from np2tf import tnp
from np2tf.core.counts import counts
from tests.arrays.functions.test_linalg import COMPLEX, HERMITIAN, PAIR, POSITIVE, SINGLE, STACK, TALL, WHOLE


def tensor(value: np.ndarray) -> Any:
    return np2tf.device_put(value)


def assert_close(found: Any, numpys: Any) -> None:
    tolerance = 1e-4 if np.asarray(numpys).dtype.itemsize in (4, 8) and found.dtype.char in "fF" else 1e-9
    assert found.dtype == numpys.dtype
    assert found.shape == numpys.shape
    np.testing.assert_allclose(found.numpy(), numpys, atol=tolerance)


@pytest.mark.parametrize("a", [STACK, TALL, TALL.T, COMPLEX, SINGLE, WHOLE, np.ones((3, 3))])
@pytest.mark.parametrize("full", [True, False])
def test_svd_rebuilds_the_matrix(a: np.ndarray, full: bool) -> None:
    tnp_result, numpys = tnp.linalg.svd(tensor(a), full_matrices=full), np.linalg.svd(a, full_matrices=full)
    assert type(tnp_result) is type(numpys)
    assert tnp_result.U.shape == numpys.U.shape
    assert tnp_result.Vh.shape == numpys.Vh.shape
    assert_close(tnp_result.S, numpys.S)
    least = min(a.shape[-2:])
    u, s, vh = (part.numpy() for part in tnp_result)
    np.testing.assert_allclose((u[..., :least] * s[..., None, :]) @ vh[..., :least, :], a, atol=1e-5)


@pytest.mark.parametrize("a", [POSITIVE, HERMITIAN, STACK + STACK.swapaxes(-1, -2) - 9 * np.eye(3)])
def test_svd_of_hermitian_matrices(a: np.ndarray) -> None:
    tnp_result, numpys = tnp.linalg.svd(tensor(a), hermitian=True), np.linalg.svd(a, hermitian=True)
    assert_close(tnp_result.S, numpys.S)
    u, s, vh = (part.numpy() for part in tnp_result)
    np.testing.assert_allclose((u * s[..., None, :]) @ vh, a, atol=1e-9)


@pytest.mark.parametrize("a", [STACK, TALL, TALL.T, COMPLEX, SINGLE, WHOLE])
@pytest.mark.parametrize("mode", ["reduced", "complete"])
def test_qr_rebuilds_the_matrix(a: np.ndarray, mode: str) -> None:
    tnp_result, numpys = tnp.linalg.qr(tensor(a), mode), np.linalg.qr(a, mode)
    assert type(tnp_result) is type(numpys)
    assert tnp_result.Q.shape == numpys.Q.shape
    assert_close(tnp_result.R, numpys.R)
    np.testing.assert_allclose(tnp_result.Q.numpy() @ tnp_result.R.numpy(), a, atol=1e-5)
    assert_close(tnp.linalg.qr(tensor(a), "r"), np.linalg.qr(a, "r"))


@pytest.mark.parametrize("a", [POSITIVE, HERMITIAN, POSITIVE.astype("float32"), PAIR])
@pytest.mark.parametrize("triangle", ["L", "U"])
def test_eigh_rebuilds_the_matrix(a: np.ndarray, triangle: str) -> None:
    tnp_result, numpys = tnp.linalg.eigh(tensor(a), triangle), np.linalg.eigh(a, triangle)
    assert type(tnp_result) is type(numpys)
    assert_close(tnp_result.eigenvalues, numpys.eigenvalues)
    vectors = tnp_result.eigenvectors.numpy()
    assert vectors.dtype == numpys.eigenvectors.dtype
    rebuilt = (vectors * tnp_result.eigenvalues.numpy()[..., None, :]) @ vectors.conj().swapaxes(-1, -2)
    np.testing.assert_allclose(rebuilt, a, atol=1e-4)


@pytest.mark.parametrize("a", [STACK, COMPLEX, PAIR])
def test_eig_rebuilds_the_matrix(a: np.ndarray) -> None:
    tnp_result, numpys = tnp.linalg.eig(tensor(a)), np.linalg.eig(a)
    assert type(tnp_result) is type(numpys)
    assert tnp_result.eigenvalues.dtype == numpys.eigenvalues.dtype
    values, vectors = (part.numpy() for part in tnp_result)
    np.testing.assert_allclose(a @ vectors, vectors * values[..., None, :], atol=1e-9)
    np.testing.assert_allclose(np.sort_complex(values), np.sort_complex(numpys.eigenvalues), atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=-2), 1)
    found = np.sort_complex(tnp.linalg.eigvals(tensor(a)).numpy())
    np.testing.assert_allclose(found, np.sort_complex(np.linalg.eigvals(a)), atol=1e-9)


@pytest.mark.parametrize(
    ("name", "matrix"),
    [("inv", np.ones((2, 2))), ("cholesky", -np.eye(2)), ("solve", np.zeros((2, 2)))],
)
def test_impossible_matrices(name: str, matrix: np.ndarray) -> None:
    more = (tensor(np.ones(2)),) if name == "solve" else ()
    with pytest.raises(tnp.linalg.LinAlgError):
        getattr(tnp.linalg, name)(tensor(matrix), *more)


def test_einsum_gives_views() -> None:
    array = tensor(WHOLE[:, :3].copy())
    tnp.einsum("ii->i", array)[...] = -1
    tnp.einsum("ij->ji", array)[0, 1] = -2
    expected = WHOLE[:, :3].copy()
    np.einsum("ii->i", expected)[...] = -1
    np.einsum("ij->ji", expected)[0, 1] = -2
    np.testing.assert_array_equal(array.numpy(), expected)


def test_linalg_diagonal_is_a_view() -> None:
    array = tensor(STACK.copy())
    tnp.linalg.diagonal(array)[...] = 0
    np.testing.assert_array_equal(np.linalg.diagonal(array.numpy()), np.zeros((2, 3)))


@pytest.mark.parametrize(
    "call",
    [
        lambda out: tnp.dot(tensor(STACK[0]), tensor(STACK[1]), out),
        lambda out: tnp.einsum("ij,jk", tensor(STACK[0]), tensor(STACK[1]), out=out),
        lambda out: tnp.linalg.multi_dot([tensor(STACK[0]), tensor(STACK[1])], out=out),
    ],
)
def test_out_is_written_and_returned(call: Any) -> None:
    out = tensor(np.zeros((3, 3)))
    assert call(out) is out
    np.testing.assert_allclose(out.numpy(), STACK[0] @ STACK[1])


VECTORS: dict[str, Callable[[Any, Any], Any]] = {
    "svd": lambda np, a: np.linalg.svd(a),
    "svd, reduced": lambda np, a: np.linalg.svd(a, full_matrices=False),
    "svd of a Hermitian matrix": lambda np, a: np.linalg.svd(a + a.conj().T, hermitian=True),
    "eigh": lambda np, a: np.linalg.eigh(a),
    "eigh of the upper triangle": lambda np, a: np.linalg.eigh(a, "U"),
    "eig of complex numbers": lambda np, a: np.linalg.eig(a + 1j * a.T),
    "qr": lambda np, a: np.linalg.qr(a),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
@pytest.mark.parametrize("name", VECTORS)
def test_vectors_have_numpys_signs(name: str, dtype: Any) -> None:
    """Vectors have the signs of the host's: on TensorFlow, in compiled code, and under a transform."""
    a = np.random.default_rng(5).standard_normal((2, 6, 6))
    a = (a[0] + 1j * a[1]).astype(dtype) if np.dtype(dtype).kind == "c" else a[0].astype(dtype)
    function = VECTORS[name]
    wanted = function(np, a)
    compiled = np2tf.jit(lambda a: tuple(function(tnp, a)), tier="compile")
    differentiated = np2tf.vjp(lambda a: tuple(function(tnp, a)), a)[0]
    for results in (function(tnp, tensor(a)), compiled(a), differentiated):
        for result, part in zip(results, wanted, strict=True):
            np.testing.assert_allclose(result, part, rtol=1e-3 if dtype == np.float32 else 1e-9, atol=1e-4)


def test_a_decomposition_that_fails_in_a_graph() -> None:
    def f(a):
        return tnp.linalg.eigh(a)[1]

    with pytest.raises(np.linalg.LinAlgError):
        np2tf.jit(f, tier="compile")(np.full((3, 3), np.nan))


def test_runs_on_tensorflow() -> None:
    names = ("inv", "det", "slogdet", "pinv", "cholesky", "eigvalsh", "svdvals", "qr", "cond")
    before = counts.host
    for name in (*names, "matrix_rank", "norm", "vector_norm", "matrix_norm", "trace", "diagonal"):
        getattr(tnp.linalg, name)(tensor(POSITIVE))
    for name in ("dot", "inner", "vdot", "outer", "tensordot", "cross"):
        getattr(tnp, name)(tensor(POSITIVE[0]), tensor(POSITIVE[1]))
    assert counts.host == before
