"""Calls of TensorFlow and Keras without np2tf, run as a program that prints each result.

``python tensorflow_calls.py IMPORT`` executes IMPORT first, such as ``from np2tf import tnp``. Two runs must
print the same (tests/package/test_guest.py).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from typing import Any

if len(sys.argv) > 1:
    exec(sys.argv[1])

import keras
import numpy as np
import tensorflow as tf

A = np.array([[1.0, -2.0, 3.5], [0.5, 4.0, -1.5]])
F = A.astype(np.float32)
I = np.arange(6).reshape(2, 3)  # noqa: E741
M = I > 2
T = tf.constant(A)
S = tf.constant(F)
J = tf.constant(I)
V = tf.Variable(A)
R = tf.ragged.constant([[1.0, 2.0], [3.0]])

#: Every line is a call; its text is its name.
CALLS = """
tf.add(T, A)
tf.add(A, T)
tf.add(A, A)
tf.add(V, A)
T + A
A + T
T * 2
2 - T
T @ A.T
A.T @ T
T == A
A == T
T != A
T < A
A >= T
T ** 2
T // A
J % 2
-T
abs(T)
T == None
T + A[0]
A[:, :1] + T
V + A
A + V
V == A
V * np.float64(2)
T * np.float64(2)
np.float64(2) * T
T + np.int64(1)
S + np.float32(1)
J + np.int32(1)
S + A
T + F
J + A
T[0]
T[:, np.int64(1)]
T[np.array(0)]
T[..., ::2]
V[1]
T[J[0, 1]]
bool(T[0, 0] > 0)
float(T[0, 0])
len(T)
list(T[0])
np.asarray(T)
np.array(V)
np.sin(T)
np.add(A, T)
np.sum(T)
np.mean(V)
np.concatenate([A, T])
np.stack([T, T])
np.where(M, T, 0)
np.dot(A, A.T)
np.shape(T)
np.ndim(V)
A.dot(np.asarray(T).T)
tf.convert_to_tensor(A)
tf.convert_to_tensor([A, A])
tf.convert_to_tensor(np.float32(1))
tf.convert_to_tensor(A, tf.float32)
tf.convert_to_tensor([1, 2.5])
tf.constant(I, tf.float32)
tf.constant(np.array("text"))
tf.constant(np.array([b"a", b"bc"]))
tf.cast(A, tf.int32)
tf.Variable(A).assign(A * 2)
tf.Variable(F).assign_add(F)
tf.Variable(A)[0].assign(A[1])
tf.zeros_like(A)
tf.ones_like(T)
tf.shape(A)
tf.rank(A)
tf.size(A)
tf.reshape(A, [3, 2])
tf.reshape(A, np.array([6]))
tf.transpose(A)
tf.transpose(A, np.array([1, 0]))
tf.concat([A, T], 0)
tf.stack([A, T])
tf.unstack(A)
tf.split(A, 3, axis=1)
tf.tile(A, [1, 2])
tf.pad(A, [[1, 0], [0, 1]])
tf.squeeze(A[None])
tf.expand_dims(A, 0)
tf.gather(A, np.array([1, 0]))
tf.gather_nd(A, np.array([[0, 1]]))
tf.scatter_nd(np.array([[1]]), F[:1], np.array([3, 3]))
tf.tensor_scatter_nd_update(A, [[0]], A[1:])
tf.boolean_mask(A, M)
tf.where(M)
tf.where(M, A, 0.0)
tf.one_hot(np.array([0, 2]), 3)
tf.sort(A)
tf.argsort(A)
tf.argmax(A, 1)
tf.math.top_k(A, 2)
tf.unique(np.array([1, 1, 2]))
tf.searchsorted(np.array([1.0, 2.0]), np.array([1.5]))
tf.reduce_sum(A)
tf.reduce_sum(A, axis=np.array(0))
tf.reduce_mean(A, 0)
tf.reduce_any(M)
tf.reduce_logsumexp(A, 1)
tf.math.segment_sum(A, np.array([0, 0]))
tf.math.unsorted_segment_sum(A, np.array([1, 0]), 2)
tf.cumsum(A, 1)
tf.exp(A)
tf.math.log(abs(A))
tf.maximum(A, 0)
tf.minimum(T, A)
tf.clip_by_value(A, -1, 1)
tf.clip_by_norm(F, 1.0)
tf.round(A)
tf.sign(A)
tf.math.divide_no_nan(A, np.zeros((2, 3)))
tf.matmul(A, A.T)
tf.matmul(A, A, transpose_b=True)
tf.linalg.matvec(A, A[0])
tf.linalg.norm(A)
tf.linalg.inv(A[:, :2])
tf.linalg.det(A[:, :2])
tf.linalg.solve(A[:, :2], A[:, :1])
tf.linalg.svd(A, compute_uv=False)
tf.linalg.cholesky(np.eye(2))
tf.linalg.diag(A[0])
tf.linalg.einsum('ij,kj->ik', A, A)
tf.einsum('ij->j', A)
tf.tensordot(A, A, [[1], [1]])
tf.eye(np.int64(2))
tf.range(np.int64(4))
tf.linspace(np.float64(0), 1, 3)
tf.fill(np.array([2]), np.float32(3))
tf.meshgrid(A[0], A[1])
tf.broadcast_to(A[0], [2, 3])
tf.bitcast(F, tf.int32)
tf.signal.fft(A[0] + 0j)
tf.complex(A, A)
tf.strings.as_string(I)
tf.nn.relu(A)
tf.nn.softmax(A)
tf.nn.sigmoid(A)
tf.nn.l2_normalize(A, 1)
tf.nn.moments(A, [0])
tf.nn.conv1d(F[None], np.ones((2, 3, 1), np.float32), 1, 'SAME')
tf.nn.max_pool1d(F[None], 2, 1, 'SAME')
tf.nn.softmax_cross_entropy_with_logits(np.eye(3)[:2], A)
tf.nn.embedding_lookup(A, np.array([1]))
tf.nest.flatten({'a': A, 'b': [T, V]})
tf.nest.map_structure(lambda x: x * 2, (A, [T]))
tf.nest.assert_same_structure(A, T)
tf.is_tensor(A)
tf.is_tensor(T)
tf.debugging.assert_equal(A, T)
tf.debugging.assert_near(T, A)
tf.map_fn(lambda x: x * 2, A)
tf.map_fn(lambda x: tf.reduce_sum(x), T)
tf.vectorized_map(lambda x: x * 2, A)
tf.vectorized_map(lambda x: tf.reduce_sum(x[0] * x[1]), (A, T))
tf.scan(lambda a, x: a + x, A)
tf.foldl(lambda a, x: a + x, A)
tf.cond(np.array(True), lambda: A, lambda: T)
tf.cond(T[0, 0] > 0, lambda: A + 1, lambda: A)
tf.case([(np.array(False), lambda: A)], default=lambda: T)
tf.switch_case(np.int32(1), [lambda: A, lambda: T])
tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2), (np.array(0), A))
tf.while_loop(lambda x: tf.reduce_sum(x) < 50, lambda x: [x + 1], [A])
tf.data.Dataset.from_tensor_slices(np.ones(3))
list(tf.data.Dataset.from_tensor_slices(A))
list(tf.data.Dataset.from_tensor_slices({'a': A, 'b': I}))
list(tf.data.Dataset.from_tensors((A, T)))
list(tf.data.Dataset.from_tensor_slices((A, I)).map(lambda x, i: x + tf.cast(i, x.dtype)).batch(2))
list(tf.data.Dataset.from_generator(lambda: iter(A), output_signature=tf.TensorSpec(3, tf.float64)))
list(tf.data.Dataset.range(3).map(lambda i: A[0] * 2))
list(tf.data.Dataset.range(np.int64(4)).window(2).flat_map(lambda w: w.batch(2)))
tf.function(lambda x: x + A)(A)
tf.function(lambda x: x + A)(T)
tf.function(lambda x: tf.reduce_sum(x))(V)
tf.function(lambda x, y: x['a'] + y)({'a': A}, np.float64(2))
tf.function(lambda x: x * 2, jit_compile=True)(A)
tf.function(lambda x: x * 2, input_signature=[tf.TensorSpec([None, 3], tf.float64)])(A)
tf.function(lambda x: x + 1).get_concrete_function(tf.TensorSpec(None)).structured_outputs
tf.function(lambda x: np.float64(2) * x)(T)
tf.numpy_function(np.sin, [A], tf.float64)
tf.py_function(lambda x: x * 2, [A], tf.float64)
tf.custom_gradient(lambda x: (x * 2, lambda d: d * 3))(A)
tf.stop_gradient(A)
tf.identity(A)
tf.autodiff.ForwardAccumulator(T, T).jvp(T)
gradient(lambda x: x * x, T)
gradient(lambda x: x * A, V)
gradient(lambda x: tf.gather(x, [0, 0]), T)
jacobian(lambda x: x * A, T)
batch_jacobian(lambda x: x * x, T)
watched(A)
watched(3.0)
watched([T, 2])
R + 1
R * R
tf.concat([R, R], 0)
tf.reduce_sum(R, 1)
R.to_tensor()
tf.ragged.map_flat_values(tf.sin, R)
tf.sparse.to_dense(tf.sparse.from_dense(A))
tf.sparse.sparse_dense_matmul(tf.sparse.from_dense(A), A.T)
tf.TensorArray(tf.float64, 2).unstack(A).stack()
tf.TensorSpec.from_tensor(T)
tf.type_spec_from_value(A)
tf.type_spec_from_value(T)
tf.io.parse_tensor(tf.io.serialize_tensor(A), tf.float64)
tf.image.flip_left_right(F[None, :, :, None])
tf.image.resize(F[None, :, :, None], [4, 4])
tf.random.stateless_uniform([2], np.array([1, 2]))
tf.keras.utils.to_categorical(np.array([0, 2]))
tf.experimental.numpy.add(A, T)
tf.experimental.numpy.sum(A)
tf.distribute.get_strategy().run(lambda x: x * 2, (A,))
keras.ops.add(A, T)
keras.ops.sum(A)
keras.ops.matmul(A, A.T)
keras.ops.convert_to_tensor(A)
keras.ops.convert_to_numpy(T)
keras.layers.Dense(2, kernel_initializer='ones')(A)
keras.layers.Dense(2, kernel_initializer='ones')(S)
keras.layers.Rescaling(2.0)(A)
keras.layers.Flatten()(F[None])
keras.layers.Normalization(mean=0.0, variance=4.0)(A)
keras.layers.Lambda(lambda x: x * 2)(A)
keras.layers.Lambda(np.square)(A)
keras.losses.MeanSquaredError()(A, T)
keras.losses.mean_squared_error(A, A * 2)
keras.metrics.Mean()(A)
keras.activations.relu(A)
keras.initializers.Constant(A)(shape=(2, 3))
keras.utils.normalize(A)
model().predict(F, verbose=0)
model()(F)
model().evaluate(F, F[:, :1], verbose=0)
fitted(F, F[:, :1])
fitted(S, S[:, :1])
fitted(tf.data.Dataset.from_tensor_slices((F, F[:, :1])).batch(2))
model().train_on_batch(F, F[:, :1])
model().get_weights()
"""


def gradient(function: Callable[[Any], Any], x: Any) -> Any:
    """Return the gradient of a function by TensorFlow's tape."""
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    return tape.gradient(y, x)


def jacobian(function: Callable[[Any], Any], x: Any) -> Any:
    """Return the Jacobian, likewise."""
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    return tape.jacobian(y, x)


def batch_jacobian(function: Callable[[Any], Any], x: Any) -> Any:
    """Return the Jacobians of the rows."""
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    return tape.batch_jacobian(y, x)


def watched(x: Any) -> str:
    """Return the outcome of letting a gradient tape watch an object that is no tensor."""
    try:
        tf.GradientTape().watch(x)
    except ValueError:
        return "a ValueError"
    return "watched"


def model() -> keras.Model:
    """Return a small network with fixed weights."""
    made = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(1, kernel_initializer="ones")])
    made.compile("sgd", "mse")
    return made


def fitted(*data: Any) -> Any:
    """Return the weights after two rounds of training."""
    network = model()
    network.fit(*data, epochs=2, shuffle=False, verbose=0)
    return network.get_weights()


def shown(value: Any) -> Any:
    """Return a value as data: for arrays and tensors the type, dtype, shape and elements."""
    if isinstance(value, (tf.Tensor, tf.Variable, np.ndarray, np.generic)):
        kind = type(value).__name__
        return [kind, str(value.dtype), str(np.shape(value)), np.asarray(value).tolist().__repr__()]
    if isinstance(value, Mapping):
        return {str(key): shown(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, *map(shown, value)]
    return [type(value).__name__, str(value)]


def outcome(call: str) -> Any:
    """Return the result of a call, or the exception."""
    try:
        return shown(eval(call, globals()))
    except Exception as error:
        text = str(error).splitlines()
        return [type(error).__name__, text[0] if text else ""]


if __name__ == "__main__":
    for line in filter(None, CALLS.splitlines()):
        print(json.dumps([line, outcome(line)]))
