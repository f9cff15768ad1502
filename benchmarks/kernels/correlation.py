"""Correlation matrix, one row of it at a time."""

import numpy as np

SIZE = 700
SMALL = 10


def initialise(size):
    rng = np.random.default_rng(9)
    return (rng.standard_normal((size + size // 2, size)),)


def kernel(data):
    n, m = data.shape
    mean = np.mean(data, axis=0)
    deviation = np.std(data, axis=0)
    deviation[deviation <= 0.1] = 1.0
    scaled = (data - mean) / (np.sqrt(n) * deviation)
    corr = np.eye(m)
    for i in range(m - 1):
        corr[i, i + 1 :] = scaled[:, i] @ scaled[:, i + 1 :]
        corr[i + 1 :, i] = corr[i, i + 1 :]
    return corr
