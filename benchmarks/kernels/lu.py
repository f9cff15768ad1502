"""LU decomposition in place, without pivoting."""

import numpy as np

SIZE = 500
SMALL = 12


def initialise(size):
    rng = np.random.default_rng(5)
    return (rng.random((size, size)) + size * np.eye(size),)


def kernel(a):
    n = len(a)
    for k in range(n - 1):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return a
