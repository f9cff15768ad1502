"""numpy.linalg and products of arrays over dtypes, shapes and modes."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from np2tf.arrays.front.numpy_state import NUMPY
from tests.helpers.op_harness import MODES, Case, differences

RNG = np.random.default_rng(8)
STACK = RNG.normal(size=(2, 3, 3)) + 3 * np.eye(3)
TALL = RNG.normal(size=(5, 3))
VECTOR = RNG.normal(size=3)
COMPLEX = STACK + 1j * RNG.normal(size=STACK.shape)
POSITIVE = STACK @ STACK.swapaxes(-1, -2) + np.eye(3)
HERMITIAN = COMPLEX @ COMPLEX.conj().swapaxes(-1, -2) + np.eye(3)
WHOLE = np.arange(12).reshape(3, 4)
SINGLE = STACK.astype("float32")
PAIR = np.array([[2, 1], [1, 3]])

#: Functions that depend on values, so that they cannot be staged.
NOT_STAGED = ("linalg.eigvals",)
#: Functions that XLA does not compile for CPUs (TensorFlow 2.21), or only into slow code.
NOT_IN_XLA = {
    "linalg.det": "no LU decomposition",
    "linalg.slogdet": "no LU decomposition",
    "linalg.svd": "slow",
    "linalg.svdvals": "slow, and complex ones not at all",
    "linalg.pinv": "svd",
    "linalg.lstsq": "svd",
    "linalg.cond": "svd",
    "linalg.matrix_rank": "svd",
}
#: Single cases of other functions that XLA does not compile.
NOT_IN_XLA_COMPLEX = ("linalg.inv", "linalg.solve", "linalg.matrix_power")


def solving() -> Iterator[Case]:
    for a in (STACK, SINGLE, COMPLEX, PAIR, PAIR.astype("int8")):
        for name in ("inv", "det", "slogdet"):
            yield Case(f"linalg.{name}", (a,))
        yield Case("linalg.solve", (a, np.ones(a.shape[-1])))
        for n in (-2, 0, 1, 5):
            yield Case("linalg.matrix_power", (a, n))
    yield Case("linalg.solve", (STACK, STACK[0]))
    yield Case("linalg.solve", (STACK[0], STACK))
    yield Case("linalg.solve", (SINGLE, np.ones((3, 2), "float32")))
    yield Case("linalg.solve", (STACK, np.ones(4)))
    yield Case("linalg.tensorinv", (RNG.normal(size=(4, 6, 8, 3)),))
    yield Case("linalg.tensorsolve", (RNG.normal(size=(2, 3, 6)), np.ones((2, 3))))
    for a in (TALL, TALL.T, TALL.astype("float32"), COMPLEX, np.ones((3, 3))):
        yield Case("linalg.pinv", (a,), {"rcond": 1e-5})
    for b in (np.ones(5), np.ones((5, 2))):
        yield Case("linalg.lstsq", (TALL, b))
        yield Case("linalg.lstsq", (np.ones((5, 2)), b))
    yield Case("linalg.lstsq", (TALL.T, np.ones(3)))
    for name in ("inv", "det", "cholesky", "eigvalsh", "solve"):
        args = (TALL, np.ones(5)) if name == "solve" else (TALL,)
        yield Case(f"linalg.{name}", args)
        yield Case(f"linalg.{name}", (VECTOR, *args[1:]))
    yield Case("linalg.inv", (SINGLE.astype("float16"),))


def factoring() -> Iterator[Case]:
    for a in (POSITIVE, HERMITIAN, POSITIVE.astype("float32"), PAIR):
        yield Case("linalg.cholesky", (a,))
        yield Case("linalg.cholesky", (a,), {"upper": True})
        yield Case("linalg.eigvalsh", (a,))
        yield Case("linalg.svd", (a,), {"compute_uv": False, "hermitian": True})
    for a in (STACK, COMPLEX, SINGLE, WHOLE, TALL):
        yield Case("linalg.svdvals", (a,))
        yield Case("linalg.svd", (a,), {"compute_uv": False})
    for triangle in ("L", "U", "l"):
        yield Case("linalg.eigvalsh", (STACK, triangle))
    yield Case("linalg.eigvalsh", (STACK, "x"))
    yield Case("linalg.qr", (STACK, "wrong"))
    for p in (None, 1, -1, 2, -2, np.inf, "fro"):
        yield Case("linalg.cond", (STACK, p))
    for a in (STACK, TALL, np.ones((3, 3)), VECTOR, np.zeros(3), WHOLE):
        yield Case("linalg.matrix_rank", (a,))
    yield Case("linalg.matrix_rank", (TALL, 1e9))
    yield Case("linalg.cond", (np.ones((0, 0)),))


def norms() -> Iterator[Case]:
    for order in (None, 1, -1, 2, -2, np.inf, -np.inf, "fro", "nuc", 3, "x"):
        for a in (STACK, COMPLEX.astype("complex64")):
            if order in (2, -2, "nuc") and np.iscomplexobj(a):
                continue
            yield Case("linalg.norm", (a, order, (2, 0)), {"keepdims": True})
        yield Case("linalg.norm", (STACK, order, (1, 2)))
        yield Case("linalg.matrix_norm", (STACK,), {"ord": order, "keepdims": True})
    for order in (None, 0, 1, 2, 3, 0.5, -1, np.inf, -np.inf, "fro"):
        for a in (STACK, COMPLEX, SINGLE, WHOLE, SINGLE.astype("float16")):
            yield Case("linalg.norm", (a, order, -1))
            if order is not None:
                yield Case("linalg.vector_norm", (a,), {"ord": order, "axis": (0, 1), "keepdims": True})
    for a in (STACK, WHOLE, VECTOR, np.zeros((0, 3)), np.array([np.nan, np.inf])):
        yield Case("linalg.norm", (a,))
        yield Case("linalg.vector_norm", (a,))
        yield Case("linalg.norm", (a,), {"keepdims": True})
    yield Case("linalg.norm", ([3, 4],))
    yield Case("linalg.norm", (VECTOR, np.inf))
    yield Case("linalg.norm", (STACK, None, 5))
    yield Case("linalg.norm", (STACK, None, (1, 1)))
    yield Case("linalg.norm", (STACK, 2, "x"))


def products() -> Iterator[Case]:
    pairs: list[tuple[Any, Any]] = [
        (STACK, VECTOR),
        (WHOLE, WHOLE.T),
        (WHOLE, 3),
        (2.5, VECTOR),
        (VECTOR, VECTOR),
        (STACK, STACK),
        (COMPLEX, VECTOR),
        (SINGLE, 2.0),
        (WHOLE.astype("int8"), WHOLE.T.astype("int8")),
        (WHOLE > 5, WHOLE.T > 3),
        (SINGLE, WHOLE[:, :3]),
        (WHOLE, WHOLE),
        (WHOLE[0].astype("float16"), WHOLE[1].astype("float16")),
        (np.zeros((3, 0)), np.zeros((0, 2))),
    ]
    for a, b in pairs:
        for name in ("dot", "inner", "outer", "vdot"):
            yield Case(name, (a, b))
    yield Case(".dot", (STACK, VECTOR))
    for axes in (0, 1, 2, ([0, 1], [1, 0]), (1, 1), ([0], [0, 1]), 3):
        yield Case("tensordot", (STACK[0], STACK[1], axes))
    yield Case("tensordot", (STACK, WHOLE, 1))
    yield Case("cross", (TALL, TALL[::-1].copy()))
    yield Case("cross", (TALL.T, TALL.T), {"axis": 0})
    yield Case("cross", (WHOLE, WHOLE))
    yield Case("linalg.cross", (TALL, VECTOR))
    yield Case("linalg.cross", (WHOLE, WHOLE))
    yield Case("linalg.multi_dot", ([TALL, TALL.T, TALL, VECTOR],))
    yield Case("linalg.multi_dot", ([VECTOR, STACK[0], VECTOR],))
    yield Case("linalg.multi_dot", ([VECTOR],))
    for a in (STACK, WHOLE, WHOLE.astype("int8")):
        yield Case("linalg.trace", (a,), {"offset": 1})
        yield Case("linalg.diagonal", (a,), {"offset": -1})
        yield Case("linalg.matrix_transpose", (a,))
    yield Case("linalg.outer", (VECTOR, VECTOR))
    yield Case("linalg.outer", (STACK, VECTOR))
    yield Case("linalg.matmul", (STACK, VECTOR))
    yield Case("linalg.vecdot", (COMPLEX, COMPLEX), {"axis": 1})
    yield Case("linalg.tensordot", (STACK, STACK), {"axes": 1})


def einsums() -> Iterator[Case]:
    square, byte = STACK[0], WHOLE.astype("int8") * 9
    rows: list[tuple[Any, ...]] = [
        ("ij,jk", square, square),
        ("ii", square),
        ("ii->i", square),
        ("...ii->...i", STACK),
        ("ij->ji", WHOLE),
        ("ba", WHOLE),
        ("...ij,...j", STACK, VECTOR),
        ("bij,bjk->bik", STACK, STACK),
        (" i j , k j -> i k ", square, square),
        ("ij->", byte),
        ("ij,kj->ik", byte, byte),
        ("ij,kj->ik", WHOLE > 3, WHOLE > 5),
        ("i,j->ij", VECTOR, VECTOR),
        ("i,i", COMPLEX[0, 0], VECTOR),
        ("ij,jk,kl->il", square, square, square),
        ("ij,ij->i", np.ones((1, 3)), TALL),
        ("...,...", STACK, 2.0),
        (STACK, [0, 1, 2], VECTOR, [2], [1, 0]),
        (square, [0, 0]),
        (STACK, [Ellipsis, 0], VECTOR, [0]),
        ("ij,jk->ik", SINGLE[0], SINGLE[1]),
        ("ij,jk->ik", WHOLE, square),
        ("ij,jk->ii", square, square),
        ("ij->k", square),
        ("ijk", square),
        ("i", square),
        ("ij,jk", square),
        ("ij,jk->ik", square, WHOLE.T),
        ("i$", square),
    ]
    for row in rows:
        yield Case("einsum", row)
    # Before NumPy 2.4 products that it leaves to BLAS are not of the dtype that is asked for.
    optimize = NUMPY >= (2, 4)
    yield Case("einsum", ("ij,jk->ik", SINGLE[0], SINGLE[1]), {"dtype": np.float64, "optimize": optimize})


GROUPS = {f.__name__: f for f in (solving, factoring, norms, products, einsums)}


def _tested(case: Case, mode: str) -> bool:
    """True if the function of the case can be staged, and for mode "xla" compiled by XLA."""
    if mode == "eager":
        return True
    if case.name in NOT_STAGED:
        return False
    if mode == "graph":
        return True
    order = [*case.args[1:2], *case.kwargs.values()]
    if case.name.endswith("norm") and any(value in (2, -2, "nuc") for value in order):
        return False
    complex_ = isinstance(case.args[0], np.ndarray) and np.iscomplexobj(case.args[0])
    return case.name not in NOT_IN_XLA and not (complex_ and case.name in NOT_IN_XLA_COMPLEX)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("group", GROUPS)
def test_equals_numpy(group: str, mode: str) -> None:
    cases = [case for case in GROUPS[group]() if _tested(case, mode)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [f"{case}: {text}" for case, text in differences(cases, mode)]
    assert found == []
