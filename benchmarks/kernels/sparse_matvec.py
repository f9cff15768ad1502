"""Product of a sparse matrix in row storage and a vector."""

import numpy as np

SIZE = 30000
SMALL = 20


def initialise(size):
    rng = np.random.default_rng(23)
    counts = rng.integers(1, 12, size)
    start = np.concatenate([[0], np.cumsum(counts)])
    columns = rng.integers(0, size, start[-1])
    return start, columns, rng.random(start[-1]), rng.random(size)


def kernel(start, columns, values, x):
    y = np.zeros(len(start) - 1)
    for i in range(len(start) - 1):
        total = 0.0
        for k in range(start[i], start[i + 1]):
            total += values[k] * x[columns[k]]
        y[i] = total
    return y
