"""Arguments of `autocovariance`."""

import numpy as np

SIZE = 20000
SMALL = 40


def initialise(size):
    rng = np.random.default_rng(41)
    return np.cumsum(rng.standard_normal(size)) + 100.0, np.zeros(size // 20)
