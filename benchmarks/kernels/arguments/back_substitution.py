"""Arguments of `back_substitution`."""

import numpy as np

SIZE = 2500
SMALL = 9


def initialise(size):
    rng = np.random.default_rng(36)
    return np.triu(rng.random((size, size))) + size * np.eye(size), rng.standard_normal((size, 12))
