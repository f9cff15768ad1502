"""LU decomposition in place, element by element."""

import numpy as np

SIZE = 160
SMALL = 8


def initialise(size):
    rng = np.random.default_rng(6)
    return (rng.random((size, size)) + size * np.eye(size),)


def kernel(a):
    n = a.shape[0]
    for i in range(n):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[:j, j]
            a[i, j] /= a[j, j]
        for j in range(i, n):
            a[i, j] -= a[i, :i] @ a[:i, j]
    return a
