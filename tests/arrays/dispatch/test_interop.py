"""Arrays of np2tf among NumPy, TensorFlow and other libraries: one case for each use that must work."""

from __future__ import annotations

import copy
import json
import pickle
import threading
from collections.abc import Callable, Container, Iterable, Iterator, Sized
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import np2tf
from np2tf import tnp
from np2tf.arrays.array.ndarray import is_array, tensor_array

VALUES = np.array([[1.0, -2.0, 3.5], [0.25, 4.0, -1.0]])
CASES: list[Callable[[], None]] = []


@pytest.fixture(autouse=True)
def on_tensors() -> Iterator[None]:
    """Everything on TensorFlow."""
    with np2tf.config.using(eager="tensorflow"):
        yield


def case(check: Callable[[], None]) -> Callable[[], None]:
    """Add a case: the function's name is the claim, and its body the proof."""
    CASES.append(check)
    return check


def ours(values: Any = VALUES) -> Any:
    return tensor_array(tf.constant(values))


def same(array: Any, values: Any) -> None:
    """An array of ours with NumPy's values and dtype."""
    assert is_array(array)
    expected = np.asarray(values)
    assert array.dtype == expected.dtype
    np.testing.assert_allclose(np.asarray(array), expected, rtol=1e-12)


@case
def numpy_functions_take_our_arrays() -> None:
    same(np.sum(ours(), axis=0), VALUES.sum(0))
    same(np.concatenate([ours(), VALUES]), np.concatenate([VALUES, VALUES]))
    assert isinstance(np.asarray(ours()), np.ndarray)


@case
def our_functions_take_numpy_arrays_lists_tensors_and_variables() -> None:
    for given in (VALUES, VALUES.tolist(), tf.constant(VALUES), tf.Variable(VALUES), ours()):
        same(tnp.sum(given, axis=1), VALUES.sum(1))


@case
def our_array_and_numpys_give_ours_in_both_orders() -> None:
    for left, right in ((ours(), VALUES), (VALUES, ours())):
        same(left + right, VALUES + VALUES)
        same(left - right, VALUES - VALUES)
        same(left @ right.T, VALUES @ VALUES.T)
        same(left > right, VALUES > VALUES)


@case
def our_array_and_a_tensor_give_ours_and_a_tensor_and_ours_a_tensor() -> None:
    same(ours() + tf.constant(VALUES), VALUES + VALUES)
    # TensorFlow's own operator answers first.
    summed = tf.constant(VALUES) + ours()
    assert isinstance(summed, tf.Tensor)
    np.testing.assert_array_equal(summed, VALUES + VALUES)


@case
def tensorflow_functions_take_our_arrays() -> None:
    summed = tf.reduce_sum(ours())
    assert isinstance(summed, tf.Tensor)
    assert float(summed) == VALUES.sum()
    assert isinstance(tf.convert_to_tensor(ours()), tf.Tensor)
    np.testing.assert_array_equal(tf.nn.relu(ours()), np.maximum(VALUES, 0))


@case
def tensors_are_taken_and_given_without_a_copy() -> None:
    tensor = tf.constant(VALUES)
    assert tnp.asarray(tensor).tensor is tensor
    assert tf.convert_to_tensor(ours_of := tensor_array(tensor)) is tensor
    assert ours_of.tensor is tensor


@case
def matplotlib_plots_them() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots()
    (line,) = axes.plot(ours(np.arange(4.0)), ours(np.arange(4.0) ** 2))
    np.testing.assert_array_equal(line.get_ydata(), np.arange(4.0) ** 2)
    axes.imshow(ours())
    axes.hist(tnp.ravel(ours()))
    axes.scatter(ours()[0], ours()[1])
    figure.canvas.draw()
    pyplot.close(figure)


@case
def a_tape_watches_and_differentiates_them() -> None:
    x = ours()
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tnp.sum(tnp.sin(x) * x)
    same(tape.gradient(y, x), np.cos(VALUES) * VALUES + np.sin(VALUES))


@case
def a_tape_differentiates_through_views_and_writes() -> None:
    x = ours()
    with tf.GradientTape() as tape:
        tape.watch(x)
        z = tnp.zeros((2, 3))
        z[:, 1:] = x[:, 1:] * 2
        y = tnp.sum(z.T[1] ** 2)
    expected = np.zeros((2, 3))
    expected[:, 1] = 8 * VALUES[:, 1]
    same(tape.gradient(y, x), expected)


@case
def variables_are_trained() -> None:
    weight = tf.Variable([2.0, 3.0], dtype=tf.float64)
    with tf.GradientTape() as tape:
        loss = tnp.sum(tnp.asarray(weight) ** 2)
    np.testing.assert_allclose(tape.gradient(loss, weight), [4.0, 6.0])


@case
def a_tape_makes_jacobians() -> None:
    x, unused = ours(np.array([1.0, 2.0, 3.0])), ours()
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x**2
    same(tape.jacobian(y, x), np.diag([2.0, 4.0, 6.0]))
    found = tape.jacobian(y, {"x": [x, x.tensor], "unused": unused})
    same(found["x"][0], np.diag([2.0, 4.0, 6.0]))
    assert tf.is_tensor(found["x"][1])
    assert found["unused"] is None


@case
def a_tape_makes_batch_jacobians() -> None:
    x = ours()
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x**2
    same(tape.batch_jacobian(y, x), np.stack([np.diag(2 * row) for row in VALUES]))


@case
def arrays_on_the_host_are_not_watched() -> None:
    with np2tf.config.using(eager="auto"):
        x = tnp.array(VALUES)
        with tf.GradientTape() as tape, pytest.raises(TypeError, match=r"device_put.*config\.eager"):
            tape.watch(x)


@case
def arrays_that_are_put_on_tensorflow_are_watched() -> None:
    with np2tf.config.using(eager="auto"):
        x = np2tf.device_put(VALUES)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = x**2
        same(tape.gradient(y, x), 2 * VALUES)
        same(tape.batch_jacobian(y, x), np.stack([np.diag(2 * row) for row in VALUES]))


@case
def numpy_arrays_take_keys_of_ours_otherwise_than_numpys() -> None:
    # Nobody but NumPy can change this.
    with np2tf.config.using(eager="auto"):
        with pytest.raises(IndexError, match="iterator"):
            VALUES.flat[np2tf.device_put([True] * 6)]
        assert VALUES[np.array(1)].base is None
        assert VALUES[np2tf.device_put(1)].base is VALUES


@case
def threads_write_to_parts_of_one_array() -> None:
    rows = tnp.zeros((8, 2000))
    views = [rows[k] for k in range(4)]

    def write(k: int) -> None:
        for start in range(0, 2000, 100):
            rows[k + 4, start : start + 100] = k
            np.add(views[k], 1, out=views[k])

    threads = [threading.Thread(target=write, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = np.repeat([20.0, 20.0, 20.0, 20.0, 0.0, 1.0, 2.0, 3.0], 2000).reshape(8, 2000)
    same(rows, expected)


@case
def data_sets_are_made_of_them_and_mapped_by_our_functions() -> None:
    data = tf.data.Dataset.from_tensor_slices(ours()).map(lambda row: tnp.sum(row) * 2)
    np.testing.assert_allclose([float(item) for item in data], VALUES.sum(1) * 2)


@case
def functions_are_vectorized() -> None:
    found = tf.vectorized_map(lambda row: tnp.sort(row) * tnp.sum(row), ours())
    np.testing.assert_allclose(np.asarray(found), np.sort(VALUES, 1) * VALUES.sum(1, keepdims=True))


@case
def a_tf_function_takes_them_as_placeholders() -> None:
    traces = []

    @tf.function
    def double(x: Any) -> Any:
        traces.append(1)
        return tnp.asarray(x) * 2

    x = ours(np.array([1.0, 2.0]))
    np.testing.assert_array_equal(np.asarray(double(x)), [2.0, 4.0])
    x[0] = 10.0
    np.testing.assert_array_equal(np.asarray(double(x)), [20.0, 4.0])
    assert len(traces) == 1
    on_host = tnp.asarray(np.array([3.0, 4.0]))
    np.testing.assert_array_equal(np.asarray(double(on_host)), [6.0, 8.0])
    assert len(traces) == 1


@case
def they_live_where_a_device_scope_says() -> None:
    with tf.device("/CPU:0"):
        made = tnp.ones(3)
        moved = tnp.copy(ours())
    assert made.tensor.device.endswith("CPU:0")
    assert moved.tensor.device.endswith("CPU:0")
    assert np.asarray(moved).shape == (2, 3)


@case
def they_are_pickled_and_copied_deeply() -> None:
    for made in (pickle.loads(pickle.dumps(ours())), copy.deepcopy(ours()), copy.copy(ours())):
        same(made, VALUES)
    x = ours()
    twin = copy.deepcopy(x)
    twin[0, 0] = 99.0
    assert x[0, 0] == 1.0
    shared, again = copy.deepcopy([x, x])
    assert shared is again


@case
def lists_of_them_are_json() -> None:
    assert json.loads(json.dumps(ours().tolist())) == VALUES.tolist()
    assert json.dumps(ours(np.array([1, 2])).tolist()) == "[1, 2]"


@case
def they_print_as_numpys() -> None:
    for values in (
        VALUES,
        np.arange(3),
        np.array(True),
        np.array([1 + 2j]),
        np.zeros((0, 2)),
        np.arange(2000.0),
    ):
        assert repr(ours(values)) == repr(values)
        assert str(ours(values)) == str(values)
        assert f"{ours(values)}" == f"{values}"
    number = ours(np.array([2.5]))[0]
    assert (repr(number), str(number), f"{number:.3f}") == ("np.float64(2.5)", "2.5", "2.500")


@case
def python_takes_them_for_numbers_and_sequences() -> None:
    assert float(ours(np.array(2.5))) == 2.5
    assert [10, 20, 30][ours(np.array(1))] == 20
    assert [float(x) for x in ours()[0]] == VALUES[0].tolist()
    assert len(ours()) == 2
    assert bool(ours(np.array([1])))
    assert max(ours()[0]) == 3.5


@case
def keras_layers_take_them() -> None:
    layer = tf.keras.layers.Dense(2, kernel_initializer="ones")
    np.testing.assert_allclose(layer(ours(VALUES.astype(np.float32)))[:, 0], VALUES.sum(1), rtol=1e-5)


@case
def ufuncs_write_to_them() -> None:
    out = ours(np.zeros((2, 3)))
    assert np.add(VALUES, 1.0, out=out) is out
    same(out, VALUES + 1)


@pytest.mark.parametrize("check", CASES, ids=lambda check: check.__name__)
def test_interoperates(check: Callable[[], None]) -> None:
    """Each case by itself."""
    check()


@pytest.mark.gpu
@pytest.mark.skipif(not tf.config.list_physical_devices("GPU"), reason="there is no GPU")
def test_copies_go_between_devices() -> None:
    """`tnp.copy` in a device scope puts the copy there."""
    with tf.device("/CPU:0"):
        here = ours()
    with tf.device("/GPU:0"):
        there = tnp.copy(here)
    assert there.tensor.device.endswith("GPU:0")
    with tf.device("/CPU:0"):
        assert tnp.copy(there).tensor.device.endswith("CPU:0")


def test_memory_given_to_numpy_belongs_to_it():
    """SciPy makes its arrays writable again after np.broadcast_arrays; that must be allowed to it."""
    x = np2tf.device_put(np.arange(12.0).reshape(3, 4))
    for view in (x, x.T, x[::-1], x[:, ::2], x[1], x > 2, x * 1j, x[:0]):
        host = np.asarray(view)
        assert host.dtype == view.dtype
        np.testing.assert_array_equal(host, view.numpy())
        host.flags.writeable = False
        host.flags.writeable = True
        kept = host.copy()
        del view
        np.testing.assert_array_equal(host, kept)


def test_numbers_have_no_length():
    number = np2tf.device_put(np.arange(3.0))[1]
    assert not isinstance(number, (Sized, Iterable, Container))
    assert number == pytest.approx(1.0)
    assert pytest.approx(number) == 1.0
    for ask in (len, iter, lambda x: 1 in x):
        with pytest.raises(TypeError):
            ask(number)
