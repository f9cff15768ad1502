"""Arguments of `sobel`."""

import numpy as np

SIZE = 1100
SMALL = 12


def initialise(size):
    rng = np.random.default_rng(40)
    return rng.random((size, size)), 0.4
