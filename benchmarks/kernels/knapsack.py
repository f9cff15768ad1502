"""0/1 knapsack: one row of the table per item."""

import numpy as np

SIZE = 1500
SMALL = 10


def initialise(size):
    rng = np.random.default_rng(13)
    return rng.integers(5, 60, size), rng.random(size), 40 * size


def kernel(weights, values, capacity):
    best = np.zeros(capacity + 1)
    for i in range(len(weights)):
        w = weights[i]
        best[w:] = np.maximum(best[w:], best[: capacity + 1 - w] + values[i])
    return best
