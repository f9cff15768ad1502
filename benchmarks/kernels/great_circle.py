"""Distances on a sphere."""

import numpy as np

SIZE = 1000000
SMALL = 40


def initialise(size):
    rng = np.random.default_rng(29)
    theta1, phi1, theta2, phi2 = rng.random((4, size))
    return theta1, phi1, theta2, phi2


def kernel(theta1, phi1, theta2, phi2):
    a = np.sin((theta2 - theta1) / 2) ** 2
    b = np.cos(theta1) * np.cos(theta2) * np.sin((phi2 - phi1) / 2) ** 2
    return 2 * np.arctan2(np.sqrt(a + b), np.sqrt(1 - (a + b)))
