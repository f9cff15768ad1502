"""Adam whose steps are clipped, with weight decay: a rule of one weight, and a step for many weights."""

import numpy as np


def update(weight, gradient, state, rate, step):
    mean = 0.9 * state["mean"] + 0.1 * gradient
    square = 0.999 * state["square"] + 0.001 * gradient**2
    direction = (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-7)
    return weight - rate * (np.clip(direction, -2, 2) + 0.01 * weight), {"mean": mean, "square": square}


def update_all(weights, gradients, states, rate, step):
    new_weights, new_states = [], []
    for weight, gradient, state in zip(weights, gradients, states):
        weight, state = update(weight, gradient, state, rate, step)
        new_weights.append(weight)
        new_states.append(state)
    return new_weights, new_states
