"""Mean of the samples in each ring, picked by a mask."""

import numpy as np

SIZE = 250000
SMALL = 2000


def initialise(size):
    rng = np.random.default_rng(44)
    return rng.random(size), rng.random(size), 60 if size > 10000 else 5


def kernel(data, radius, rings):
    largest = radius.max()
    res = np.zeros(rings)
    for i in range(rings):
        r1 = rings_edge(largest, i, rings)
        r2 = rings_edge(largest, i + 1, rings)
        res[i] = data[(r1 <= radius) & (radius < r2)].mean()
    return res


def rings_edge(largest, i, rings):
    return largest * i / rings
