"""NumPy functions as layers and optimisers of Keras."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from np2tf.arrays.array.ndarray import tensor_array, unwrap_tensors, weak_scalar
from np2tf.loading.functions.staged_versions import jitted_of
from np2tf.staging.process.boundary import across

__all__ = [
    "Layer",
    "Optimizer",
]


# -- layer ---------------------------------------------------------------------------------------------------
# `np2tf.keras.Layer`: a NumPy function with parameters as a layer of Keras.


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


# -- optimizer -----------------------------------------------------------------------------------------------
# `np2tf.keras.Optimizer`: an update rule written in NumPy as an optimiser of Keras.


class Optimizer(keras.optimizers.Optimizer):
    """An optimiser that updates each weight by a NumPy function.

    The function is ``update(weight, gradient, state, learning_rate, step)``. It returns the new weight and a
    dict with the new state. `state` is a dict with an array of the weight's shape for each name, zero at the
    beginning; `step` counts from 1. The function becomes a part of the training step, which Keras compiles.

    Args:
        update: a jitted, translated or plain NumPy function.
        state: the names of the arrays in the state.
        learning_rate: a number or a schedule of Keras.
        **kwargs: arguments of Keras' optimisers, such as `clipnorm` and `weight_decay`.

    Raises:
        StagingError: if the function cannot be staged.

    See https://keras.io/api/optimizers/.
    """

    def __init__(
        self,
        update: Callable[..., Any],
        state: Sequence[str] = (),
        learning_rate: Any = 0.001,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate=learning_rate, **kwargs)
        jitted_function, arguments = jitted_of(update)
        self._update = lambda *args: jitted_function(*arguments, *args)
        self._names = tuple(state)

    def build(self, variables: Any) -> None:
        """Make the state's arrays.

        Args:
            variables: the weights that are trained.
        """
        if self.built:
            return
        super().build(variables)
        self._states = [
            self.add_variable_from_reference(variable, name=name)
            for variable in variables
            for name in self._names
        ]

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Update a weight.

        Args:
            gradient: the tensor of the weight's gradient.
            variable: the weight.
            learning_rate: a tensor without axes.
        """
        count = len(self._names)
        place = self._get_variable_index(variable) * count
        slots = self._states[place : place + count]
        state = {name: tensor_array(tf.convert_to_tensor(slot)) for name, slot in zip(self._names, slots)}
        rate, step = self._numbers(learning_rate)
        weight = tensor_array(tf.convert_to_tensor(variable))
        result = self._update(weight, tensor_array(tf.convert_to_tensor(gradient)), state, rate, step)
        weight, state = unwrap_tensors(result)
        for target, value in [(variable, weight), *((s, state[n]) for s, n in zip(slots, self._names))]:
            target.assign(tf.cast(value, target.dtype))

    def _numbers(self, learning_rate: Any) -> tuple[Any, Any]:
        """Return the learning rate and the step as Python's numbers, which take the dtype of the arrays that
        they meet.
        """
        if tf.executing_eagerly():
            return float(learning_rate), int(self.iterations) + 1
        rate = weak_scalar(tf.cast(learning_rate, tf.float64), float)
        return rate, weak_scalar(tf.cast(self.iterations, tf.int64) + 1, int)
