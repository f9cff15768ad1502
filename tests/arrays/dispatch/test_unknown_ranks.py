"""Arrays whose rank or lengths a plain `tf.function` does not know: NumPy's values, at every rank."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from np2tf import tnp
from np2tf.arrays.array.ndarray import is_array, tensor_array
from np2tf.arrays.dispatch import unknown_shapes

A = np.arange(12.0).reshape(3, 4)
V = np.array([3.0, -1.0, 2.0, 5.0, 0.5, 7.0, -2.0])
K = np.array([6, 2])
#: Expression -> its operands `a`, `b`.
CALLS: dict[str, tuple[np.ndarray, ...]] = {
    "np.sum(a, axis=0)": (A,),
    "np.sum(a, axis=-1, keepdims=True)": (A,),
    "np.reshape(a, (2, -1))": (A,),
    "np.transpose(a)": (A,),
    "np.concatenate([a, a, b], axis=1)": (A, A),
    "np.vstack([b, a])": (A, A[0]),
    "np.matmul(a, b)": (A, A.T.copy()),
    "np.asarray(a)[0:b[0]:b[1]]": (V, K),
    "np.asarray(a)[..., 1:][::-1]": (A,),
    "np.split(a, 3)": (A,),
    "np.array_split(a, 5)": (V,),
    "np.array_split(a, 3, axis=1)": (A,),
    "np.cross(a, b)": (np.eye(3), np.ones((3, 3))),
    "np.cross(a, b, axis=0)": (np.eye(3)[:, :2] + 1, A[:, :2]),
    "np.squeeze(a)": (A[None],),
    "np.diag(a)": (V,),
    "np.diag(a, 1)": (A,),
    "np.diag(a, -4)": (A,),
    "np.diag(a, 4)": (A,),
    "np.diag(a, -2)": (A.T.copy(),),
    "np.take_along_axis(a, np.argsort(a, axis=1), axis=1)": (-A,),
    "np.roll(a, b[0])": (V, K),
    "np.roll(a, b[1], axis=0)": (A, K),
    "np.median(a)": (A,),
    "np.median(a, axis=0)": (A[:2],),
    "np.median(a, axis=1, keepdims=True)": (V[:3, None] * A,),
    "np.nanmedian(a)": (np.where(A == 3, np.nan, A),),
    "np.percentile(a, [10, 95], axis=1)": (A,),
    "np.quantile(a, 0.3)": (V,),
    "np.sort(a, axis=0)": (-A,),
    "np.flip(a, 0)": (A,),
    "np.diff(a, axis=0)": (A**2,),
    "np.trace(a, 1)": (A,),
    "np.kron(a, b)": (A, A[:2]),
    "np.ndim(a) + np.size(a)": (A,),
    "np.asarray(a).T.sum(axis=0)": (A,),
}


def evaluated(expression: str, shapes: Any, xla: bool = False, wrap: Any = lambda t: t) -> Any:
    """A function of the operands; `shapes` makes of an operand what the graph is told of its shape."""
    code = compile(expression, "<call>", "eval")

    def function(*given: np.ndarray) -> Any:
        specs = [tf.TensorSpec(shapes(value), value.dtype) for value in given]

        @tf.function(input_signature=specs, jit_compile=xla, autograph=False)
        def staged(*tensors: tf.Tensor) -> Any:
            return tf.nest.map_structure(
                lambda part: part.tensor if is_array(part) else part,
                eval(code, {"np": tnp, **dict(zip("ab", map(wrap, tensors), strict=False))}),
            )

        return tf.nest.map_structure(lambda part: part.numpy(), staged(*map(tf.constant, given)))

    return function


def check(expression: str, found: Any, given: tuple[np.ndarray, ...]) -> None:
    """NumPy's values, dtypes and shapes."""
    wanted = eval(expression, {"np": np, **dict(zip("ab", given, strict=False))})
    pairs = zip(wanted, found, strict=True) if isinstance(wanted, (list, tuple)) else [(wanted, found)]
    for a, b in pairs:
        assert np.asarray(a).shape == np.shape(b)
        np.testing.assert_allclose(b, a, rtol=1e-12)
        assert np.asarray(a).dtype == b.dtype


@pytest.mark.parametrize("expression", CALLS)
@pytest.mark.parametrize("known", ["nothing", "rank"])
@pytest.mark.filterwarnings("ignore")
def test_calls(expression: str, known: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """On raw tensors; three ranks are enough for these, and quicker."""
    monkeypatch.setattr(unknown_shapes, "MOST_AXES", 3)
    given = CALLS[expression]
    shapes = (lambda value: None) if known == "nothing" else (lambda value: [None] * value.ndim)
    check(expression, evaluated(expression, shapes)(*given), given)


@pytest.mark.parametrize("rank", range(unknown_shapes.MOST_AXES + 1))
def test_every_rank(rank: int) -> None:
    """A call takes the branch of its operand's rank, also after calls that took other branches."""
    function = evaluated("np.cumsum(np.flip(a), axis=-1) if True else a", lambda value: None)
    given = np.arange(float(2**rank)).reshape((2,) * rank)
    if rank == 0:
        with pytest.raises(tf.errors.InvalidArgumentError):
            evaluated("np.flip(a, 0)", lambda v: None)(given)
        return
    for operand in (given[None] if rank < unknown_shapes.MOST_AXES else given[0], given):
        check("np.cumsum(np.flip(a), axis=-1)", function(operand), (operand,))


@pytest.mark.parametrize("xla", [False, True])
def test_under_xla(xla: bool) -> None:
    function = evaluated("np.sum(a, axis=1)", lambda value: None, xla)
    check("np.sum(a, axis=1)", function(A), (A,))
    with pytest.raises(tf.errors.InvalidArgumentError):
        function(V)


def test_an_axis_out_of_bounds_is_an_error_at_run_time() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="AxisError: axis 2 is out of bounds"):
        evaluated("np.sum(a, axis=2)", lambda value: None)(A)


def test_too_many_axes_are_refused_in_words() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="more than 6 axes"):
        evaluated("np.sort(a)", lambda value: None)(np.zeros((1,) * 7))


def test_what_has_no_common_form_is_refused() -> None:
    with pytest.raises(np.exceptions.AxisError):
        evaluated("np.sum(a, axis=9)", lambda value: None)(A)
    with pytest.raises(RuntimeError, match="known only at run time"):
        evaluated("np.nonzero(a)", lambda value: None)(A)


def test_views_share_memory() -> None:
    """An array of unknown rank and its view share memory: a write to the array or the view reaches both."""

    def steps(np: Any, a: Any) -> Any:
        turned = np.transpose(a)
        turned[0] = 7
        a[..., 1] = 5
        a[0] += 1
        a.sort(axis=0)
        return a, turned

    @tf.function(input_signature=[tf.TensorSpec(None, tf.float64)], autograph=False)
    def staged(a: tf.Tensor) -> Any:
        return tuple(part.tensor for part in steps(tnp, tensor_array(a)))

    wanted = steps(np, A.copy())
    for staged_array, right in zip(staged(A), wanted, strict=True):
        np.testing.assert_array_equal(staged_array.numpy(), right)


def test_gradients_go_through_the_branch_taken() -> None:
    @tf.function(input_signature=[tf.TensorSpec(None, tf.float64)], autograph=False)
    def slope(a: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(a)
            total = tf.reduce_sum(tnp.sum(a, axis=0).tensor ** 2)
        return tape.gradient(total, a)

    np.testing.assert_allclose(slope(A).numpy(), np.broadcast_to(2 * A.sum(axis=0), A.shape))
