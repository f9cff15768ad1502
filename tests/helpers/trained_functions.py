"""NumPy functions that Keras trains with: layers, losses, activations, metrics, update rules."""

from __future__ import annotations

import numpy as np


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


def momentum(w, g, state, rate, step):
    v = 0.9 * state["v"] - rate * g
    return w + v, {"v": v}


def adam(w, g, state, rate, step):
    m = state["m"] + (g - state["m"]) * (1 - 0.9)
    v = state["v"] + (g * g - state["v"]) * (1 - 0.999)
    alpha = rate * np.sqrt(1 - 0.999**step) / (1 - 0.9**step)
    return w - m * alpha / (np.sqrt(v) + 1e-7), {"m": m, "v": v}


def rmsprop(w, g, state, rate, step):
    v = 0.9 * state["v"] + (1 - 0.9) * g * g
    return w - rate * g / np.sqrt(v + 1e-7), {"v": v}
