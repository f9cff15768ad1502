"""NumPy functions in Keras against Keras' own layers, losses and optimisers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import np2tf
from tests.helpers import trained_functions as plain
from tests.helpers.selections import in_turn

keras = tf.keras
RNG = np.random.default_rng(11)
X = RNG.normal(size=(50, 3)).astype(np.float32)
Y = np.tanh(X @ np.array([[1.0], [-2.0], [0.5]], np.float32))
W, B = RNG.normal(size=(3, 4)), RNG.normal(size=4)
V, C = RNG.normal(size=(4, 1)), np.zeros(1)


def own_model() -> Any:
    """A network of Keras' own layers."""
    model = keras.Sequential(
        [keras.Input((3,)), keras.layers.Dense(4, activation="relu"), keras.layers.Dense(1)]
    )
    model.set_weights([W, B, V, C])
    return model


def numpy_model() -> Any:
    """The same network of NumPy functions."""
    layers = [np2tf.keras.Layer(plain.dense, {"b": B, "w": W}), np2tf.keras.Layer(plain.linear, (V, C))]
    return keras.Sequential([keras.Input((3,)), *layers])


def trained(model: Any, optimizer: Any, loss: Any = "mse", **kwargs: Any) -> Any:
    """The history of a training of three epochs with unequal batches."""
    model.compile(optimizer, loss, **kwargs)
    return model.fit(X, Y, batch_size=16, epochs=3, shuffle=False, verbose=0).history


def test_layers_train_as_keras_own() -> None:
    numpy_layers, keras_layers = numpy_model(), own_model()
    np.testing.assert_allclose(numpy_layers(X), keras_layers(X), rtol=1e-5, atol=1e-6)
    wanted = trained(keras_layers, keras.optimizers.SGD(0.1))["loss"]
    np.testing.assert_allclose(trained(numpy_layers, keras.optimizers.SGD(0.1))["loss"], wanted, rtol=1e-5)
    b, w, v, c = numpy_layers.get_weights()
    for numpy_weight, keras_weight in zip((w, b, v, c), keras_layers.get_weights()):
        np.testing.assert_allclose(numpy_weight, keras_weight, rtol=1e-4, atol=1e-6)
    assert [variable.dtype for variable in numpy_layers.trainable_variables] == ["float32"] * 4


def test_mixed_precision() -> None:
    """Under Keras' policy a layer computes in 16 bits and keeps weights of 32, as Keras' own layer does."""
    policy = keras.mixed_precision.Policy("mixed_float16")
    layer = np2tf.keras.Layer(plain.dense, {"b": B, "w": W}, dtype=policy)
    own_layer = keras.layers.Dense(4, activation="relu", dtype=policy)
    own_layer.build((None, 3))
    own_layer.set_weights([W, B])
    result, expected = layer(X), own_layer(X)
    assert result.dtype == expected.dtype == "float16"
    np.testing.assert_allclose(result, expected, rtol=2e-3, atol=2e-3)
    assert [variable.dtype for variable in layer.trainable_variables] == ["float32"] * 2
    histories = []
    for first_layer in (layer, own_layer):
        model = keras.Sequential(
            [keras.Input((3,)), first_layer, np2tf.keras.Layer(plain.linear, (V, C), dtype="float32")]
        )
        histories.append(trained(model, keras.optimizers.SGD(0.1))["loss"])
    np.testing.assert_allclose(*histories, rtol=1e-2)


def test_a_model_with_numpy_layers_is_exported(tmp_path: Path) -> None:
    model = numpy_model()
    model.export(str(tmp_path), verbose=False)
    loaded = tf.saved_model.load(str(tmp_path))
    for rows in (1, 7):
        np.testing.assert_allclose(loaded.serve(tf.constant(X[:rows])), model(X[:rows]), rtol=1e-6)


def test_layers_that_keep_a_state() -> None:
    layer = np2tf.keras.Layer(plain.normalized, {"mean": np.zeros(3), "scale": np.ones(3)})
    model = keras.Sequential([keras.Input((3,)), layer])
    model.compile(keras.optimizers.SGD(0.0), "mse")
    mean = np.zeros(3)
    for batch in (X[:20], X[20:40]):
        model.train_on_batch(batch, batch)
        mean = 0.5 * mean + 0.5 * batch.mean(axis=0)
    np.testing.assert_allclose(layer.get_weights()[0], mean, rtol=1e-5)
    np.testing.assert_allclose(model.predict(X, verbose=0), X - mean.astype(np.float32), rtol=1e-4, atol=1e-5)


def test_constants_and_dtypes() -> None:
    def power(params, x):
        return x ** params["n"] * params["a"]

    layer = np2tf.keras.Layer(power, {"n": 2, "a": np.array([2.0])}, dtype="float64", trainable=False)
    found = layer(np.array([[3.0]]))
    assert found.dtype == tf.float64
    assert float(found[0, 0]) == 18.0
    assert layer.trainable_variables == []
    assert len(layer.weights) == 1


@pytest.mark.parametrize("make", [np2tf.translate, np2tf.jit], ids=["translate", "jit"])
def test_losses_metrics_and_activations(make: Any) -> None:
    def run(loss: Any, metric: Any, activation: Any) -> Any:
        keras.utils.set_random_seed(1)
        hidden = keras.layers.Dense(4, activation=activation)
        return trained(
            keras.Sequential([keras.Input((3,)), hidden, keras.layers.Dense(1)]),
            "sgd",
            loss,
            metrics=[metric],
        )

    wanted = run("mse", "mae", "elu")
    found = run(make(plain.mean_squares), make(plain.absolute), make(plain.elu))
    np.testing.assert_allclose(found["loss"], wanted["loss"], rtol=1e-5)
    np.testing.assert_allclose(found["absolute"], wanted["mae"], rtol=1e-5)


#: Update rules, the names of their states, and Keras' own optimisers.
OPTIMISERS: dict[str, tuple[Any, tuple[str, ...], Any]] = {
    "descent": (plain.descent, (), lambda rate: keras.optimizers.SGD(rate)),
    "momentum": (plain.momentum, ("v",), lambda rate: keras.optimizers.SGD(rate, plain.DECAY)),
    "nesterov": (plain.nesterov, ("v",), lambda rate: keras.optimizers.SGD(rate, plain.DECAY, nesterov=True)),
    "adam": (plain.adam, ("m", "v"), lambda rate: keras.optimizers.Adam(rate, plain.DECAY, plain.SLOW_DECAY)),
    "rmsprop": (plain.rmsprop, ("v",), lambda rate: keras.optimizers.RMSprop(rate)),
}


@pytest.mark.parametrize("name", OPTIMISERS)
def test_optimisers_equal_keras_own(name: str) -> None:
    update, state, of_keras = OPTIMISERS[name]
    np2tf_model, keras_model = own_model(), own_model()
    found = trained(np2tf_model, np2tf.keras.Optimizer(update, state, learning_rate=0.05))
    np.testing.assert_allclose(found["loss"], trained(keras_model, of_keras(0.05))["loss"], rtol=1e-5)
    for np2tf_weight, wanted in zip(np2tf_model.get_weights(), keras_model.get_weights()):
        np.testing.assert_allclose(np2tf_weight, wanted, rtol=2e-4, atol=1e-6)


@pytest.mark.parametrize(("name", "is_eager"), in_turn(OPTIMISERS, [False, True]))
def test_many_steps_in_double_precision(name: str, is_eager: bool) -> None:
    """After 120 steps (20 if eager) the weights are Keras' own up to the rounding of float64."""
    update, state, of_keras = OPTIMISERS[name]
    weights = []
    for optimizer in (np2tf.keras.Optimizer(update, state, learning_rate=0.01), of_keras(0.01)):
        layers = [keras.layers.Dense(4, "tanh", dtype="float64"), keras.layers.Dense(1, dtype="float64")]
        model = keras.Sequential([keras.Input((3,), dtype="float64"), *layers])
        model.set_weights([W, B, V, C])
        model.compile(optimizer, "mse", run_eagerly=is_eager, jit_compile=False)
        history = model.fit(
            X.astype(float),
            Y.astype(float),
            batch_size=16,
            epochs=5 if is_eager else 30,
            shuffle=False,
            verbose=0,
        )
        weights.append(model.get_weights())
        assert history.history["loss"][-1] < history.history["loss"][0]
    for found, wanted in zip(*weights):
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["momentum", "adam", "rmsprop"])
def test_a_training_loop_in_numpy(name: str) -> None:
    """A loop whose loss and rule are NumPy code: the whole step is one XLA program, with equal weights."""
    rule, state_names, _ = OPTIMISERS[name]
    compiled = np2tf.jit(plain.training_step, tier="compile")
    results = []
    for step_of in (plain.training_step, compiled):
        params = {"w": W.copy(), "b": B.copy(), "v": V.copy(), "c": C.copy()}
        state = {key: {s: np.zeros_like(value) for s in state_names} for key, value in params.items()}
        for step in range(1, 21):
            batch = slice(16 * (step % 3), 16 * (step % 3) + 16)
            loss, params, state = step_of(rule, params, state, X[batch], Y[batch], 0.01, float(step))
        results.append([loss, *params.values()])
    for found, wanted in zip(results[1], results[0]):
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)
    assert compiled.compiled_count == 20


def test_a_schedule_and_clipping() -> None:
    def schedule() -> Any:
        return keras.optimizers.schedules.ExponentialDecay(0.1, 2, 0.5)

    np2tf_model, keras_model = own_model(), own_model()
    trained(np2tf_model, np2tf.keras.Optimizer(plain.descent, learning_rate=schedule(), clipnorm=0.3))
    trained(keras_model, keras.optimizers.SGD(schedule(), clipnorm=0.3))
    for np2tf_weight, wanted in zip(np2tf_model.get_weights(), keras_model.get_weights()):
        np.testing.assert_allclose(np2tf_weight, wanted, rtol=2e-4, atol=1e-6)


def test_functions_that_cannot_be_staged_are_refused() -> None:
    def writes(params, x):
        np.save("never.npy", x)
        return x

    with pytest.raises(np2tf.StagingError, match=r"numpy\.save"):
        np2tf.keras.Layer(writes, ())
