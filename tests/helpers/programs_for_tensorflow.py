"""NumPy code that runtime/environment/test_inside_tensorflow.py calls, translated, from inside TensorFlow."""

import numpy as np


def standardized(x):
    return (x - x.mean()) / np.sqrt(x.var() + 1e-6)


def gram(x):
    return x.T @ x


def halved(n):
    steps = 0
    while n > 1:
        n = n // 2
        steps += 1
    return steps


def root(x):
    y = x
    while np.abs(y * y - x) > 1e-9:
        y = (y + x / y) / 2
    return y


def scaled_rows(x):
    out = np.zeros_like(x)
    for i in range(x.shape[0]):
        out[i] = x[i] * i
    return out


def added(a, b):
    return a + b


def positive(x):
    return np.maximum(x, 0)


def of_parameters(parameters, x):
    return np.tanh(x @ parameters["w"] + parameters["b"]).sum()


def in_structures(x, *more, **named):
    return {
        "all": [x.mean(), *(array.max() for array in more)],
        "named": tuple(array.T for array in named.values()),
    }


def running_totals(x):
    total = np.zeros(x.shape[1:])
    for row in x:
        total = total + row
        yield total.copy()


def write(v, i, x):
    v[i] = x


def update(v, gradient):
    v -= 0.1 * gradient
    return np.linalg.norm(v)


class Model:
    """Weights that may be Variables."""

    def __init__(self, w):
        self.w = w

    def __call__(self, x):
        return np.tanh(x @ self.w)

    def loss(self, x):
        total = 0.0
        for row in x:
            total = total + (row @ self.w).sum() ** 2
        return total


def row_total(rows, k):
    return np.sum(rows[k]) * 2
