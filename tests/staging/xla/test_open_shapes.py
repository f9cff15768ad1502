"""Arrays whose shapes depend on data, in compiled functions: NumPy's results and NumPy's errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import np2tf
from np2tf.arrays.array.ndarray import tensor_array
from np2tf.core.errors import StagingError
from tests.helpers.differential import HEAD, compare, load, translation

#: Uses of `v`, which has three elements, no element or one element of `x`; `w` has the rest of `x`.
USES = """
v[0]
v[-1]
v[1]
v[[0, 1]]
v[::2]
v[::-1]
v[:2].sum()
v[:-1].sum()
v[-2:]
v.max()
v.min(axis=0)
v.argmax()
v.argmin()
v.mean()
v.std()
np.ptp(v)
np.nanmax(v)
np.median(v)
np.percentile(v, 50)
np.sort(v)[0]
np.argsort(v)
np.cumsum(v)[-1]
np.diff(v).max()
np.unique(v)
np.roll(v, 1)
np.take(v, 0)
np.append(v, 1.0)
np.concatenate([v, x]).sum()
np.stack([v, w]).sum()
np.linalg.norm(v)
np.maximum(v, 2.5)
np.convolve(v, [1.0, 2.0])
np.correlate(v, w, "full")
np.cov(v, v)
np.linspace(0, 1, len(v))
np.insert(v, 0, 5.0)
np.pad(v, 2, mode="reflect")
np.array_split(v, 2)[0].sum()
np.nonzero(x > 1)[0][0]
np.flatnonzero(x > 1).max()
np.where(x > 1)[0].sum()
v.reshape(2, -1)
v.size + v.shape[0] + len(v)
(v * v - v.mean()).sum()
v * 2 + 1
(v**2).sum()
v + w
v + x
v[v > 2] * v
v @ w
np.dot(v, w)
np.inner(v, w)
np.vdot(v, w)
np.outer(v, w).sum()
np.trapezoid(v, w)
np.average(v, weights=w)
np.searchsorted(v, 1.5)
""".strip().splitlines()


@pytest.mark.parametrize("use", USES)
def test_shapes_that_depend_on_data(use: str) -> None:
    source = f"def f(x):\n    v = x[x > 1]\n    w = x[x <= 1]\n    return {use}\n"
    compare(HEAD + source, "np.arange(5.)", "np.arange(2.)", "np.array([0., 1., 2.])", ran="compiled")


def compiled(source: str, *args: Any) -> tuple[Any, str]:
    """Compile and call a function; return its result, and where it ran."""
    function = load(translation(HEAD + source))["f"]
    with np2tf.config.using(tier="compile"):
        found = function(*args)
        return found, str(function.explain(*args)).splitlines()[0].split()[-1]


def test_what_xla_does_rightly_stays_in_xla() -> None:
    source = "def f(x):\n    v = x[x > 1]\n    return (v * v - v.mean()).sum()\n"
    found, where = compiled(source, np.arange(5.0))
    assert where == "xla"
    assert found == 20.0


@pytest.mark.parametrize(
    "source",
    [
        "def f(x):\n    return (x[x > 1] + x[x < 3]).sum()\n",
        "def f(x):\n    return x[x > 1][1]\n",
        "def f(x):\n    s = 0.0\n    for i in range(3):\n        s = s + x[x > i][1]\n    return s\n",
    ],
)
def test_what_it_does_not_is_left_to_tensorflow(source: str) -> None:
    found, where = compiled(source, np.arange(5.0))
    assert where == "graph"
    assert found == load(HEAD + source)["f"](np.arange(5.0))


#: Products of arrays whose lengths are not known; `v` and `w` have one axis, `m` and `n` two axes.
PRODUCTS = """
np.einsum('i,i->', v, w)
np.einsum('i,i->i', v, w)
np.einsum('i,i,i->', v, v, w)
np.einsum('ij,j->i', m, v)
np.einsum('ij,jk->ik', m, n)
np.einsum('ij,ij->', m, n)
np.einsum('ii->', m)
np.einsum('ii->i', m)
np.dot(v, w)
np.dot(m, v)
np.dot(m, n)
v @ w
m @ n
np.inner(v, w)
np.inner(m, n)
np.vdot(v, w)
np.vecdot(m, v)
np.matvec(m, v)
np.vecmat(v, m)
np.tensordot(m, n)
np.tensordot(m, n, 1)
np.tensordot(m, n, ([0], [0]))
np.average(v, weights=w)
""".strip().splitlines()
PRODUCTS = [use for use in PRODUCTS if not use.startswith("np.") or hasattr(np, use[3:].partition("(")[0])]
LENGTHS = (3, 3, (3, 3), (3, 3)), (3, 2, (3, 2), (2, 3)), (3, 1, (2, 4), (3, 3)), (4, 4, (4, 1), (4, 4))


def _given(lengths: tuple[Any, ...]) -> list[np.ndarray]:
    return [np.arange(1.0, 1 + np.prod(shape)).reshape(shape) for shape in lengths]


@pytest.mark.parametrize("use", PRODUCTS)
def test_products_of_what_does_not_fit(use: str) -> None:
    """Under np2tf.jit NumPy's error comes up."""
    chosen = [f"    {x} = {x}[{x} > 0]\n" for x in "vw"]
    chosen += [f"    {x} = {x}[{x}[:, 0] > 0][:, {x}[0] > 0]\n" for x in "mn"]
    source = f"def f(v, w, m, n):\n{''.join(chosen)}    return np.asarray({use}) * 1\n"
    calls = [", ".join(f"np.arange(1, {1 + np.prod(s)}.).reshape({s})" for s in row) for row in LENGTHS]
    compare(HEAD + source, *calls, ran=None, messages=False)


@pytest.mark.parametrize("xla", [False, True])
@pytest.mark.parametrize("use", PRODUCTS)
def test_products_of_what_does_not_fit_in_other_graphs(use: str, xla: bool) -> None:
    """A user's own tf.function, which knows the ranks only, fails or refuses; it gives no other result."""
    names = {"v": [None], "w": [None], "m": [None, None], "n": [None, None]}
    code = compile(use, "<use>", "eval")

    @tf.function(
        autograph=False,
        jit_compile=xla,
        input_signature=[tf.TensorSpec(shape, tf.float64) for shape in names.values()],
    )
    def function(*given: tf.Tensor) -> tf.Tensor:
        return tf.convert_to_tensor(
            eval(code, {"np": np2tf.tnp, **dict(zip(names, map(tensor_array, given)))})
        )

    worked = 0
    for lengths in LENGTHS:
        given = _given(lengths)
        try:
            wanted = eval(code, {"np": np, **dict(zip(names, given))})
        except (ValueError, TypeError):
            wanted = None
        try:
            found = function(*map(tf.constant, given)).numpy()
        except (StagingError, tf.errors.InvalidArgumentError):
            continue
        assert wanted is not None, (lengths, found)
        assert np.allclose(found, wanted)
        worked += 1
    assert worked or use == "np.einsum('ii->i', m)"
