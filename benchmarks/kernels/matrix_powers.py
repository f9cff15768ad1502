"""Distribution of a Markov chain after many steps, by squaring its matrix."""

import numpy as np

SIZE = 340
SMALL = 8


def initialise(size):
    rng = np.random.default_rng(49)
    a = rng.random((size, size))
    return a / a.sum(axis=1, keepdims=True), 1000


def kernel(a, power):
    result = np.eye(a.shape[0])
    while power > 0:
        if power % 2 == 1:
            result = result @ a
        a = a @ a
        power = power // 2
    return result
