"""Cases that run in a process with two devices: `python two_devices.py RESULTS` writes the outcomes.

A case is a function without parameters. `EXPECTED` has, under the same name, the function that gives the same
on NumPy alone.
"""

from __future__ import annotations

import functools
import pickle
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

import np2tf
from np2tf import distribute
from np2tf.distribute import shard_map

CASES: dict[str, Callable[[], Any]] = {}
EXPECTED: dict[str, Callable[[], Any]] = {}
#: The error of a case: the class's name, and a part of the text.
ERRORS: dict[str, tuple[str, str]] = {}

X = np.linspace(-1.0, 2.0, 24).reshape(8, 3)
W = np.array([0.3, -0.2, 0.9])
HALVES = X[:4], X[4:]


@functools.cache
def mirrored() -> Any:
    """One strategy for both devices: TensorFlow would mix up the collectives of two."""
    import tensorflow as tf

    return tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])


def case(expected: Callable[[], Any]) -> Callable[[Callable[[], Any]], None]:
    """Register a case with the function of the expected value."""

    def register(function: Callable[[], Any]) -> None:
        CASES[function.__name__] = function
        EXPECTED[function.__name__] = expected

    return register


def refused(error: str, text: str) -> Callable[[Callable[[], Any]], None]:
    """Register a case that raises an error."""

    def register(function: Callable[[], Any]) -> None:
        CASES[function.__name__] = function
        ERRORS[function.__name__] = error, text

    return register


@case(lambda: (np.tanh(X @ W).sum(), np.tanh(X @ W)))
def sum_and_blocks() -> Any:
    def f(w, x):
        scores = np.tanh(x @ w)
        return np2tf.psum(scores.sum(), "replicas"), scores

    return shard_map(f, in_axes=(None, 0), out_axes=(None, 0))(W, X)


@case(lambda: X.T @ X)
def blocks_along_another_axis() -> Any:
    return shard_map(lambda x: np2tf.psum(x @ x.T, "replicas"), in_axes=1, out_axes=None)(X.T.copy())


@case(lambda: np.concatenate([half.T * 2 for half in HALVES], axis=1))
def joined_along_another_axis() -> Any:
    return shard_map(lambda x: x.T * 2, out_axes=1)(X)


@case(lambda: {"mean": (HALVES[0] + HALVES[1]) / 2, "max": np.maximum(*HALVES), "rows": np.stack(HALVES)})
def collectives() -> Any:
    def f(x):
        return {
            "mean": np2tf.pmean(x, "rows"),
            "max": np2tf.pmax(x, "rows"),
            "rows": np2tf.all_gather(x, "rows"),
        }

    return shard_map(f, out_axes=None, axis_name="rows")(X)


@case(lambda: [HALVES[0].astype(d) + HALVES[1].astype(d) for d in DTYPES])
def sums_of_every_dtype() -> Any:
    def f(*arrays):
        return [np2tf.psum(x, "replicas") for x in arrays]

    return shard_map(f, out_axes=None)(*[X.astype(dtype) for dtype in DTYPES])


DTYPES = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16")


@case(lambda: np.stack([HALVES[0].astype(bool), HALVES[1].astype(bool)]))
def gathered_booleans() -> Any:
    return shard_map(lambda x: np2tf.all_gather(x.astype(bool), "replicas"), out_axes=None)(X)


@case(lambda: np.array([0, 0, 2, 2]))
def number_of_the_replica() -> Any:
    return shard_map(lambda x: x + 2 * np2tf.axis_index("replicas"))(np.zeros(4, int))


@case(lambda: (np.linalg.svd(X)[2][0] ** 2, 20))
def sum_in_a_loop() -> Any:
    def power(x):
        v = np.ones(3)
        count = 0
        while count < 20:
            v = np2tf.psum(x.T @ (x @ v), "replicas")
            v /= np.sqrt(v @ v)
            count += 1
        return v**2, count

    return shard_map(power, out_axes=None)(X)


@case(lambda: sum(np.cumsum(half[:, 0])[-1] ** 2 for half in HALVES))
def loop_before_a_sum() -> Any:
    def f(x):
        total = 0.0
        for row in x:
            total += row[0]
        return np2tf.psum(total**2, "replicas")

    return shard_map(f, out_axes=None)(X)


@case(lambda: np.array([6.0, 6.0, 36.0, 36.0, 216.0, 216.0]).reshape(3, 2)[:, 0])
def many_collectives() -> Any:
    def f(x):
        powers = []
        total = 1.0
        for _ in range(7):
            total = np2tf.psum(total * x.sum() / x.sum(), "replicas") * 3.0
            powers.append(total)
        return powers[0] + 0 * powers[6], powers[1], powers[2]

    return np.array(shard_map(f, out_axes=None)(X))


@case(lambda: np.array([1.0, 1.0, 1.0, 1.0]))
def writes_stay_inside() -> Any:
    x = np.ones(4)

    def f(x):
        x[:] = 7
        return x

    shard_map(f)(x)
    return x


@case(lambda: [X[0] * 1.0, X[0] * 2.0])
def arrays_read_by_name_may_change() -> Any:
    factor = np.ones(1)

    def f(x):
        return np2tf.psum(x * factor, "replicas") / 2

    sharded = shard_map(f, out_axes=None)
    rows = np.stack([X[0], X[0]])
    first = sharded(rows)[0]
    factor[0] = 2.0
    return [first, sharded(rows)[0]]


def loss(w, x, y):
    return np.mean((np.tanh(x @ w) - y) ** 2)


def descended() -> Any:
    w, losses = W, []
    for _ in range(5):
        value, gradient = np2tf.value_and_grad(loss)(w, X, X[:, 0])
        w = w - 0.1 * gradient
        losses.append(value)
    return w, losses


@case(descended)
def data_parallel_training() -> Any:
    def step(w, x, y):
        value, gradient = np2tf.pmean(np2tf.value_and_grad(loss)(w, x, y), "replicas")
        return w - 0.1 * gradient, value

    sharded, w, losses = shard_map(step, in_axes=(None, 0, 0), out_axes=None), W, []
    for _ in range(5):
        w, value = sharded(w, X, X[:, 0])
        losses.append(value)
    return w, losses


@case(lambda: X.sum() * 2)
def inside_a_jitted_function() -> Any:
    total = shard_map(lambda x: np2tf.psum(x.sum(), "replicas"), out_axes=None)

    @np2tf.jit(tier="compile")
    def twice(x):
        return total(x) * 2

    return twice(X)


@case(lambda: [half.sum() for half in np.split(X, 4)[:2]])
def distributed_datasets() -> Any:
    import tensorflow as tf

    strategy = mirrored()
    total = shard_map(lambda x: np2tf.psum(x.sum(), "replicas"), out_axes=None, strategy=strategy)
    dataset = tf.data.Dataset.from_tensor_slices(X[:4]).batch(2)
    return [float(total(batch)) for batch in strategy.experimental_distribute_dataset(dataset)]


@case(lambda: np.tanh(np.ones(3)) * 2 + np.tanh(np.full(3, 2.0)) * 2)
def translated_functions_under_a_strategy() -> Any:
    import tensorflow as tf

    strategy = mirrored()

    @np2tf.translate
    def double(x):
        y = np.tanh(x)
        y *= 2
        return y

    def replica(x):
        return tf.distribute.get_replica_context().all_reduce("SUM", double(x))

    values = strategy.experimental_distribute_values_from_function(
        lambda context: tf.fill([3], tf.cast(1 + context.replica_id_in_sync_group, tf.float64))
    )
    result = tf.function(lambda x: strategy.run(replica, args=(x,)))(values)
    return strategy.experimental_local_results(result)[1].numpy()


def fitted(scope: Any = None) -> Any:
    """A model of Keras with a NumPy layer and optimiser, after some steps."""
    import contextlib

    import keras

    def dense(params, x):
        return np.maximum(x @ params["w"] + params["b"], 0.0)

    def momentum(w, g, state, rate, step):
        v = 0.9 * state["v"] - rate * g
        return w + v, {"v": v}

    params = {"w": np.cos(np.arange(24.0)).reshape(3, 8), "b": np.zeros(8)}
    with scope or contextlib.nullcontext():
        keras.utils.set_random_seed(1)
        layer = np2tf.keras.Layer(dense, params)
        model = keras.Sequential([keras.Input((3,)), layer, keras.layers.Dense(1)])
        model.compile(np2tf.keras.Optimizer(momentum, state=["v"], learning_rate=0.05), loss="mse")
        inputs = X.astype("f4")
        losses = model.fit(inputs, inputs[:, :1], epochs=3, batch_size=4, shuffle=False, verbose=0)
        return [np.float32(losses.history["loss"]), *model.get_weights()]


@case(fitted)
def keras_under_a_strategy() -> Any:
    return fitted(mirrored().scope())


@case(lambda: (2, 2, 0, 1))
def counts() -> Any:
    import tensorflow as tf

    with tf.distribute.OneDeviceStrategy("CPU:0").scope():
        one = distribute.replica_count()
    assert one == 1
    both = distribute.replica_count(mirrored())
    return distribute.replica_count(), both, distribute.process_index(), distribute.process_count()


@refused("ReplicaError", "depends on the replica")
def differing_result() -> Any:
    return shard_map(lambda x: x.sum(), out_axes=None)(X)


@refused("ReplicaError", "depends on the replica")
def differing_result_of_a_loop() -> Any:
    def f(x):
        total = np2tf.psum(0.0, "replicas")
        for row in x:
            total = total + row.sum()
        return total

    return shard_map(f, out_axes=None)(X)


@refused("ReplicaError", "some replicas would wait")
def collective_in_some_replicas() -> Any:
    def f(x):
        total = x.sum()
        while total < 10.0:
            total = np2tf.psum(total, "replicas") + 1.0
        return total

    return shard_map(f, out_axes=None)(X)


@refused("CalleeError", "writes to an object that is not its own")
def changed_array() -> Any:
    log = np.zeros(3)

    def f(x):
        log[:] = x[0]
        return np2tf.psum(x, "replicas")

    return shard_map(f, out_axes=None)(X)


@refused("ReplicaError", "changes an array, list, dict or object")
def changed_array_of_a_jitted_function() -> Any:
    log = np.zeros(3)

    @np2tf.jit
    def f(x):
        log[:] = x[0]
        return np2tf.psum(x, "replicas")

    return shard_map(f, out_axes=None)(X)


class Counter:
    def __init__(self) -> None:
        self.count = 0

    def add(self, x):
        self.count += 1
        return np2tf.psum(x, "replicas")


@refused("VariableChangeError", "is changed in a way that a graph cannot express")
def changed_object() -> Any:
    return shard_map(Counter().add, out_axes=None)(X)


@refused("VariableChangeError", "is changed in a way that a graph cannot express")
def changed_list() -> Any:
    log: list[int] = []

    def f(x):
        log.append(1)
        return np2tf.psum(x, "replicas")

    return shard_map(f, out_axes=None)(X)


@refused("RandomUseError", "draws from a stream")
def numbers_of_a_stream() -> Any:
    return shard_map(lambda x: np2tf.psum(x + np.random.normal(), "replicas"), out_axes=None)(X)


@refused("TransformArgumentError", "cannot cut an axis of length 5 into 2 equal blocks; leave out 1 elements")
def uneven_blocks() -> Any:
    return shard_map(lambda x: x)(np.ones(5))


@refused("TransformArgumentError", "a result has 0 axes")
def result_without_axes() -> Any:
    return shard_map(lambda x: x.sum())(X)


@refused("TransformArgumentError", "cannot be differentiated from outside")
def derivative_outside() -> Any:
    total = shard_map(lambda x: np2tf.psum((x**2).sum(), "replicas"), out_axes=None)
    return np2tf.grad(lambda x: total(x))(X)


@refused("TransformArgumentError", "differentiated inside")
def collective_in_a_derivative() -> Any:
    def total(x):
        return np2tf.psum((x**2).sum(), "replicas")

    return shard_map(lambda x: np2tf.grad(total)(x))(X)


@refused("IndexError", "index 7 is out of bounds for axis 0 with size 4")
def error_of_numpy() -> Any:
    return shard_map(lambda x: x[np.array([7])])(X)


@refused("TransformArgumentError", "takes a MirroredStrategy")
def other_strategies() -> Any:
    import tensorflow as tf

    return shard_map(lambda x: x, strategy=tf.distribute.experimental.CentralStorageStrategy())(X)


@refused("ClusterError", "cannot be changed any more")
def late_devices() -> Any:
    return distribute.set_cpu_devices(3)


@refused("ClusterError", "TF_CONFIG is not set")
def unknown_workers() -> Any:
    return distribute.initialize()


@refused("ClusterError", "call np2tf.distribute.initialize() first")
def late_cluster() -> Any:
    return distribute.initialize(["127.0.0.1:1", "127.0.0.1:2"], 0)


def outcome_of(function: Callable[[], Any]) -> Any:
    try:
        return "value", function()
    except Exception as error:
        return "error", (type(error).__name__, str(error))


if __name__ == "__main__":
    distribute.set_cpu_devices(2)
    with open(sys.argv[1], "wb") as file:
        pickle.dump({name: outcome_of(function) for name, function in CASES.items()}, file)
