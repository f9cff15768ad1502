"""Translated code called by TensorFlow and Keras: tensors are arrays inside, and results are tensors."""

from __future__ import annotations

import functools
import importlib
import operator
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import np2tf
from np2tf import tnp
from np2tf.arrays.tensors.storage import ForeignGraphWarning
from np2tf.staging.host.jit import UnjittedWarning
from tests.helpers import programs_for_tensorflow as plain

translated: Any = np2tf.import_module(Path(plain.__file__))

X = np.arange(6.0).reshape(2, 3) ** 2
both = pytest.mark.parametrize("autograph", [True, False])


def equal(got: Any, wanted: Any, kind: type | None = None) -> None:
    """The same values, and an object of this class."""
    np.testing.assert_allclose(np.asarray(got), np.asarray(wanted), rtol=1e-6)
    assert kind is None or type(got) is kind or (kind is tf.Tensor and isinstance(got, tf.Tensor)), type(got)


# -- one function, called in many ways -----------------------------------------------------------------------

FUNCTIONS = {
    "standardized": (X,),
    "gram": (X,),
    "root": (np.float64(2.0),),
    "scaled_rows": (X,),
    "positive": (X - 2.0,),
    "added": (X, X[0]),
    "of_parameters": ({"w": X.T, "b": np.ones(2)}, X),
}


@both
@pytest.mark.parametrize("name", FUNCTIONS)
def test_under_tf_function(name: str, autograph: bool):
    args = FUNCTIONS[name]
    given = tf.nest.map_structure(lambda value: tf.constant(value, tf.float64), args)
    wanted = getattr(plain, name)(*args)
    function = getattr(translated, name)
    equal(tf.function(function, autograph=autograph)(*given), wanted, tf.Tensor)
    # called by code that AutoGraph converts
    equal(tf.function(lambda *inner: function(*inner) + 0, autograph=autograph)(*given), wanted, tf.Tensor)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_kind_in_is_kind_out(name: str):
    args = FUNCTIONS[name]
    wanted, function = getattr(plain, name)(*args), getattr(translated, name)
    equal(function(*args), wanted, type(wanted))
    equal(function(*tf.nest.map_structure(tf.constant, args)), wanted, tf.Tensor)
    equal(function(*tf.nest.map_structure(tf.Variable, args)), wanted, tf.Tensor)
    arrays = function(*tf.nest.map_structure(np2tf.device_put, args))
    equal(arrays, wanted)
    assert type(arrays).__module__.startswith("np2tf.arrays")


@pytest.mark.parametrize("function", [translated.row_total, np2tf.jit(lambda rows, k: tnp.sum(rows[k]) * 2)])
def test_the_kind_of_a_result_does_not_depend_on_the_place_of_a_tensor(function: Any):
    """Long lists of numbers are searched to their ends, at any depth; a list may hold itself."""
    for k in (3, 8, 19):
        rows: list[Any] = [0.0] * 20
        rows[k] = tf.constant([1.0, 2.0])
        equal(function(rows, k), 6.0, tf.Tensor)
        equal(function({"a": [0.0] * 20, k: rows[k]}, k), 6.0, tf.Tensor)
        rows[k] = np2tf.device_put(np.array([1.0, 2.0]))
        assert type(function(rows, k)).__module__.startswith("np2tf.arrays")
    equal(function([[0.0] * 12, [0.0] * 12 + [tf.constant(3.0)]], 1), 6.0, tf.Tensor)
    own: list[Any] = [2.0]
    own.append(own)
    assert function(own, 0) == 4.0


@both
@pytest.mark.parametrize("shape", [[None, 3], [None, None]], ids=str)
@pytest.mark.parametrize("name", ["standardized", "gram", "positive"])
def test_lengths_that_are_not_known(name: str, shape: list[int | None], autograph: bool):
    spec = [tf.TensorSpec(shape, tf.float64)]
    function = tf.function(getattr(translated, name), autograph=autograph, input_signature=spec)
    equal(function(tf.constant(X)), getattr(plain, name)(X), tf.Tensor)


def test_a_loop_that_the_translation_leaves_is_autographs():
    equal(tf.function(translated.halved)(tf.constant(100)), plain.halved(100), tf.Tensor)
    equal(translated.halved(tf.constant(100)), plain.halved(100))


@both
def test_promotion_is_numpys(autograph: bool):
    i, f = tf.constant([1, 2]), tf.constant([1.0, 2.0])
    found = tf.function(translated.added, autograph=autograph)(i, f)
    assert found.dtype == tf.float64  # int32 and float32


def test_structures():
    tensors = [tf.constant(X + k) for k in range(4)]
    found = translated.in_structures(tensors[0], tensors[1], a=tensors[2], b=tensors[3])
    wanted = plain.in_structures(X, X + 1, a=X + 2, b=X + 3)
    tf.nest.map_structure(equal, found, wanted)
    assert all(isinstance(leaf, tf.Tensor) for leaf in tf.nest.flatten(found))


def test_generators():
    found = list(translated.running_totals(tf.constant(X)))
    equal(found, list(plain.running_totals(X)))
    assert all(isinstance(leaf, tf.Tensor) for leaf in found)


# -- TensorFlow calls it -------------------------------------------------------------------------------------


def test_datasets():
    data = tf.data.Dataset.from_tensor_slices(X)
    for name in ("standardized", "positive"):
        equal(list(data.map(getattr(translated, name))), [getattr(plain, name)(row) for row in X])
    equal(list(tf.data.Dataset.from_tensor_slices(X[:, 1]).map(translated.root)), np.sqrt(X[:, 1]))


@pytest.mark.parametrize("apply", [tf.map_fn, tf.vectorized_map])
@pytest.mark.parametrize("given", [tf.constant, np.asarray])
def test_maps(apply: Any, given: Any):
    wanted = [plain.standardized(row) for row in X]
    equal(apply(translated.standardized, given(X)), wanted, tf.Tensor)
    inside = tf.function(lambda x: apply(translated.standardized, x))
    equal(inside(tf.constant(X)), wanted, tf.Tensor)


def test_control_flow():
    x = tf.constant(X)
    for wrap in (lambda function: function, tf.function):
        branch = wrap(lambda: tf.cond(tf.constant(True), lambda: translated.gram(x), lambda: x))
        equal(branch(), plain.gram(X))
        loop = wrap(lambda: tf.while_loop(lambda i: i < 5, lambda i: [translated.added(i, 1)], [0]))
        equal(loop()[0], 5)
        arrays = wrap(lambda: tf.while_loop(lambda i: i < 5, lambda i: [i + 1], [np2tf.device_put(0)]))
        equal(arrays()[0], 5)
        number = np2tf.device_put(np.int32(1))
        equal(wrap(lambda n=number: tf.switch_case(n, [lambda: 1, lambda: 2]))(), 2)
        equal(wrap(lambda n=number: tf.slice(tf.constant([1, 2, 3]), [n], [n]))(), [2])
        function = wrap(lambda: tf.py_function(translated.positive, [x - 2.0], tf.float64))
        equal(function(), plain.positive(X - 2.0))


def test_strategies():
    strategy = tf.distribute.OneDeviceStrategy("CPU:0")
    step = tf.function(lambda: strategy.run(translated.standardized, args=(tf.constant(X),)))
    equal(step(), plain.standardized(X))


def test_saved_models(tmp_path: Path):
    module = tf.Module()
    module.root = tf.function(translated.root, input_signature=[tf.TensorSpec([], tf.float64)])
    tf.saved_model.save(module, str(tmp_path))
    equal(tf.saved_model.load(str(tmp_path)).root(tf.constant(2.0, tf.float64)), 2.0**0.5)


#: Before NumPy 2.4 its ufuncs tell no signature, and Keras takes no function without a signature.
SQUARE = tnp.square if hasattr(np.square, "__signature__") else lambda x: tnp.square(x)


@pytest.mark.parametrize(
    "function", [translated.positive, SQUARE, lambda x: tnp.square(x).mean(axis=-1, keepdims=True)]
)
def test_keras_infers_shapes(function: Any):
    inputs = tf.keras.Input((3,))
    outputs = tf.keras.layers.Lambda(function)(inputs)
    assert outputs.shape in ((None, 3), (None, 1))
    model = tf.keras.Model(inputs, outputs)
    equal(model.predict(X, verbose=0), np.asarray(function(X), np.float32))


def test_keras_layers():
    class Standardizing(tf.keras.layers.Layer):
        def call(self, x: Any) -> Any:
            return translated.standardized(x)

    layers = [tf.keras.Input((3,)), Standardizing(), tf.keras.layers.Dense(1)]
    model = tf.keras.Sequential(layers)
    model.compile("sgd", "mse")
    before = model.evaluate(X, X[:, :1], verbose=0)
    model.fit(X, X[:, :1], epochs=3, verbose=0)
    assert model.evaluate(X, X[:, :1], verbose=0) < before


# -- Variables -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wrap", [lambda function: function, tf.function], ids=["eager", "graph"])
def test_variables_are_written_in_place(wrap: Any):
    array, variable = np.array([3.0, 4.0]), tf.Variable([3.0, 4.0], dtype=tf.float64)

    def step(v: Any) -> Any:
        translated.write(v, 1, 9.0)
        return translated.update(v, np.array([1.0, 2.0]))

    plain.write(array, 1, 9.0)
    wanted = plain.update(array, np.array([1.0, 2.0]))
    equal(wrap(lambda: step(variable))(), wanted)
    equal(variable, array)


@pytest.mark.parametrize("tier", ["auto", "compile"])
def test_variables_of_jitted_functions(tier: str):
    @np2tf.jit(tier=tier)
    def descend(v: Any, steps: int) -> Any:
        for _ in range(steps):
            v -= 0.5 * v
        v[0] = 7.0
        return tnp.sum(v)

    variable = tf.Variable([4.0, 8.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnjittedWarning)
        equal(descend(variable, 2), 9.0, tf.Tensor)
    equal(variable, [7.0, 2.0])


@pytest.mark.parametrize("tier", ["auto", "compile"])
def test_variables_and_arrays_that_are_read_by_name(tier: str):
    variable, array = tf.Variable([1.0, 2.0]), np2tf.device_put(np.array([10.0, 20.0], np.float32))
    number = tnp.sum(array)

    @np2tf.jit(tier=tier)
    def closed_over(x: Any) -> Any:
        return x * variable + array + number

    x = np2tf.device_put(np.ones(2, np.float32))
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnjittedWarning)
        equal(closed_over(x), [41.0, 52.0])
        variable.assign([0.0, 0.0])
        array[0] = -30.0
        equal(closed_over(x), [0.0, 50.0])
        number = tnp.sum(array)
        equal(closed_over(x), [-40.0, 10.0])


def test_variables_as_attributes():
    weights = np.array([1.0, -1.0, 0.5])
    model, wanted = translated.Model(tf.Variable(weights)), plain.Model(weights)
    equal(model(tf.constant(X)), wanted(X))
    equal(model.loss(X), wanted.loss(X))


# -- gradients -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("take", [lambda x: x[[0, 0]], lambda x: tnp.take(x, [0, 0], axis=0)])
@pytest.mark.parametrize("make", [tf.Variable, np2tf.device_put])
def test_gradients_are_dense(take: Any, make: Any):
    x = make(np.array([1.0, 2.0, 3.0]))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tnp.sum(take(tnp.asarray(x)) ** 2)
    equal(tnp.square(tape.gradient(y, x)), [16.0, 0.0, 0.0])


def test_forward_accumulators():
    x = np2tf.device_put(np.array([1.0, 2.0]))
    with tf.autodiff.ForwardAccumulator(x, np2tf.device_put(np.ones(2))) as accumulator:
        y = tnp.square(x)
    found = accumulator.jvp(y)
    equal(found, [2.0, 4.0])
    assert type(found) is type(x)


# -- tensors with arrays -------------------------------------------------------------------------------------

BINARY = (
    *(operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod),
    *(operator.pow, operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne),
)


@pytest.mark.parametrize("wrap", [lambda function: function, tf.function], ids=["eager", "graph"])
@pytest.mark.parametrize("apply", BINARY, ids=lambda operator: operator.__name__)
def test_operators_of_other_dtypes(apply: Any, wrap: Any):
    a, b = np.array([1, 2, 3], np.int32), np.array([1.0, 3.0, 2.0])
    tensor, array = tf.constant(a), np2tf.device_put(b)
    for got, wanted in (
        (wrap(lambda: apply(tensor, array))(), apply(a, b)),
        (wrap(lambda: apply(array, tensor))(), apply(b, a)),
    ):
        equal(got, wanted)
        assert np.asarray(got).dtype == wanted.dtype


def test_ragged_tensors():
    ragged = tf.ragged.constant([[1.0, 2.0], [3.0]])
    assert tnp.square(ragged).to_list() == [[1.0, 4.0], [9.0]]
    assert tnp.add(ragged, 1.0).to_list() == [[2.0, 3.0], [4.0]]


# -- what a plain tf.function cannot do ----------------------------------------------------------------------


@both
def test_a_write_that_only_the_graph_sees_is_told(autograph: bool):
    array = np2tf.device_put(np.zeros(2))

    def writing(x: Any) -> Any:
        array[0] = x
        return tnp.sum(array)

    line = writing.__code__.co_firstlineno + 1
    with pytest.warns(ForeignGraphWarning, match="NP2TF537") as told:
        equal(tf.function(writing, autograph=autograph)(tf.constant(5.0, tf.float64)), 5.0)
    # (TensorFlow's own conversion of functions warns of itself on Python 3.13.)
    foreign_warnings = [warning for warning in told if issubclass(warning.category, ForeignGraphWarning)]
    assert [(warning.filename, warning.lineno) for warning in foreign_warnings] == [(__file__, line)]
    equal(array, [0.0, 0.0])


@both
def test_a_write_that_the_graph_does_not_see_is_told(autograph: bool):
    array = np2tf.device_put(np.ones(2))
    reading = tf.function(lambda: tnp.sum(array), autograph=autograph)
    equal(reading(), 2.0)
    with pytest.warns(ForeignGraphWarning, match="NP2TF538"):
        array[0] = 5.0
    equal(array, [5.0, 1.0])


# -- jit of callables that are not functions -----------------------------------------------------------------


class Scaling:
    """An object that can be called, and has a method."""

    def __init__(self, factor: float) -> None:
        self.factor = factor

    def __call__(self, x: Any) -> Any:
        """x, scaled."""
        return x * self.factor

    def shifted(self, x: Any) -> Any:
        """x, shifted."""
        return x + self.factor


CALLABLES = {
    "partial": functools.partial(plain.added, 1.0),
    "partial with keywords": functools.partial(np.clip, a_min=1, a_max=2),
    "object": Scaling(3.0),
    "method": Scaling(3.0).shifted,
    "lambda": lambda x: x + 2,
    "builtin": abs,
    "operator": operator.neg,
    "NumPy's ufunc": np.sin,
    "NumPy's function": np.cumsum,
    "np2tf's ufunc": tnp.sin,
    "np2tf's function": tnp.cumsum,
    "length": len,
    "class": list,
}


@pytest.mark.parametrize("tier", ["auto", "compile"])
@pytest.mark.parametrize("name", CALLABLES)
@pytest.mark.filterwarnings("ignore::np2tf.staging.host.jit.UnjittedWarning")
def test_jit_of_callables(name: str, tier: str):
    target = CALLABLES[name]
    jitted = np2tf.jit(target, tier=tier)
    for _ in range(2):
        equal(jitted(X), target(X))
    assert jitted.__wrapped__ is target
    assert importlib.import_module("inspect").unwrap(jitted) is not None
