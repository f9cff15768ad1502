"""Arguments of `covariance`."""

import numpy as np

SIZE = 500
SMALL = 8


def initialise(size):
    rng = np.random.default_rng(32)
    return rng.standard_normal((size + size // 4, size)), np.zeros((size, size))
