"""Arguments of `lu_inner_products`."""

import numpy as np

SIZE = 170
SMALL = 9


def initialise(size):
    rng = np.random.default_rng(34)
    return (rng.random((size, size)) + size * np.eye(size),)
