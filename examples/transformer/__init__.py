"""Training of a small transformer over characters: loss, training step, and a text that it writes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import np2tf
from examples.common.cases import Case, jax_call, np2tf_calls, numpy_call, tensorflow_calls
from examples.transformer import by_tensorflow, source

translated = np2tf.import_module("examples.transformer.source")
CONTEXT, WIDTH, LAYERS = 32, 64, 2
TEXT = (Path(__file__).resolve().parents[2] / "LICENSE").read_text(encoding="utf-8")
CHARACTERS = sorted(set(TEXT))
TOKENS = np.searchsorted(CHARACTERS, list(TEXT))


def step(params: dict[str, Any], means: Any, squares: Any, number: Any, tokens: Any) -> Any:
    """Change the parameters and the state by one step of Adam, and return them with the loss."""
    value, gradient = np2tf.value_and_grad(translated.loss)(params, tokens)
    translated.adam(params, gradient, means, squares, number)
    return params, means, squares, value


def start(layers: int = LAYERS) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Return the first parameters, and Adam's state."""
    params = source.initial(np.random.default_rng(0), len(CHARACTERS), CONTEXT, WIDTH, layers)
    means, squares = ({name: np.zeros_like(param) for name, param in params.items()} for _ in range(2))
    return params, means, squares


def batch(rng: np.random.Generator, size: int) -> np.ndarray:
    """Return pieces of the text."""
    places = rng.integers(0, len(TOKENS) - CONTEXT - 1, size)
    return TOKENS[places[:, None] + np.arange(CONTEXT + 1)]


def cases(quick: bool) -> Iterator[Case]:
    """Yield the loss and the training step."""
    tokens = batch(np.random.default_rng(0), 2 if quick else 16)
    params, means, squares = start(1 if quick else LAYERS)
    size = f"batch of {len(tokens)}"
    calls = {
        **numpy_call(source.loss, params, tokens),
        **np2tf_calls(translated.loss, np2tf.jit(translated.loss, tier="compile"), params, tokens),
        **tensorflow_calls(by_tensorflow.loss, params, tokens),
        **jax_call("examples.transformer.by_jax", "loss", params, tokens),
    }
    yield Case("loss of a transformer", size, calls)
    args = params, means, squares, np.float64(1), tokens
    calls = {
        **np2tf_calls(from_copies(step), from_copies(np2tf.jit(step, tier="compile")), *args),
        **tensorflow_calls(by_tensorflow.step, *args),
        **jax_call("examples.transformer.by_jax", "step", *args),
    }
    yield Case("training step of a transformer", size, calls, tolerance=1e-7)


def from_copies(function: Any) -> Any:
    """Return a function that changes copies of its arguments, so that each call computes the same."""

    def call(params: Any, means: Any, squares: Any, number: Any, tokens: Any) -> Any:
        copies = ({name: array.copy() for name, array in group.items()} for group in (params, means, squares))
        return function(*copies, number, tokens)

    return call


def notes(quick: bool) -> Iterator[str]:
    """Train, and yield the losses and a text."""
    steps, length = (3, 3) if quick else (600, 160)
    compiled = np2tf.jit(step, tier="compile")
    rng = np.random.default_rng(1)
    state = start(1 if quick else LAYERS)
    losses = [float(compiled(*state, np.float64(k + 1), batch(rng, 16))[3]) for k in range(steps)]
    ends = len(losses) // 10 or 1
    yield f"loss: {np.mean(losses[:ends]):.2f} at first, {np.mean(losses[-ends:]):.2f} after {steps} steps"
    written = list(TOKENS[:CONTEXT])
    for _ in range(length):
        tokens = np.array([written[-CONTEXT:]])
        written.append(int(source.sample(state[0], tokens, rng)))
    yield "it writes: " + "".join(CHARACTERS[k] for k in written[CONTEXT:]).replace("\n", " ")
