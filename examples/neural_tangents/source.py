"""Kernels of infinitely wide networks in the style of Neural Tangents, and the kernel of a finite network.

A layer is a function of a kernel: its covariances, the tangent kernel, and the variances of both inputs.
"""

import numpy as np


def inputs(x1, x2):
    width = x1.shape[1]
    nngp = x1 @ x2.T / width
    return nngp, np.zeros_like(nngp), np.mean(x1**2, axis=1), np.mean(x2**2, axis=1)


def dense(w, b):
    def layer(nngp, ntk, v1, v2):
        nngp = w**2 * nngp + b**2
        return nngp, w**2 * ntk + nngp, w**2 * v1 + b**2, w**2 * v2 + b**2

    return layer


def relu(nngp, ntk, v1, v2):
    norms = np.sqrt(np.outer(v1, v2))
    cosine = np.clip(nngp / norms, -1, 1)
    angle = np.pi - np.arccos(cosine)
    nngp = norms / (2 * np.pi) * (np.sqrt(1 - cosine**2) + angle * cosine)
    return nngp, ntk * angle / (2 * np.pi), v1 / 2, v2 / 2


def erf(nngp, ntk, v1, v2):
    norms = np.outer(1 + 2 * v1, 1 + 2 * v2)
    ntk = ntk * 4 / np.pi / np.sqrt(norms - 4 * nngp**2)
    v1, v2 = (2 / np.pi * np.arcsin(2 * v / (1 + 2 * v)) for v in (v1, v2))
    return 2 / np.pi * np.arcsin(2 * nngp / np.sqrt(norms)), ntk, v1, v2


def kernel(layers, x1, x2):
    state = inputs(x1, x2)
    for layer in layers:
        state = layer(*state)
    return state[:2]


def network(w, b):
    return [dense(w, b), relu, dense(w, b), relu, dense(w, b)]


def posterior(x, y, new, w, b):
    """The mean of infinitely long training of the network by gradient descent."""
    tangent = kernel(network(w, b), x, x)[1] + 1e-3 * np.eye(len(x))
    return kernel(network(w, b), new, x)[1] @ np.linalg.solve(tangent, y)


def likelihood(stds, x, y):
    """The negative logarithm of the likelihood of the standard deviations of weights and biases."""
    w, b = stds
    covariance = kernel([dense(w, b), erf, dense(w, b)], x, x)[0] + 1e-2 * np.eye(len(x))
    return 0.5 * (y @ np.linalg.solve(covariance, y) + np.linalg.slogdet(covariance)[1])


def finite(params, x):
    w1, w2 = params
    return np.maximum(x @ w1, 0) @ w2


def tangents_by_hand(params, x):
    w1, w2 = params
    hidden = x @ w1
    active = np.maximum(hidden, 0)
    return active @ active.T + (x @ x.T) * (((hidden > 0) * w2**2) @ (hidden > 0).T)
