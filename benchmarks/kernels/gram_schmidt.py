"""QR decomposition by modified Gram-Schmidt."""

import numpy as np

SIZE = 240
SMALL = 10


def initialise(size):
    rng = np.random.default_rng(8)
    return (rng.standard_normal((size + size // 5, size)),)


def kernel(a):
    m, n = a.shape
    q = np.zeros((m, n))
    r = np.zeros((n, n))
    for k in range(n):
        r[k, k] = np.sqrt(a[:, k] @ a[:, k])
        q[:, k] = a[:, k] / r[k, k]
        for j in range(k + 1, n):
            r[k, j] = q[:, k] @ a[:, j]
            a[:, j] -= q[:, k] * r[k, j]
    return q, r
