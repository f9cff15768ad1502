"""Finite differences in the time domain: three fields on a staggered grid."""

import numpy as np

SIZE = 350
SMALL = 12


def initialise(size):
    rng = np.random.default_rng(17)
    ex, ey, hz = rng.random((3, size, size + 20))
    return ex, ey, hz, np.arange(100, dtype=np.float64)


def kernel(ex, ey, hz, source):
    for t in range(len(source)):
        ey[0, :] = source[t]
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])
    return hz
