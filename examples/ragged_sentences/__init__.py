"""Sentences of words of characters: ragged tensors in translated code, beside TensorFlow's ragged ops."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import tensorflow as tf

import np2tf
from examples.common.cases import TF_EAGER, TF_GRAPH, Calls, Case, jax_call, numpy_call
from examples.ragged_sentences import by_tensorflow, source

translated = np2tf.import_module("examples.ragged_sentences.source")


def sentence_vector(words: Any, table: Any) -> Any:
    """Return the vector of a sentence by a batch of its words."""
    return np.mean(np.tanh(np2tf.vmap(source.word_vector, (0, None))(words, table)), axis=0)


def gradient(sentences: Any, table: Any) -> Any:
    """Return the derivative of half the sum of the squares of all vectors."""
    with tf.GradientTape() as tape:
        tape.watch(table)
        value = 0.5 * tf.reduce_sum(translated.vectors(sentences, table) ** 2)
    return tf.convert_to_tensor(tape.gradient(value, table))


def loss(table: Any, sentences: Any) -> Any:
    """Return half the sum of the squares of all vectors."""
    return 0.5 * np.sum(translated.vectors(sentences, table) ** 2)


def padded(sentences: np.ndarray) -> np.ndarray:
    """Return all characters in one array; -1 fills the rows."""
    most = max(map(len, sentences)), max(len(word) for words in sentences for word in words)
    found = np.full((len(sentences), *most), -1)
    for place, words in enumerate(sentences):
        for row, word in enumerate(words):
            found[place, row, : len(word)] = word
    return found


def cases(quick: bool) -> Iterator[Case]:
    """Yield the vectors and a gradient."""
    rng = np.random.default_rng(0)
    count = 4 if quick else 64
    sentences, table = source.text(rng, count), rng.normal(size=(26, 16))
    ragged, weights = np2tf.ragged.from_numpy(sentences), tf.constant(table)
    batched = np2tf.vmap(sentence_vector, (0, None))
    ways: dict[str, dict[str, Callable[..., Any]]] = {
        "vectors": {
            "np2tf, loops, eager": translated.vectors,
            "np2tf, loops, in tf.function": tf.function(translated.vectors),
            "np2tf.vmap, in tf.function": tf.function(batched),
            TF_EAGER: by_tensorflow.vectors,
            TF_GRAPH: tf.function(by_tensorflow.vectors),
        },
        "gradient": {
            "np2tf.grad, eager": lambda sentences, table: np2tf.grad(loss)(table, sentences),
            "np2tf, loops, in tf.function": tf.function(gradient),
            TF_EAGER: by_tensorflow.gradient,
            TF_GRAPH: tf.function(by_tensorflow.gradient),
        },
    }
    for name, functions in ways.items():
        calls: Calls = {
            **numpy_call(getattr(source, name), sentences, table),
            **{label: _call(function, ragged, weights) for label, function in functions.items()},
            **jax_call("examples.ragged_sentences.by_jax", name, padded(sentences), table),
        }
        yield Case(f"{name} of sentences", f"{count} sentences", calls)


def _call(function: Callable[..., Any], *args: Any) -> Callable[[], Any]:
    return lambda: function(*args)
