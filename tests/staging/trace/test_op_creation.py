"""The table creates the same operations as TensorFlow."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.framework import op_def_library, ops

from np2tf.staging.trace.operations import table_of_operations

#: name -> operations on a matrix of float64, a vector of int32, and a vector of float32
FUNCTIONS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "numbers": lambda x, i, y: [x + 1, x * 2.0, i + 1, i - True, -0.0 * x, 0.0 * x],
    "casts": lambda x, i, y: [tf.cast(i, tf.float64), tf.cast(x, tf.int32), tf.cast(i, tf.int64)],
    "shapes": lambda x, i, y: [tf.reshape(x, [-1]), tf.reshape(x, x.shape[::-1]), tf.transpose(x, [1, 0])],
    "shapes with tensors": lambda x, i, y: tf.reshape(x, [tf.size(x), 1]),
    "a TensorShape": lambda x, i, y: tf.broadcast_to(x[0], x.shape),
    "lists": lambda x, i, y: [tf.stack([x, x + 1]), tf.concat([x, x, x], axis=1), tf.stack([i[0], 2])],
    "lists of dtypes": lambda x, i, y: [tf.identity_n([x, i]), tf.identity_n([y, i, x])],
    "slices": lambda x, i, y: [x[0], x[1:, ::-1], x[..., None], tf.slice(x, [0, 1], [2, 1]), x[i[0] :]],
    "reductions": lambda x, i, y: [tf.reduce_sum(x), tf.reduce_max(x, axis=1, keepdims=True), tf.argmax(y)],
    "attributes": lambda x, i, y: [
        tf.nn.leaky_relu(y, 0.25),
        tf.nn.leaky_relu(y, 0.5),
        tf.linalg.matmul(x, x, True),
    ],
    "text": lambda x, i, y: [
        tf.strings.as_string(y, precision=2),
        tf.strings.join(["a", tf.strings.as_string(i)]),
    ],
    "state": lambda x, i, y: [tf.random.uniform([3]), tf.random.uniform([3])],
    "branches": lambda x, i, y: tf.cond(i[0] > 0, lambda: x + 1, lambda: x - 1),
    "loops": lambda x, i, y: tf.while_loop(lambda k, z: k < i[0], lambda k, z: (k + 1, z + z), [0, x]),
    "eager tensors": lambda x, i, y: x + tf.convert_to_tensor(EAGER),
}
EAGER = np.ones((2, 3))


def _nodes(function: Callable[[Any, Any, Any], Any]) -> tuple[Counter[str], list[str], list[Any]]:
    """Return the constants of the graph and its functions, its other nodes, and its results."""
    specs = [tf.TensorSpec([2, 3], tf.float64), tf.TensorSpec([4], tf.int32), tf.TensorSpec([5], tf.float32)]
    concrete = tf.function(function, autograph=False).get_concrete_function(*specs)
    definition = concrete.graph.as_graph_def(add_shapes=True)
    constants, nodes = Counter[str](), []
    for node in definition.node:
        attributes = {
            name: value for name, value in sorted(node.attr.items()) if value.WhichOneof("value") != "func"
        }
        if node.op == "Const":
            constants[str(attributes)] += 1
        else:
            nodes.append(f"{node.op} {len(node.input)} {attributes}")
    x = np.arange(6.0).reshape(2, 3) - 2
    random = any(node.op.startswith("Random") for node in definition.node)
    results = (
        []
        if random
        else concrete(*map(tf.constant, (x, np.int32([1, 2, 3, 4]), np.float32([-1, 0, 1, 2, 3]))))
    )
    return constants, nodes, [np.asarray(part) for part in tf.nest.flatten(results) if part is not None]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_same_operations(name: str) -> None:
    constants, nodes, results = _nodes(FUNCTIONS[name])
    for _ in range(2):  # the table is filled, and then used
        with table_of_operations():
            constants_by_table, nodes_by_table, results_by_table = _nodes(FUNCTIONS[name])
        assert nodes_by_table == nodes
        assert set(constants_by_table) == set(constants)
        assert all(constants_by_table[key] <= count for key, count in constants.items())
        for result, expected in zip(results_by_table, results, strict=True):
            assert result.dtype == expected.dtype
            same = (lambda values: values.tolist()) if expected.dtype == object else np.ndarray.tobytes
            assert same(result) == same(expected)


def _trace(function: Callable[[Any], Any]) -> Any:
    return tf.function(function, autograph=False).get_concrete_function(tf.TensorSpec([3], tf.int64)).graph


def test_constants_are_created_once_in_a_graph() -> None:
    with table_of_operations():
        graph = _trace(lambda x: [x + 1, (x + 1) * 1, tf.constant(1, tf.int64), tf.constant(True)])
    values = [tf.make_ndarray(op.get_attr("value")) for op in graph.get_operations() if op.type == "Const"]
    assert [(value.dtype, value.item()) for value in values] == [(np.int64, 1), (np.bool_, True)]


def test_constants_of_devices_stay_apart() -> None:
    def compute(x: Any) -> Any:
        with tf.device("CPU:0"):
            first, second = tf.constant(1, tf.int64), tf.constant(1, tf.int64)
        assert first.device
        assert first is not second
        return x + 1 + first

    with table_of_operations():
        _trace(compute)


ERRORS: dict[str, Callable[[Any], Any]] = {
    "dtypes": lambda x: tf.raw_ops.AddV2(x=x, y=tf.constant([1], tf.int32)),
    "shapes": lambda x: tf.raw_ops.AddV2(x=x, y=tf.constant([1, 2], tf.int64)),
    "numbers": lambda x: x + 1.5,
    "ranks": lambda x: tf.transpose(x, [1, 0]),
    "values": lambda x: tf.concat([x, x], axis=1),
}


@pytest.mark.parametrize("name", ERRORS)
def test_the_same_errors(name: str) -> None:
    def error_of() -> tuple[type, str]:
        with pytest.raises((TypeError, ValueError)) as raised:
            _trace(ERRORS[name])
        return raised.type, re.sub(r"\]\(.*?\)", "]", str(raised.value))  # without the names of constants

    expected = error_of()
    with table_of_operations():
        assert error_of() == expected
        assert error_of() == expected


def test_what_tensorflow_had_returns() -> None:
    infer, encode = op_def_library._apply_op_helper, ops._create_graph_constant
    with table_of_operations():
        with pytest.raises(ZeroDivisionError), table_of_operations():
            raise ZeroDivisionError
        assert op_def_library._apply_op_helper is not infer
        assert ops._create_graph_constant is not encode
    assert op_def_library._apply_op_helper is infer
    assert ops._create_graph_constant is encode
