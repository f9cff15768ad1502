"""A number from a matrix' diagonal, added to the whole of it."""

import numpy as np

SIZE = 2000
SMALL = 7


def initialise(size):
    rng = np.random.default_rng(42)
    return (rng.random((size, size)),)


def kernel(a):
    trace = 0.0
    for i in range(a.shape[0]):
        trace += np.tanh(a[i, i])
    return a + trace
