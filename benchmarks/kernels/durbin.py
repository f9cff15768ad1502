"""Levinson-Durbin recursion for a Toeplitz system."""

import numpy as np

SIZE = 8000
SMALL = 12


def initialise(size):
    lags = np.arange(1, size + 1)
    return (0.3 * np.cos(lags) / lags**1.5,)


def kernel(r):
    y = np.zeros_like(r)
    alpha = -r[0]
    beta = 1.0
    y[0] = -r[0]
    for k in range(1, len(r)):
        beta *= 1.0 - alpha * alpha
        alpha = -(r[k] + np.flip(r[:k]) @ y[:k]) / beta
        y[:k] += alpha * np.flip(y[:k])
        y[k] = alpha
    return y
