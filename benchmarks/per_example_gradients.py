"""Per-example gradients of a small network: TensorFlow's ways, np2tf's `vmap`, and a translated NumPy loop.

`tf.map_fn` and `tf.vectorized_map` are the example of TensorFlow NumPy's guide, with np2tf's op library. The
guide measured a factor of 44 between them. `np2tf.vmap(np2tf.grad(loss))` takes the loss in plain NumPy, as
does the loop that calls `np2tf.grad` for each example. The last is a loop over examples in plain NumPy, with
the gradient written out, as np2tf translates it.

    python benchmarks/per_example_gradients.py [EXAMPLES]
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import tensorflow as tf

import np2tf
from np2tf import tnp

INPUTS, HIDDEN, CLASSES = 32, 64, 2
SOURCE = """\
import numpy as np


def loss(w1, x, labels, w2):
    scores = np.maximum(x @ w1, 0) @ w2
    shifted = scores - np.max(scores)
    return -np.sum(labels * (shifted - np.log(np.sum(np.exp(shifted)))))


def gradients(x, labels, w1, w2):
    norms = np.zeros((len(x), *w1.shape))
    for i in range(len(x)):
        hidden = np.maximum(x[i] @ w1, 0)
        scores = hidden @ w2
        chances = np.exp(scores - np.max(scores))
        error = chances / np.sum(chances) - labels[i]
        norms[i] = np.outer(x[i], (w2 @ error) * (hidden > 0))
    return norms
"""


def loss(x: Any, labels: Any, w1: Any, w2: Any) -> Any:
    """Return the cross entropy of the network's answer for some examples."""
    scores = tnp.maximum(x @ w1, 0) @ w2
    shifted = scores - tnp.max(scores, axis=-1, keepdims=True)
    return -tnp.sum(labels * (shifted - tnp.log(tnp.sum(tnp.exp(shifted), axis=-1, keepdims=True))))


def gradient(example: tuple[tf.Tensor, tf.Tensor], w1: tf.Tensor, w2: tf.Tensor) -> tf.Tensor:
    """Return the gradient of one example's loss with respect to the first layer's weights."""
    x, label = example
    with tf.GradientTape() as tape:
        tape.watch(w1)
        value = tf.convert_to_tensor(loss(x[None], label[None], tnp.asarray(w1), tnp.asarray(w2)))
    return tape.gradient(value, w1)


@tf.function(autograph=False)
def one_by_one(x: tf.Tensor, labels: tf.Tensor, w1: tf.Tensor, w2: tf.Tensor) -> tf.Tensor:
    """Compute the gradients by `tf.map_fn`."""
    return tf.map_fn(lambda one: gradient(one, w1, w2), (x, labels), fn_output_signature=x.dtype)


@tf.function(autograph=False)
def at_once(x: tf.Tensor, labels: tf.Tensor, w1: tf.Tensor, w2: tf.Tensor) -> tf.Tensor:
    """Compute the gradients by `tf.vectorized_map`."""
    return tf.vectorized_map(lambda one: gradient(one, w1, w2), (x, labels))


def best_of(call: Callable[[], Any], calls: int = 10) -> float:
    """Return the shortest time of some warm calls."""
    times = []
    for _ in range(calls + 2):
        start = perf_counter()
        call()
        times.append(perf_counter() - start)
    return min(times[2:])


def main(examples: int) -> None:
    """Measure, and check that all results are the same."""
    rng = np.random.default_rng(0)
    x, labels = rng.standard_normal((examples, INPUTS)), np.eye(CLASSES)[rng.integers(0, CLASSES, examples)]
    w1, w2 = rng.standard_normal((INPUTS, HIDDEN)) / 6, rng.standard_normal((HIDDEN, CLASSES)) / 8
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "per_example.py")
        path.write_text(SOURCE)
        names: dict[str, Any] = {}
        exec(compile(SOURCE, str(path), "exec"), names)
        translated = np2tf.import_module("per_example", path)
    one = np2tf.grad(translated.loss)
    batched = np2tf.vmap(one, (None, 0, 0, None))
    given = [tf.constant(one) for one in (x, labels, w1, w2)]
    ways: dict[str, Callable[[], Any]] = {
        "tf.map_fn": lambda: one_by_one(*given).numpy(),
        "tf.vectorized_map": lambda: at_once(*given).numpy(),
        "np2tf.vmap(grad)": lambda: batched(w1, x, labels, w2),
        "a loop of np2tf.grad": lambda: [one(w1, *pair, w2) for pair in zip(x, labels, strict=True)],
        "NumPy's loop": lambda: names["gradients"](x, labels, w1, w2),
        "the same, np2tf": lambda: translated.gradients(x, labels, w1, w2),
    }
    expected = ways["NumPy's loop"]()
    slowest = best_of(ways["tf.map_fn"])
    for name, way in ways.items():
        np.testing.assert_allclose(np.asarray(way()), expected, rtol=1e-9, atol=1e-12)
        seconds = best_of(way, 1 if "loop of" in name else 10)
        print(f"{name:20} {seconds * 1e3:9.2f} ms  {slowest / seconds:7.1f} times as fast as tf.map_fn")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
