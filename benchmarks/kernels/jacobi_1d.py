"""Smoothing on a line."""

import numpy as np

SIZE = 4000
SMALL = 12


def initialise(size):
    i = np.arange(size, dtype=np.float64)
    return (i + 2) / size, (i + 3) / size, size


def kernel(a, b, steps):
    for t in range(1, steps):
        b[1:-1] = 0.33333 * (a[:-2] + a[1:-1] + a[2:])
        a[1:-1] = 0.33333 * (b[:-2] + b[1:-1] + b[2:])
    return a, b
