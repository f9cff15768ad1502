"""Random numbers in a graph that np2tf does not stage: under a plain `tf.function`, in `Dataset.map`.

The graph calls back to the host, where NumPy's own stream goes on: every run of the graph draws anew, and
after ``np.random.seed(k)`` it draws what NumPy draws.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.staging import RandomUseError
from np2tf.tnp._array.ndarray import is_array, tensor_array, tensor_scalar
from np2tf.tnp._operands.promotion import has_tf_dtype


def draw_in_graph(name: str, draw: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Add a draw to the graph.

    Args:
        name: the name of the function or method.
        draw: NumPy's function of the global state, or a bound method of a generator.
        args: the arguments, in which tensors and arrays hold integers.
        kwargs: the arguments by name.

    Returns:
        An array of the dtype that NumPy draws, and of its shape where that is known.

    Raises:
        RandomUseError: the draw cannot be made in a graph.
    """
    leaves = tf.nest.flatten((args, kwargs))
    places = [k for k, leaf in enumerate(leaves) if is_array(leaf) or tf.is_tensor(leaf)]
    tensors = [tf.convert_to_tensor(leaves[k]) for k in places]
    if kwargs.get("out") is not None or not all(tensor.dtype.is_integer for tensor in tensors):
        raise _refusal(name, "with arrays of the graph among its arguments")

    def call(function: Callable[..., Any], values: Any) -> Any:
        filled = list(leaves)
        for k, value in zip(places, values):
            filled[k] = value
        positional, by_name = tf.nest.pack_sequence_as((args, kwargs), filled)
        return function(*positional, **by_name)

    trial = _trial(name, draw, lambda function: call(function, map(_example, tensors)))
    dtype = tf.as_dtype(trial.dtype)
    drawn = tf.numpy_function(lambda *values: np.asarray(call(draw, values), trial.dtype), tensors, dtype)
    drawn.set_shape(trial.shape if all(tensor.shape.is_fully_defined() for tensor in tensors) else None)
    return tensor_scalar(drawn) if drawn.shape.rank == 0 else tensor_array(drawn)


def _trial(name: str, draw: Callable[..., Any], call: Callable[[Callable[..., Any]], Any]) -> np.ndarray:
    """Return what a draw from a copy of the generator gives: its shape and dtype are those of every draw."""
    owner = getattr(draw, "__self__", None)
    if not isinstance(owner, (np.random.Generator, np.random.RandomState)):
        raise _refusal(name, "of an unknown generator")
    try:
        result = call(getattr(copy.deepcopy(owner), draw.__name__))
    except Exception as error:
        raise _refusal(name, f"({error})") from error
    if isinstance(result, (np.ndarray, np.generic, int, float)) and has_tf_dtype(np.asarray(result).dtype):
        return np.asarray(result)
    raise _refusal(name, "whose result is no array of numbers")


def _example(tensor: tf.Tensor) -> np.ndarray | np.generic:
    """Return numbers in the place of a tensor whose numbers are not known yet."""
    return np.ones([length or 1 for length in tensor.shape], tensor.dtype.as_numpy_dtype)[()]


def _refusal(name: str, reason: str) -> RandomUseError:
    return RandomUseError(f"numpy.random.{name} draws from a stream of random numbers {reason}")
