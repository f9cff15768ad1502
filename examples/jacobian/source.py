"""A residual network from vectors to vectors, and its Jacobian by the chain rule."""

import numpy as np


def network(x, weights):
    for w in weights:
        x = x + np.tanh(w @ x)
    return x


def jacobian(x, weights):
    product = np.eye(len(x))
    for w in weights:
        inner = np.tanh(w @ x)
        product = product + ((1 - inner**2)[:, None] * w) @ product
        x = x + inner
    return product
