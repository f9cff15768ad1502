"""Update rules in NumPy: as optimisers of Keras, and in a training loop, operation by operation and compiled.

The rules are SGD with momentum, Adam and RMSprop. First part: a network trained by `model.fit` for the same
batches with `np2tf.keras.Optimizer` and with Keras's own optimiser, compiled and with `run_eagerly=True`; the
seconds of an epoch, and the largest difference of the weights afterwards. Second part: a training loop whose
loss and rule are NumPy code. `np2tf.value_and_grad` runs operation by operation (eager), and `np2tf.jit`
compiles the whole step with XLA.

    python benchmarks/update_rules.py [STEPS]
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import keras
import numpy as np

import np2tf

INPUTS, HIDDEN, EXAMPLES, BATCH = 32, 64, 512, 32
SOURCE = """\
import numpy as np

import np2tf


def momentum(w, g, state, rate, step):
    v = 0.9 * state["v"] - rate * g
    return w + v, {"v": v}


def adam(w, g, state, rate, step):
    m = state["m"] + (g - state["m"]) * (1 - 0.9)
    v = state["v"] + (g * g - state["v"]) * (1 - 0.999)
    alpha = rate * np.sqrt(1 - 0.999**step) / (1 - 0.9**step)
    return w - m * alpha / (np.sqrt(v) + 1e-7), {"m": m, "v": v}


def rmsprop(w, g, state, rate, step):
    v = 0.9 * state["v"] + (1 - 0.9) * g * g
    return w - rate * g / np.sqrt(v + 1e-7), {"v": v}


def loss(params, x, y):
    hidden = np.maximum(x @ params["w1"] + params["b1"], 0.0)
    return np.mean((hidden @ params["w2"] - y) ** 2)


def train_step(rule, params, state, x, y, rate, step):
    value, gradients = np2tf.value_and_grad(loss)(params, x, y)
    for name in params:
        params[name], state[name] = rule(params[name], gradients[name], state[name], rate, step)
    return value, params, state
"""
#: Rules by name: Keras's own, and the names of the state.
RULES: dict[str, tuple[Callable[[float], Any], list[str]]] = {
    "momentum": (lambda rate: keras.optimizers.SGD(rate, momentum=0.9), ["v"]),
    "adam": (keras.optimizers.Adam, ["m", "v"]),
    "rmsprop": (keras.optimizers.RMSprop, ["v"]),
}
RATE = 0.001


def trained(optimizer: Any, x: np.ndarray, y: np.ndarray, epochs: int, is_eager: bool) -> Any:
    """Return the weights after training, and the seconds of the fastest epoch but the first."""
    keras.utils.set_random_seed(1)
    model = keras.Sequential(
        [keras.Input((INPUTS,)), keras.layers.Dense(HIDDEN, "relu"), keras.layers.Dense(1)]
    )
    model.compile(optimizer, loss="mse", run_eagerly=is_eager, jit_compile=False)
    seconds = []
    for _ in range(epochs + 1):
        start = perf_counter()
        model.fit(x, y, BATCH, epochs=1, shuffle=False, verbose=0)
        seconds.append(perf_counter() - start)
    return np.concatenate([weight.ravel() for weight in model.get_weights()]), min(seconds[1:])


def compare_with_keras(rules: Any, x: np.ndarray, y: np.ndarray, epochs: int) -> None:
    """Print the table of the first part."""
    print("model.fit: ms for an epoch of 16 steps, and the largest relative difference of the weights")
    for name, (of_keras, state) in RULES.items():
        for is_eager in (False, True):
            mine = np2tf.keras.Optimizer(getattr(rules, name), state, learning_rate=RATE)
            weights, seconds = trained(mine, x, y, epochs, is_eager)
            keras_weights, keras_seconds = trained(of_keras(RATE), x, y, epochs, is_eager)
            difference = np.max(np.abs(weights - keras_weights)) / np.max(np.abs(keras_weights))
            mode = "eager" if is_eager else "compiled"
            print(
                f"{name:10}{mode:10}np2tf {seconds * 1e3:8.1f}  Keras {keras_seconds * 1e3:8.1f}  "
                f"difference {difference:.1e}"
            )


def measure_loop(rules: Any, name: str, x: np.ndarray, y: np.ndarray, steps: int) -> None:
    """Print a row of the second part."""
    rng = np.random.default_rng(0)
    start = {
        "w1": rng.normal(size=(INPUTS, HIDDEN)) / 6,
        "b1": np.zeros(HIDDEN),
        "w2": rng.normal(size=(HIDDEN, 1)) / 8,
    }
    rule, state_names = getattr(rules, name), RULES[name][1]
    results, times = [], []
    for step_of in (rules.train_step, np2tf.jit(rules.train_step, tier="compile")):
        params = {key: value.copy() for key, value in start.items()}
        state = {key: {s: np.zeros_like(v) for s in state_names} for key, v in start.items()}
        seconds = []
        for step in range(1, steps + 1):
            k = BATCH * step % EXAMPLES
            begin = perf_counter()
            _, params, state = step_of(
                rule, params, state, x[k : k + BATCH], y[k : k + BATCH], RATE, float(step)
            )
            seconds.append(perf_counter() - begin)
        results.append(np.concatenate([params[key].ravel() for key in start]))
        times.append(float(np.median(seconds[steps // 3 :])))
    np.testing.assert_allclose(results[1], results[0], rtol=1e-9, atol=1e-12)
    print(
        f"{name:10}eager {times[0] * 1e3:8.2f}  compiled {times[1] * 1e3:8.2f}  "
        f"{times[0] / times[1]:6.1f} times as fast"
    )


def main(steps: int) -> None:
    """Measure, and check that results are equal."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(EXAMPLES, INPUTS))
    y = np.sin(x.sum(axis=1, keepdims=True))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "update_rules_source.py")
        path.write_text(SOURCE)
        rules = np2tf.import_module("update_rules_source", path)
        compare_with_keras(rules, x.astype(np.float32), y.astype(np.float32), max(2, steps // 50))
        print("\na training loop in NumPy: ms for a step")
        for name in RULES:
            measure_loop(rules, name, x, y, steps)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 300)
