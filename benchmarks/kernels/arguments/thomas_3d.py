"""Arguments of `thomas_3d`."""

import numpy as np

SIZE = 96
SMALL = 6


def initialise(size):
    rng = np.random.default_rng(33)
    shape = size, size, size // 2
    return -rng.random(shape), 2.5 + rng.random(shape), -rng.random(shape), rng.standard_normal(shape)
