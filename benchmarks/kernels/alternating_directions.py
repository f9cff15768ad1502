"""Alternating-direction implicit diffusion: tridiagonal solves along rows, then columns."""

import numpy as np

SIZE = 180
SMALL = 10


def initialise(size):
    i, j = np.indices((size, size))
    return (i + size - j) / size, 20


def sweep(u, a, b, c, d, f):
    n = u.shape[0]
    p = np.zeros_like(u)
    q = np.zeros_like(u)
    v = np.ones_like(u)
    q[:, 0] = 1.0
    for j in range(1, n - 1):
        p[1:-1, j] = -c / (a * p[1:-1, j - 1] + b)
        right = -d * u[j, :-2] + (1.0 + 2.0 * d) * u[j, 1:-1] - f * u[j, 2:]
        q[1:-1, j] = (right - a * q[1:-1, j - 1]) / (a * p[1:-1, j - 1] + b)
    for j in range(n - 2, 0, -1):
        v[1:-1, j] = p[1:-1, j] * v[1:-1, j + 1] + q[1:-1, j]
    return v


def kernel(u, steps):
    d = 0.4 * u.shape[0] / steps
    for _ in range(steps):
        u = sweep(u, -d / 2, 1.0 + d, -d / 2, -d / 2, -d / 2)
        u = sweep(u, -d / 2, 1.0 + d, -d / 2, -d / 2, -d / 2)
    return u
