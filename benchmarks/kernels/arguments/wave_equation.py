"""Arguments of `wave_equation`."""

import numpy as np

SIZE = 240
SMALL = 9


def initialise(size):
    x, y = np.meshgrid(np.linspace(-1, 1, size), np.linspace(-1, 1, size))
    u = np.exp(-40 * (x * x + y * y))
    return u, u.copy(), 0.2, 100
