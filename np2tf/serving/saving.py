"""`np2tf.save` and `np2tf.stablehlo`: NumPy functions as saved models, and as text of XLA's input."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import tensorflow as tf

from np2tf.serving.graphs import OpenGraph
from np2tf.serving.inputs import InputError, signature_of, signature_text


def save(
    function: Callable[..., Any],
    folder: str | os.PathLike[str],
    signatures: Sequence[Any],
    *,
    overwrite: bool = False,
) -> None:
    """Save a NumPy function as a SavedModel, which TensorFlow loads where np2tf is absent.

    ``tf.saved_model.load(folder)`` gives an object that is called like the function, with tensors, and has
    the signatures "serving_default", "signature_1" and so on for serving programs. `np2tf.load` gives a
    function of NumPy's arrays. The model holds the values that arrays and numbers that the function reads by
    name have now. Writes to arguments in place do not reach the caller of the model. Where NumPy raises an
    error because of values (an index out of bounds, a `raise` under a test on data), the model raises
    tf.errors.InvalidArgumentError.

    Args:
        function: a jitted, translated or plain NumPy function of arrays and numbers; np2tf translates it as
            `np2tf.jit` does. Parameters with defaults that have no input keep their defaults.
        folder: the folder to write.
        signatures: the calls that the model accepts. Each is a list with an input for each parameter, as a
            text such as ``"x: f64[?, 3]"`` (`?` for a length that is known only when the model runs), as a
            tf.TensorSpec, or as an array of this shape and dtype. A text alone stands for a list of one text.
        overwrite: whether a folder that is not empty is written to.

    Raises:
        InputError: if a signature is not understood, or the function has no such parameters.
        StagingError: if the function cannot be staged, or needs this process when the model runs.
        FileExistsError: if the folder is not empty, unless `overwrite` is set.

    See https://www.tensorflow.org/guide/saved_model.
    """
    if isinstance(signatures, (str, tf.TensorSpec)) or not signatures:
        raise InputError(f"signatures is a list of lists of inputs, and not {signatures!r}")
    if not overwrite and os.path.isdir(folder) and any(Path(folder).iterdir()):
        raise FileExistsError(f"the folder {os.fspath(folder)!r} is not empty; overwrite=True writes there")
    graph = OpenGraph(function)
    concrete_functions = [graph.add(signature_of(function, signature)) for signature in signatures]
    module = tf.Module()
    module.__call__ = graph.callable()
    module.large_arrays = graph.variables
    names = ["serving_default", *(f"signature_{k}" for k in range(1, len(concrete_functions)))]
    tf.saved_model.save(
        module, os.fspath(folder), signatures=dict(zip(names, map(_flat, concrete_functions), strict=True))
    )


def _flat(concrete: Any) -> Any:
    """Return a function for serving programs, which accept results with names only."""
    (specs, _) = concrete.structured_input_signature

    def serve(*tensors: tf.Tensor) -> Mapping[str, tf.Tensor]:
        result = concrete(*tensors)
        if isinstance(result, dict) and all(isinstance(value, tf.Tensor) for value in result.values()):
            return {str(name): value for name, value in result.items()}
        return {f"output_{k}": value for k, value in enumerate(tf.nest.flatten(result))}

    return tf.function(serve, autograph=False).get_concrete_function(*specs)


def stablehlo(function: Callable[..., Any], signature: Any) -> str:
    """Return a NumPy function as StableHLO text, the portable form of XLA's input.

    Args:
        function: a function as for `np2tf.save`.
        signature: the inputs, as for `np2tf.save`, all lengths known.

    Returns:
        An MLIR module with one function `main`.

    Raises:
        InputError: if a length is not known, or the signature is not understood.
        StagingError: if the function cannot be staged, or needs this process when the program runs.

    See https://openxla.org/stablehlo.
    """
    specs = signature_of(function, signature)
    if any(not spec.shape.is_fully_defined() for spec in specs):
        raise InputError(f"XLA needs to know all lengths, and `{signature_text(specs)}` has open ones")
    graph = OpenGraph(function, jit_compile=True)
    graph.add(specs)
    return str(graph.tf_function.experimental_get_compiler_ir(*specs)(stage="stablehlo"))


__all__ = ["save", "stablehlo"]
