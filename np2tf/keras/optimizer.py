"""`np2tf.keras.Optimizer`: an update rule written in NumPy as an optimiser of Keras."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import keras
import tensorflow as tf

from np2tf.imports.functions.jitted_functions import jitted_of
from np2tf.tnp._array.ndarray import tensor_array, unwrap_tensors, weak_scalar


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


__all__ = ["Optimizer"]
