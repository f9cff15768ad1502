"""Arguments of `levinson`."""

import numpy as np

SIZE = 3000
SMALL = 10


def initialise(size):
    rng = np.random.default_rng(35)
    return 0.6 ** np.arange(size), rng.standard_normal(size), np.zeros(size), np.zeros(size)
