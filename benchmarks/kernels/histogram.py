"""A histogram, one sample after another."""

import numpy as np

SIZE = 200000
SMALL = 50


def initialise(size):
    rng = np.random.default_rng(21)
    return rng.random(size), rng.random(size), 64


def kernel(samples, weights, bins):
    out = np.zeros(bins)
    for i in range(len(samples)):
        k = int(samples[i] * bins)
        out[k] += weights[i]
    return out
