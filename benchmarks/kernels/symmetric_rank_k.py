"""The lower triangle of A A', updated row by row."""

import numpy as np

SIZE = 400
SMALL = 12


def initialise(size):
    rng = np.random.default_rng(3)
    c = rng.standard_normal((size, size))
    return 1.5, 1.2, c + c.T, rng.standard_normal((size, size // 2))


def kernel(alpha, beta, c, a):
    for i in range(a.shape[0]):
        c[i, : i + 1] *= beta
        for k in range(a.shape[1]):
            c[i, : i + 1] += alpha * a[i, k] * a[: i + 1, k]
    return c
