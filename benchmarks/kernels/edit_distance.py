"""Levenshtein distance by dynamic programming."""

import numpy as np

SIZE = 500
SMALL = 12


def initialise(size):
    rng = np.random.default_rng(11)
    return rng.integers(0, 4, size), rng.integers(0, 4, size + size // 10)


def kernel(a, b):
    m, n = len(a), len(b)
    d = np.zeros((m + 1, n + 1), dtype=np.int64)
    d[:, 0] = np.arange(m + 1)
    d[0, :] = np.arange(n + 1)
    for i in range(1, m + 1):
        for j in range(1, n + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + cost)
    return d[m, n]
