"""Small programs in which TensorFlow, Keras, NumPy and Python meet arrays and functions of np2tf.

Each program returns what it computed and what it should have computed. The table is in the order of the
libraries; a program that needs a process of its own, because np2tf's first use is in it, is at the end.
"""

from __future__ import annotations

import functools
import json
import os
import pickle
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import np2tf
from np2tf import tnp
from np2tf.core.errors import RandomUseError
from tests.helpers.warm_python import warm_python

ROOT = Path(__file__).resolve().parents[2]
X = np.arange(12.0).reshape(3, 4) / 7
F = X.astype(np.float32)
ROWS = [np.array([1.0, 2.0]), np.array([0.5])]


def put(x: Any = X) -> Any:
    """The array on TensorFlow."""
    return np2tf.device_put(x)


def ragged() -> tf.RaggedTensor:
    """A ragged tensor of `ROWS`."""
    return tf.ragged.constant([row.tolist() for row in ROWS], dtype=tf.float64)


def graph(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """The result in a graph."""
    return tf.function(function, **options)(*args)


def gradient(function: Callable[[Any], Any], x: Any = X, **options: Any) -> Any:
    """The gradient of a Variable."""
    variable = tf.Variable(x)
    with tf.GradientTape() as tape:
        y = function(variable)
    return tape.gradient(y, variable, **options)


def mapped(function: Callable[..., Any], x: Any = X) -> list[Any]:
    """The elements of a dataset."""
    return list(tf.data.Dataset.from_tensor_slices(x).map(function))


#: Name -> a program that returns what it found and what is right.
PROGRAMS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "map_fn of an array": lambda: (tf.map_fn(lambda r: tnp.sum(r), put()), X.sum(1)),
    "map_fn in a graph": lambda: (
        graph(lambda t: tf.map_fn(lambda r: tnp.sum(r) * 2, tnp.asarray(t)), tf.constant(X)),
        X.sum(1) * 2,
    ),
    "map_fn of two arrays": lambda: (
        tf.map_fn(lambda ab: tnp.dot(ab[0], ab[1]), (put(), put()), fn_output_signature=tf.float64),
        (X * X).sum(1),
    ),
    "map_fn of a function of tnp": lambda: (tf.map_fn(tnp.sum, tf.constant(X)), X.sum(1)),
    "map_fn and a gradient": lambda: (
        gradient(lambda v: tf.reduce_sum(tf.map_fn(lambda r: tnp.sum(tnp.asarray(r) ** 2), v))),
        2 * X,
    ),
    "vectorized_map": lambda: (tf.vectorized_map(lambda r: tnp.sum(tnp.sin(r)), put()), np.sin(X).sum(1)),
    "while_loop": lambda: (
        tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, tnp.sin(x)), (0, put()))[1],
        np.sin(np.sin(np.sin(X))),
    ),
    "cond": lambda: (
        graph(lambda t: tf.cond(tnp.sum(t) > 0, lambda: tnp.sin(t), lambda: tnp.asarray(t)), tf.constant(X)),
        np.sin(X),
    ),
    "case": lambda: (tf.case([(tnp.sum(put()) < 0, lambda: put())], default=lambda: put() * 2), X * 2),
    "scan": lambda: (
        tf.scan(lambda s, r: s + tnp.sin(r), put(), initializer=put(np.zeros(4))),
        np.cumsum(np.sin(X), 0),
    ),
    "foldl": lambda: (
        tf.foldl(lambda s, r: s + tnp.sum(r), put(), initializer=put(np.float64(0))),
        X.sum(),
    ),
    "py_function": lambda: (tf.py_function(lambda t: tnp.sin(t), [put()], tf.float64), np.sin(X)),
    "py_function in a graph": lambda: (
        graph(
            lambda t: tf.py_function(lambda u: tnp.sum(u), [tnp.sin(t)], tf.float64),
            tf.constant(X),
            autograph=False,
        ),
        np.sin(X).sum(),
    ),
    "AutoGraph's if": lambda: (graph(decide, tf.constant(X)), np.sin(X)),
    "zeros for unconnected": lambda: (
        unconnected(),
        np.zeros_like(X),
    ),
    "Dataset.map": lambda: (mapped(tnp.sum), list(X.sum(1))),
    "element_spec": lambda: (
        tf.data.Dataset.from_tensor_slices(X).map(lambda r: tnp.sin(r)).element_spec
        == tf.TensorSpec([4], tf.float64),
        True,
    ),
    "concatenated datasets": lambda: (
        list(
            tf.data.Dataset.from_tensor_slices(X)
            .map(lambda r: tnp.sin(r))
            .concatenate(tf.data.Dataset.from_tensor_slices(X))
        ),
        [*np.sin(X), *X],
    ),
    "a default": lambda: (graph(lambda t, f=tnp.sum: f(t), tf.constant(X)), X.sum()),
    "an argument": lambda: (graph(lambda t, f: f(t), tf.constant(X), tnp.mean), X.mean()),
    "a partial application": lambda: (graph(functools.partial(tnp.sum, axis=0), tf.constant(X)), X.sum(0)),
    "tf.function of a ufunc": lambda: (graph(tnp.sin, tf.constant(X)), np.sin(X)),
    "tf.function of a function": lambda: (graph(tnp.linalg.norm, tf.constant(X)), np.linalg.norm(X)),
    "no value given": lambda: (tnp.sum(put(), initial=np._NoValue), X.sum()),  # type: ignore[attr-defined]
    "a variable of Keras": lambda: (tnp.matmul(keras.Variable(X, dtype="float64"), X.T), X @ X.T),
    "an operator and a variable of Keras": lambda: (put() + keras.Variable(X, dtype="float64"), 2 * X),
    "variables of Keras in a list": lambda: (
        tnp.concatenate([keras.Variable(F), keras.Variable(F)]),
        np.concatenate([F, F]),
    ),
    "a variable of Keras in a graph": lambda: (keras_in_graph(), F @ F.T),
    "indexed slices": lambda: (
        tnp.asarray(gradient(lambda v: tnp.sum(tf.gather(v, [0, 0])))),
        np.stack([np.full(4, 2.0), np.zeros(4), np.zeros(4)]),
    ),
    "ragged in a graph": lambda: (list(graph(lambda r: tnp.sin(r), ragged())), [np.sin(r) for r in ROWS]),
    "pickled": lambda: (pickle.loads(pickle.dumps([put(), tnp.sum]))[0], X),
    "NumPy's functions": lambda: (
        [np.concatenate([put(), X]), np.add.reduce(put()), np.linalg.norm(put()), np.where(X > 1, put(), 0)],
        [np.concatenate([X, X]), X.sum(0), np.linalg.norm(X), np.where(X > 1, X, 0)],
    ),
}


def decide(t: Any) -> Any:
    if tnp.sum(t) > 3:
        y = tnp.sin(t)
    else:
        y = tnp.asarray(t)
    return y


def unconnected() -> Any:
    a, b = put(), put()
    with tf.GradientTape() as tape:
        tape.watch([a, b])
        y = tnp.sum(a)
    return tape.gradient(y, b, unconnected_gradients="zero")


def keras_in_graph() -> Any:
    variable = keras.Variable(F)
    return tf.function(lambda t: tnp.matmul(t, tnp.transpose(variable)))(F)


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_programs(program: Callable[[], tuple[Any, Any]]) -> None:
    """Each program computes what NumPy computes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found, wanted = program()
    found, wanted = tf.nest.flatten(found), tf.nest.flatten(wanted)
    for one, other in zip(found, wanted, strict=True):
        one, other = np.asarray(one), np.asarray(other)
        assert one.dtype == other.dtype
        np.testing.assert_allclose(one, other, rtol=1e-6)


UNARY = ["sin", "exp", "sqrt", "negative", "isnan", "floor", "square", "log1p", "arctan", "sign"]
BINARY = ["add", "multiply", "maximum", "power", "arctan2", "floor_divide", "hypot"]


@pytest.mark.parametrize("name", UNARY + BINARY)
def test_ragged_tensors(name: str) -> None:
    """A universal function of ragged tensors works row by row, and gives a ragged tensor."""
    f, g = getattr(tnp, name), getattr(np, name)
    calls = [lambda f, r: f(r)] if name in UNARY else [lambda f, r: f(r, r), lambda f, r: f(2.0, r)]
    for call in calls:
        found = call(f, ragged())
        assert isinstance(found, tf.RaggedTensor)
        for one, row in zip(found, ROWS, strict=True):
            np.testing.assert_allclose(one, call(g, row))


def test_what_is_no_array_is_refused() -> None:
    """The error names the remedy."""
    sparse = tf.sparse.from_dense(X)
    for call in (tnp.sin, tnp.sum, tnp.asarray, np2tf.device_put, lambda s: tnp.dot(s, X)):
        with pytest.raises(TypeError, match=r"tf\.sparse\.to_dense"):
            call(sparse)
    with pytest.raises(TypeError, match="call the function in a layer"):
        tnp.sin(keras.Input((4,)))


# -- random numbers ------------------------------------------------------------------------------------------

DRAWS = """
import numpy as np
rng, state = np.random.default_rng(1), np.random.RandomState(1)
class Noise:
    def __init__(self): self.rng = np.random.default_rng(1)
    def add(self, x): return x + self.rng.normal(size=x.shape)
noise = Noise()
def of_global(x): return x + rng.normal(size=x.shape)
def in_loop(x):
    for i in range(2):
        x = x + rng.integers(1000, size=2)
    return x
def of_numpy(x): return x + np.random.normal(size=x.shape)
def of_argument(x, generator=rng): return x + generator.random(2)
def of_state(x): return x + state.rand(2)
def permuted(x): return x + rng.permutation(1000)[:2]
def seeded(x): return x + np.random.default_rng(5).random(2)
of_attribute = noise.add
inner = lambda x: x + rng.normal(size=2)
"""


@pytest.fixture(scope="module")
def draws(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Makes the translated module, and the module as it is, with new generators."""
    path = tmp_path_factory.mktemp("draws") / "drawing.py"
    path.write_text(DRAWS)

    def load(translated: bool) -> Any:
        np.random.seed(1)
        if translated:
            sys.modules.pop("drawing_translated", None)
            return np2tf.import_module("drawing_translated", path=str(path))
        module = type(np)("drawing_plain")
        exec(DRAWS, vars(module))
        return module

    return load


NAMES = ["of_global", "in_loop", "of_numpy", "of_argument", "of_state", "permuted", "of_attribute", "inner"]


@pytest.mark.parametrize("name", NAMES)
def test_every_run_of_a_graph_draws_anew(draws: Any, name: str) -> None:
    """And draws what NumPy draws: nothing is drawn while TensorFlow traces."""
    zeros = np.zeros(2)
    plain = getattr(draws(translated=False), name)
    wanted = [plain(zeros) for _ in range(3)]
    run = tf.function(getattr(draws(translated=True), name))
    np.testing.assert_allclose([run(tf.constant(zeros)) for _ in range(3)], wanted)
    function = getattr(draws(translated=True), name)
    found = tf.data.Dataset.from_tensor_slices(np.zeros((3, 2))).map(function)
    np.testing.assert_allclose(list(found), wanted)


def test_functions_of_tnp_draw_anew() -> None:
    """In a graph, in a loop of TensorFlow, in a dataset."""
    np.random.seed(3)
    wanted = np.random.normal(size=(3, 2))
    run = tf.function(lambda: tnp.random.normal(size=2))
    np.random.seed(3)
    np.testing.assert_array_equal([run() for _ in range(3)], wanted)
    np.random.seed(3)
    found = tf.map_fn(lambda r: tnp.random.normal(size=2), tf.zeros(3), fn_output_signature=tf.float64)
    np.testing.assert_array_equal(found, wanted)
    rows = mapped(lambda x: tnp.random.choice(x, 3), np.arange(3000).reshape(3, 1000))
    assert len({json.dumps(row.numpy().tolist()) for row in rows}) == 3


@pytest.mark.parametrize(
    "draw",
    [
        lambda x: tnp.random.default_rng(7).random(2),
        lambda x: tnp.random.RandomState(7).rand(2),
        lambda x: tnp.random.shuffle(x),
        lambda x: tnp.random.normal(x),
    ],
)
def test_a_draw_that_a_graph_cannot_make_is_refused(draw: Any) -> None:
    """A generator that the graph would make once, and arrays whose gradients would be lost."""
    with pytest.raises(RandomUseError):
        tf.function(draw, autograph=False)(tf.zeros(2, tf.float64))


# -- first uses ----------------------------------------------------------------------------------------------

BEFORE = """
import numpy as np, tensorflow as tf
from np2tf import tnp
"""
#: Programs in which np2tf's first use is the one that is tested.
FIRST = {
    "map_fn": """
import np2tf
assert tf.map_fn(lambda r: tnp.sum(r), np2tf.device_put(np.ones((3, 2)))).shape == [3]
""",
    "keras": """
import keras
class Scale(keras.layers.Layer):
    def build(self, shape): self.w = self.add_weight(shape=(4, 3)); self.b = self.add_weight(shape=(3,))
    def call(self, x): return tnp.tanh(tnp.matmul(x, self.w) + self.b) * 2
inputs = keras.Input((4,))
model = keras.Model(inputs, keras.layers.Dense(1)(Scale()(inputs)))
model.compile("sgd", lambda t, p: tnp.mean((t - p) ** 2, axis=-1), jit_compile=False)
x = np.ones((4, 4), np.float32)
model.fit(x, x[:, :1], verbose=0)
assert model.predict(x, verbose=0).shape == (4, 1)
""",
    "strategy": """
device = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(device, [tf.config.LogicalDeviceConfiguration()] * 2)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
with strategy.scope():
    w, b = tf.Variable(np.ones((4, 3))), tf.Variable(np.zeros(3))
def one(x):
    with tf.GradientTape() as tape:
        y = tnp.sum((tnp.matmul(x, w) + b) ** 2)
    gradients = [tnp.asarray(g) for g in tape.gradient(y, [w, b])]
    return tf.distribute.get_replica_context().all_reduce("sum", gradients)
x = np.arange(12.0).reshape(3, 4)
found = strategy.run(tf.function(one), (x,))
error = x @ np.ones((4, 3))
for per_replica, wanted in zip(found, (4 * x.T @ error, 4 * error.sum(0))):
    for value in strategy.experimental_local_results(per_replica):
        np.testing.assert_allclose(value, wanted)
""",
}


def test_first_uses() -> None:
    """TensorFlow and Keras know arrays as soon as `tnp` is imported."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3"}
    processes = {
        name: subprocess.Popen(
            [warm_python(), "-c", BEFORE + text], env=environment, stderr=subprocess.PIPE, text=True
        )
        for name, text in FIRST.items()
    }
    errors = {name: process.communicate(timeout=300)[1] for name, process in processes.items()}
    assert {name: errors[name] for name, process in processes.items() if process.returncode} == {}
