"""NumPy functions that Keras trains with: layers, losses, activations, metrics, update rules."""

from __future__ import annotations

import numpy as np

import np2tf


def dense(params, x):
    return np.maximum(x @ params["w"] + params["b"], 0.0)


def linear(params, x):
    w, b = params
    return x @ w + b


def normalized(params, x, training):
    if training:
        mean = x.mean(axis=0)
        params["mean"][:] = 0.5 * params["mean"] + 0.5 * mean
    else:
        mean = params["mean"]
    return params["scale"] * (x - mean)


def mean_squares(y, p):
    return np.mean((y - p) ** 2, axis=-1)


def absolute(y, p):
    return np.mean(np.abs(y - p), axis=-1)


def elu(x):
    return np.where(x > 0, x, np.exp(np.minimum(x, 0)) - 1)


def descent(w, g, state, rate, step):
    return w - rate * g, state


#: Constants that float32 holds exactly, because Keras rounds the constants of its optimisers to float32.
DECAY, SLOW_DECAY = 0.875, 1 - 2**-10


def momentum(w, g, state, rate, step):
    v = DECAY * state["v"] - rate * g
    return w + v, {"v": v}


def nesterov(w, g, state, rate, step):
    v = DECAY * state["v"] - rate * g
    return w + DECAY * v - rate * g, {"v": v}


def adam(w, g, state, rate, step):
    m = state["m"] + (g - state["m"]) * (1 - DECAY)
    v = state["v"] + (g * g - state["v"]) * (1 - SLOW_DECAY)
    alpha = rate * np.sqrt(1 - SLOW_DECAY**step) / (1 - DECAY**step)
    return w - m * alpha / (np.sqrt(v) + 1e-7), {"m": m, "v": v}


def rmsprop(w, g, state, rate, step):
    v = 0.9 * state["v"] + (1 - 0.9) * g * g
    return w - rate * g / np.sqrt(v + 1e-7), {"v": v}


def network_loss(params, x, y):
    hidden = np.tanh(x @ params["w"] + params["b"])
    return np.mean((hidden @ params["v"] + params["c"] - y) ** 2)


def training_step(rule, params, state, x, y, rate, step):
    value, gradients = np2tf.value_and_grad(network_loss)(params, x, y)
    for name in params:
        params[name], state[name] = rule(params[name], gradients[name], state[name], rate, step)
    return value, params, state
