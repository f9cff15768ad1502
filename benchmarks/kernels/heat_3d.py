"""The heat equation in a cube."""

import numpy as np

SIZE = 50
SMALL = 8


def initialise(size):
    rng = np.random.default_rng(15)
    a = rng.random((size, size, size))
    return a, a.copy(), 40


def laplacian(u):
    inner = u[1:-1, 1:-1, 1:-1]
    return (
        0.125 * (u[2:, 1:-1, 1:-1] - 2 * inner + u[:-2, 1:-1, 1:-1])
        + 0.125 * (u[1:-1, 2:, 1:-1] - 2 * inner + u[1:-1, :-2, 1:-1])
        + 0.125 * (u[1:-1, 1:-1, 2:] - 2 * inner + u[1:-1, 1:-1, :-2])
    )


def kernel(a, b, steps):
    for _ in range(steps):
        b[1:-1, 1:-1, 1:-1] = a[1:-1, 1:-1, 1:-1] + laplacian(a)
        a[1:-1, 1:-1, 1:-1] = b[1:-1, 1:-1, 1:-1] + laplacian(b)
    return a
