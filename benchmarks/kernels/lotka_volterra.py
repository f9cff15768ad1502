"""Prey and predators (Runge-Kutta of fourth order)."""

import numpy as np

SIZE = 3000
SMALL = 20


def initialise(size):
    return np.array([10.0, 5.0]), 0.005, size


def growth(y):
    return np.array([1.1 * y[0] - 0.4 * y[0] * y[1], 0.1 * y[0] * y[1] - 0.4 * y[1]])


def kernel(y, h, steps):
    path = np.empty((steps, 2))
    for k in range(steps):
        a = growth(y)
        b = growth(y + 0.5 * h * a)
        c = growth(y + 0.5 * h * b)
        d = growth(y + h * c)
        y = y + h / 6.0 * (a + 2.0 * b + 2.0 * c + d)
        path[k] = y
    return path
