"""The rule as a user of TensorFlow writes it: over tensors, and as an optimiser of Keras."""

from __future__ import annotations

from typing import Any

import keras
import tensorflow as tf

State = dict[str, tf.Tensor]


def update(
    weight: tf.Tensor, gradient: tf.Tensor, state: State, rate: tf.Tensor, step: tf.Tensor
) -> tuple[tf.Tensor, State]:
    """Return the new weight and state."""
    mean = 0.9 * state["mean"] + 0.1 * gradient
    square = 0.999 * state["square"] + 0.001 * gradient**2
    direction = (mean / (1 - 0.9**step)) / (tf.sqrt(square / (1 - 0.999**step)) + 1e-7)
    step_back = tf.clip_by_value(direction, -2, 2) + 0.01 * weight
    return weight - rate * step_back, {"mean": mean, "square": square}


def update_all(
    weights: list[tf.Tensor],
    gradients: list[tf.Tensor],
    states: list[State],
    rate: tf.Tensor,
    step: tf.Tensor,
) -> tuple[list[tf.Tensor], list[State]]:
    """Return all new weights and states."""
    found = [update(*one, rate, step) for one in zip(weights, gradients, states, strict=True)]
    return [weight for weight, _ in found], [state for _, state in found]


class Optimizer(keras.optimizers.Optimizer):
    """The rule as an optimiser."""

    def build(self, variables: Any) -> None:
        """Make the state's variables."""
        if not self.built:
            super().build(variables)
            self.means, self.squares = self.add_optimizer_variables(variables, ["mean", "square"])

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Update one weight."""
        index = self._get_variable_index(variable)
        mean, square = self.means[index], self.squares[index]
        step = tf.cast(self.iterations, gradient.dtype) + 1
        rate = tf.cast(learning_rate, gradient.dtype)
        state = {"mean": tf.convert_to_tensor(mean), "square": tf.convert_to_tensor(square)}
        weight, state = update(tf.convert_to_tensor(variable), gradient, state, rate, step)
        variable.assign(weight)
        mean.assign(state["mean"])
        square.assign(state["square"])
