"""All shortest paths."""

import numpy as np

SIZE = 400
SMALL = 10


def initialise(size):
    rng = np.random.default_rng(10)
    return (rng.integers(1, 1000, (size, size)).astype(np.float64),)


def kernel(path):
    for k in range(path.shape[0]):
        path[:] = np.minimum(path, path[:, k, None] + path[None, k, :])
    return path
