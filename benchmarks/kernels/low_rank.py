"""The best approximation of a matrix by a matrix of low rank (singular values)."""

import numpy as np

SIZE = 320
SMALL = 8


def initialise(size):
    rng = np.random.default_rng(48)
    return rng.random((size, size - size // 4)), 20 if size > 50 else 3


def kernel(a, rank):
    u, s, vt = np.linalg.svd(a, full_matrices=False)
    close = (u[:, :rank] * s[:rank]) @ vt[:rank]
    return close, np.sqrt(np.sum((a - close) ** 2))
