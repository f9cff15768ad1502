"""`np2tf.nn` against JAX: on the host, on tensors, and in graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

pytest.importorskip("jax", reason="JAX is the judge of these functions")

import jax.numpy as jnp

import np2tf
from np2tf import nn, tnp
from np2tf.arrays.array.ndarray import is_array
from tests.helpers.extension_cases import CASES, DATA, HWIO, LAST, X

#: The gelu of minus infinity is NaN by JAX's formula, and so are means of infinities.
TOLERANCE = {"float32": 2e-5, "float64": 1e-11}


def arrays(args: Any, make: Any) -> list[Any]:
    """The arguments, with arrays made by `make`."""
    return [make(array) if isinstance(array, np.ndarray) and array.dtype != bool else array for array in args]


def assert_as_jax(found: Any, wanted: Any) -> None:
    """Dtypes, shapes and values are equal."""
    if isinstance(wanted, (tuple, list)):
        assert len(found) == len(wanted)
        for found_part, wanted_part in zip(found, wanted):
            assert_as_jax(found_part, wanted_part)
        return
    found, wanted = np.asarray(found), np.asarray(wanted)
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    tolerance = TOLERANCE.get(str(wanted.dtype), 0)
    np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", CASES)
def test_against_jax(name: str) -> None:
    """NumPy's arrays on the host, arrays on TensorFlow, and one graph."""
    np2tf_function, jax_function, args = CASES[name]
    with np.errstate(all="ignore"):
        wanted = jax_function(*arrays(args, jnp.asarray))
        given = arrays(args, np.array)
        found = np2tf_function(*given)
        assert_as_jax(found, wanted)
        first = found[0] if isinstance(found, tuple) else found
        assert isinstance(first, (np.ndarray, np.generic))
        for argument, original in zip(given, args):
            np.testing.assert_array_equal(argument, original)  # nothing is written to
        on_tensors = np2tf_function(*arrays(args, np2tf.device_put))
        first = on_tensors[0] if isinstance(on_tensors, tuple) else on_tensors
        assert is_array(first)
        assert_as_jax(np2tf.device_get(on_tensors), wanted)


#: One case of each function is compiled.
COMPILED = [
    *("conv (2, 3) SAME", "conv groups", "conv dilated 0", "conv_transpose (2, 3) SAME None True"),
    *("max_pool (3, 2) (2, 2) SAME", "avg_pool inside (3, 2) (2, 2) SAME", "at indices add", "at pairs set"),
    *("softmax where -1", "logsumexp sign", "one_hot axis", "top_k float64 (2, 7, 6)", "sort_key_val 0"),
    *("at indices set drop", "at pairs add drop", "at rows and slice get fill None", "at indices max clip"),
    *("at column set clip", "at many apply", "at facts", "at index get clip None"),
    *("segment_sum 4", "segment_max 9", "gelu exact float64 (2, 7, 6)"),
]


@pytest.mark.parametrize("name", COMPILED)
def test_compiled(name: str) -> None:
    """Jitted functions call the extensions in one program."""
    np2tf_function, jax_function, args = CASES[name]
    moving = [
        k
        for k, argument in enumerate(args)
        if isinstance(argument, np.ndarray) and argument.dtype == np.float64
    ]

    @np2tf.jit(tier="compile")
    def compiled(*given):
        whole = list(args)
        for place, value in zip(moving, given):
            whole[place] = value
        return np2tf_function(*whole)

    found = compiled(*[np.array(args[k]) for k in moving])
    assert compiled.compiled_count + compiled.graph_count == 1
    assert_as_jax(np2tf.device_get(found), jax_function(*arrays(args, jnp.asarray)))


def test_gradients() -> None:
    """Tapes follow the functions, also through the operation that TensorFlow has for convolutions."""
    jax = pytest.importorskip("jax")
    from jax import lax

    def on_jax(x, w):
        made = lax.conv_general_dilated(x, w, (2, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        return jnp.sum(jax.nn.softmax(made) ** 2)

    wanted = jax.grad(on_jax, (0, 1))(LAST, HWIO)
    x, w = np2tf.device_put(LAST), np2tf.device_put(HWIO)
    with tf.GradientTape() as tape:
        tape.watch([x, w])
        made = nn.conv_general_dilated(x, w, (2, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        loss = tnp.sum(nn.softmax(made) ** 2)
    for gradient, wanted_gradient in zip(tape.gradient(loss, [x, w]), wanted):
        np.testing.assert_allclose(np.asarray(gradient), wanted_gradient, rtol=1e-9, atol=1e-12)


MODES = ("drop", "clip")


@pytest.mark.parametrize("mode", MODES)
def test_derivatives_of_modes(mode: str) -> None:
    """Gradients with respect to the array and the values, and batches of indices; on tensors and compiled."""
    jax = pytest.importorskip("jax")
    index, values = np.array([-9, -1, 2, 2, 8]), np.linspace(1, 2, 5)
    x, indices = np.arange(1.0, 5.0), np.array([[0, 5, 1], [-1, -5, 3]])

    def loss(at: Any, x: Any, v: Any) -> Any:
        y = at(x)[index].add(v, mode=mode) ** 2 + at(x)[index[1:3]].set(v[:2], mode=mode)
        return (y**2).sum() + (at(x)[index].get(mode="clip") * v).sum()

    def on_jax(x: Any, v: Any) -> Any:
        return loss(lambda array: array.at, x, v)

    def on_np2tf(x: Any, v: Any) -> Any:
        return loss(nn.at, x, v)

    wanted = jax.grad(on_jax, (0, 1))(jnp.asarray(x), jnp.asarray(values))
    derivative = np2tf.grad(on_np2tf, (0, 1))
    for gradient in (derivative, np2tf.jit(derivative, tier="compile")):
        for found, wanted_part in zip(gradient(x, values), wanted):
            np.testing.assert_allclose(found, wanted_part, rtol=1e-12)

    wanted_rows = jax.vmap(lambda i: jnp.asarray(x).at[i].get(mode="fill", fill_value=-1))(
        jnp.asarray(indices)
    )
    wanted_sums = jax.vmap(lambda i: jnp.asarray(x).at[i].add(1.0, mode=mode))(jnp.asarray(indices))
    assert nn.at(x > 2)[[0, 9]].get(mode="fill").tolist() == [False, True]
    batches = np2tf.vmap(lambda i: nn.at(x)[i].get(mode="fill", fill_value=-1))
    sums = np2tf.vmap(lambda i: nn.at(x)[i].add(1.0, mode=mode))
    for way in (lambda f: f, lambda f: np2tf.jit(f, tier="compile")):
        np.testing.assert_array_equal(way(batches)(indices), wanted_rows)
        np.testing.assert_array_equal(way(sums)(indices), wanted_sums)


def test_unknown_batch() -> None:
    """A graph of an unknown batch length serves any length."""
    layout = ("NHWC", "HWIO", "NHWC")

    def network(x):
        made = nn.conv_general_dilated(x, HWIO, (1, 1), "SAME", dimension_numbers=layout)
        return nn.softmax(nn.max_pool(made, (2, 2), (2, 2)))

    graph = tf.function(
        lambda x: network(x).tensor, input_signature=[tf.TensorSpec([None, 9, 8, 3], tf.float64)]
    )
    for batch in (1, 2):
        found = graph(tf.constant(LAST[:batch]))
        np.testing.assert_allclose(found, network(LAST[:batch]), rtol=1e-10)


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda: nn.conv(X, X, (1, 1), "VALID"), ValueError, "strides"),
        (lambda: nn.conv(LAST, HWIO, (1, 1), "VALID"), ValueError, "channels"),
        (lambda: nn.conv(LAST, LAST[:1], (1, 1), "EQUAL"), ValueError, "padding"),
        (lambda: nn.conv_general_dilated(LAST, LAST, (1, 1), "SAME", (2, 1)), ValueError, "pairs"),
        (lambda: nn.max_pool(LAST, (2, 2), padding="EQUAL"), ValueError, "padding"),
        (lambda: nn.max_pool(LAST, (2, 2), padding=((1, 1),)), ValueError, "pairs"),
        (lambda: nn.max_pool(LAST, (2, 2), (1,)), ValueError, "strides"),
        (lambda: nn.top_k(X, 7), ValueError, "k=7"),
        (lambda: nn.sort_key_val(X, X[0]), ValueError, "shape"),
        (lambda: nn.at(DATA)[9].set(1.0), IndexError, "out of bounds"),
        (lambda: nn.at(DATA)[np.array([9])].add(1.0), IndexError, "out of bounds"),
        (lambda: nn.at(DATA)[9].get(mode="promise_in_bounds"), IndexError, "out of bounds"),
        (lambda: nn.at(DATA)[-1].get(wrap_negative_indices=False), IndexError, "out of bounds"),
        (lambda: nn.at(DATA)[0].set(1.0, mode="wrap"), ValueError, "unknown mode 'wrap'"),
        (lambda: nn.at(DATA)[0].set(1.0, fill_value=2), TypeError, "fill_value"),
        (lambda: nn.at(np.arange(3))[0].apply(np.sin), TypeError, "float64 for an array of int64"),
    ],
)
def test_errors(call: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        call()
