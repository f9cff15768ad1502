"""Rank-two update of a matrix, then two matrix-vector products with it."""

import numpy as np

SIZE = 3000
SMALL = 20


def initialise(size):
    rng = np.random.default_rng(1)
    a = rng.standard_normal((size, size))
    u1, v1, u2, v2, y, z = rng.standard_normal((6, size))
    return 1.5, 1.2, a, u1, v1, u2, v2, y, z


def kernel(alpha, beta, a, u1, v1, u2, v2, y, z):
    a = a + np.outer(u1, v1) + np.outer(u2, v2)
    x = beta * (y @ a) + z
    return x, alpha * (a @ x)
