"""Mean of the samples in each ring."""

import numpy as np

SIZE = 400000
SMALL = 300


def initialise(size):
    rng = np.random.default_rng(22)
    return rng.random(size), rng.random(size), 100


def kernel(data, radius, rings):
    largest = radius.max()
    out = np.zeros(rings)
    for i in range(rings):
        inner = largest * i / rings
        outer = largest * (i + 1) / rings
        mask = (inner <= radius) & (radius < outer)
        out[i] = np.sum(np.where(mask, data, 0.0)) / np.sum(mask)
    return out
