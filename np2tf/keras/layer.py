"""`np2tf.keras.Layer`: a NumPy function with parameters as a layer of Keras."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from np2tf.imports.functions.jitted_functions import jitted_of
from np2tf.runtime.environment.raw_tensors import across


class Layer(keras.layers.Layer):
    """A layer that computes ``function(params, inputs)``.

    Keras trains the floating-point arrays in params; each is a weight of the layer, of the layer's dtype.
    Writes in place to an array in params, such as a running mean, change the weight.

    Args:
        function: a jitted, translated or plain NumPy function of params and the inputs of the layer. If it
            has a parameter `training`, it gets a boolean.
        params: the initial values: an array, or nested lists, tuples and dicts of arrays. Values that are no
            floating-point arrays are constants.
        trainable: whether Keras trains the weights.
        **kwargs: arguments of Keras' layers, such as `name` and `dtype`.

    Raises:
        StagingError: if the function cannot be staged.

    See https://keras.io/api/layers/base_layer/.
    """

    def __init__(
        self, function: Callable[..., Any], params: Any = (), *, trainable: bool = True, **kwargs: Any
    ) -> None:
        super().__init__(trainable=trainable, **kwargs)
        jitted_function, arguments = jitted_of(function)
        self._takes_training = "training" in inspect.signature(function).parameters
        # Methods and closures, because Keras replaces lists and dicts that are attributes by its own.
        self._run = lambda *args, **kwargs: across(jitted_function, (*arguments, *args), kwargs)
        leaves = tf.nest.flatten(params)
        self._constants = tuple(None if _is_weight(leaf) else (leaf,) for leaf in leaves)
        self._pack = lambda values: tf.nest.pack_sequence_as(params, values)
        self._parameters = [
            self.add_weight(
                shape=np.shape(leaf),
                initializer=lambda shape, dtype, leaf=leaf: tf.cast(leaf, dtype),
                name=f"param_{k}",
            )
            for k, leaf in enumerate(leaves)
            if _is_weight(leaf)
        ]

    def call(self, *inputs: Any, training: bool = False) -> Any:
        """Return ``function(params, *inputs)``.

        Args:
            *inputs: tensors of any shape.
            training: whether Keras trains the model now.

        Returns:
            The function's result, as tensors.
        """
        weights = iter(self._parameters)
        values = [next(weights) if constant is None else constant[0] for constant in self._constants]
        keywords = {"training": training} if self._takes_training else {}
        return self._run(self._pack(values), *inputs, **keywords)


def _is_weight(leaf: Any) -> bool:
    return isinstance(leaf, (np.ndarray, np.floating)) and np.issubdtype(leaf.dtype, np.floating)


__all__ = ["Layer"]
