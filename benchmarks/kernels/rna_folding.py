"""Nussinov's dynamic programme for the number of base pairs."""

import numpy as np

SIZE = 130
SMALL = 12


def initialise(size):
    rng = np.random.default_rng(12)
    return (rng.integers(0, 4, size),)


def kernel(bases):
    n = len(bases)
    table = np.zeros((n, n), dtype=np.int64)
    for i in range(n - 2, -1, -1):
        for j in range(i + 1, n):
            best = max(table[i, j - 1], table[i + 1, j])
            pair = 1 if bases[i] + bases[j] == 3 else 0
            if j - i > 1:
                best = max(best, table[i + 1, j - 1] + pair)
            for k in range(i + 1, j):
                best = max(best, table[i, k] + table[k + 1, j])
            table[i, j] = best
    return table
