"""Operations that were NumPy's for long: bits, counting in several dimensions, slices reduced, series."""

from __future__ import annotations

from inspect import signature
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import np2tf
from np2tf import tnp
from np2tf.arrays.array.ndarray import tensor_array
from np2tf.core.counts import counts
from tests.helpers.op_harness import MODES, Case, differences

BYTES = np.array([[3, 200, 17], [0, 255, 128]], np.uint8)
TRUTH = np.array([[1, 0, 0, 1, 1, 0, 1, 1, 1, 0], [0] * 10], bool)
X = np.array([0.1, 0.5, 2.0, 2.0, -1.0, 0.7])
Y = np.array([1.0, 0.0, 3.0, 1.0, 1.5, -0.25])
C = np.array([[1.0, 2.0, 0.5], [0.0, -1.0, 3.0]])
INTS = np.array([[4, 1, 3, 2, 9, 7], [0, -5, 6, 6, 1, 2]])
AROUND = np.array([[0, 0, 0, 0], [0, 2, 0, 0], [0, 1, 3, 0]])

BITS = [
    *[
        Case("packbits", (TRUTH,), {"axis": axis, "bitorder": order})
        for axis in (None, 0, 1, -1)
        for order in ("big", "little")
    ],
    Case("packbits", (INTS,)),
    Case("packbits", (np.zeros((0,), bool),)),
    Case("packbits", (np.array(True),)),
    Case("packbits", (X,)),
    *[
        Case("unpackbits", (BYTES,), {"axis": axis, "count": count})
        for axis in (None, 0, 1)
        for count in (None, 5, 30, -3, 0)
    ],
    Case("unpackbits", (BYTES,), {"axis": -1, "bitorder": "little"}),
    Case("unpackbits", (INTS,)),
]
COUNTED = [
    Case("histogram2d", (X, Y)),
    Case("histogram2d", (X, Y), {"bins": 3, "density": True}),
    Case("histogram2d", (X, Y), {"bins": [2, 4], "weights": Y}),
    Case("histogram2d", (X, Y), {"bins": np.array([-1.0, 0.0, 1.0, 2.0, 2.5])}),
    Case("histogram2d", (X, Y), {"bins": [[0.0, 0.5, 2.0], 2], "range": [[0, 1], [0, 1]]}),
    Case("histogram2d", (X.astype(np.float32), Y.astype(np.float32)), {"bins": 3}),
    Case("histogram2d", (X, Y[:4])),
    Case("histogramdd", (np.stack([X, Y, X * Y], 1),), {"bins": (2, 3, 2)}),
    Case("histogramdd", (np.stack([X, Y], 1),), {"bins": 3, "range": [None, (0.0, 2.0)]}),
    Case("histogramdd", (X,), {"bins": 3}),
    Case("histogramdd", (INTS.T,), {"bins": 4}),
    Case("histogramdd", (INTS.T,), {"bins": (4,)}),
    Case("histogramdd", (INTS.T,), {"bins": (4, 0)}),
    Case("histogramdd", (INTS.T,), {"bins": (4, [3, 2, 1])}),
]
SERIES = [
    *[Case(f"polynomial.polynomial.{name}", args) for name, args in {
        "polyval": (X, C[0]), "polyval2d": (X, Y, C), "polygrid2d": (X, Y[:4], C),
        "polyval3d": (X, Y, X, np.stack([C, C], 2)), "polygrid3d": (X, Y[:2], X[:3], np.stack([C, C], 2)),
    }.items()],
    Case("polynomial.polynomial.polyval", (X, np.stack([C[0], C[1]], 1))),
    Case("polynomial.polynomial.polyval", (X[:3], C), {"tensor": False}),
    Case("polynomial.polynomial.polyval", (2.0, np.array([1, 2, 3]))),
    Case("polynomial.polynomial.polyval2d", (X, Y[:3], C)),
    Case("polydiv", (np.array([3.0, 5.0, 2.0]), np.array([2.0, 1.0]))),
    Case("polydiv", (np.array([1, -3, 2]), np.array([1, -1]))),
    Case("polydiv", (np.array([1.0]), np.array([1.0, 2.0]))),
    Case("polydiv", (np.array([1, 1j, 2, 0]), np.array([2.0, 1j]))),
]  # fmt: skip
SLICED = [
    *[Case(f"{name}.reduceat", (INTS, [0, 3, 1, 5]), {"axis": axis})
      for name in ("add", "multiply", "maximum", "minimum", "bitwise_or") for axis in (1, -1)],
    Case("add.reduceat", (X, [0, 4, 2]), {"dtype": "float32"}),
    Case("add.reduceat", (INTS, [0, 1]), {"axis": 0}),
    Case("add.reduceat", (X, [0, 6])),
    Case("logical_and.reduceat", (TRUTH, [0, 5]), {"axis": 1}),
]  # fmt: skip
#: NumPy 2.1 trims arrays of one axis only.
TRIMMED = (
    [Case("trim_zeros", (AROUND, *args)) for args in ((), ("f",), ("b",), ("fb", 0), ("b", (0, 1)), ("x",))]
    if "axis" in signature(np.trim_zeros).parameters
    else []
)
REST = [
    Case("trim_zeros", (np.zeros(4),)),
    *TRIMMED,
    Case("trim_zeros", (np.zeros(4), "f")),
    Case("trim_zeros", (np.array([0, 1.5, 0, 2, 0, 0]), "b")),
    *[
        Case("sort_complex", (INTS.astype(dtype),))
        for dtype in ("int8", "uint16", "int64", "float32", "bool")
    ],
    Case("sort_complex", (np.array([2 + 1j, 1 - 1j, 2 - 3j]),)),
    # NumPy 2.5 brought these; before, both raise its errors.
    Case("polynomial.polynomial.polyvalnd", ([X, Y], C)),
    Case("polynomial.polynomial.polyvalnd", ([X, Y, X], C)),
    Case("polynomial.polynomial.polyvalnd", ([X, Y[:4]], C)),
    *[
        Case(name, (values,), {"descending": True, "stable": True})
        for name in ("sort", "argsort")
        for values in (INTS, TRUTH, X, np.array([1.0, np.nan, -0.0, 0.0, np.inf, 1.0]))
    ],
    Case("argsort", (np.array([1j, 2, np.nan, 1 + 2j, 1j]),), {"descending": True, "stable": True}),
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("cases", [BITS, COUNTED, SERIES, SLICED, REST], ids=lambda cases: cases[0].name)
def test_as_numpy(cases: list[Case], mode: str) -> None:
    """Values, dtypes, shapes and classes of errors."""
    assert list(differences(cases, mode)) == []


def tensor(values: Any) -> Any:
    return tensor_array(tf.constant(values))


def test_none_of_them_asks_numpy() -> None:
    """With tensors, eagerly."""
    before = counts.host
    with np2tf.config.using(eager="tensorflow"):
        for case in (BITS[0], BITS[13], COUNTED[2], COUNTED[8], SERIES[0], SERIES[3], SLICED[0], REST[0]):
            path = tnp
            for part in case.name.split("."):
                path = getattr(path, part)
            path(*[tensor(a) if isinstance(a, np.ndarray) else a for a in case.args], **case.kwargs)
    assert counts.host == before


def test_trimming_gives_a_view() -> None:
    """As in NumPy; of a list it makes a list."""
    whole = tensor([0.0, 1.0, 2.0, 0.0])
    tnp.trim_zeros(whole)[0] = 9.0
    assert whole.tolist() == [0.0, 9.0, 2.0, 0.0]
    assert tnp.trim_zeros([0, 1, 0]) == [1]


def test_a_path_is_found_from_shapes() -> None:
    """Also while staging, with values that are not known."""
    expected = np.einsum_path("ij,jk,kl->il", np.zeros((2, 9)), np.zeros((9, 3)), np.zeros((3, 4)))

    @tf.function(autograph=False)
    def find(a: tf.Tensor, b: tf.Tensor, c: tf.Tensor) -> tf.Tensor:
        assert tnp.einsum_path("ij,jk,kl->il", *map(tensor_array, (a, b, c))) == expected
        return a

    find(tf.zeros((2, 9)), tf.zeros((9, 3)), tf.zeros((3, 4)))
    assert tnp.einsum_path(tensor([[1.0]]), [0, 1], [1, 0])[0] == ["einsum_path", (0,)]


def test_dlpack_shares_memory() -> None:
    """With arrays of ours; a tensor becomes an array."""
    whole = tensor([1.0, 2.0])
    taken = tnp.from_dlpack(whole)
    taken[0] = 5.0
    assert whole.tolist() == [5.0, 2.0]
    copied = tnp.from_dlpack(whole, copy=True)
    copied[0] = 7.0
    assert whole.tolist() == [5.0, 2.0]
    assert tnp.from_dlpack(tf.constant([1, 2])).tolist() == [1, 2]
    assert tnp.from_dlpack(np.arange(3.0)).tolist() == [0.0, 1.0, 2.0]


@pytest.mark.parametrize("xla", [False, True])
def test_shapes_known_at_run_time(xla: bool) -> None:
    """Bits of arrays whose lengths a graph does not know."""

    @tf.function(autograph=False, jit_compile=xla, input_signature=[tf.TensorSpec([None, None], tf.uint8)])
    def there_and_back(a: tf.Tensor) -> tf.Tensor:
        return tnp.packbits(tnp.unpackbits(tensor_array(a), axis=1), axis=1).tensor

    np.testing.assert_array_equal(there_and_back(tf.constant(BYTES)), BYTES)
