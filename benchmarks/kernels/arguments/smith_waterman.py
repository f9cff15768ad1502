"""Arguments of `smith_waterman`."""

import numpy as np

SIZE = 250
SMALL = 12


def initialise(size):
    rng = np.random.default_rng(38)
    first, second = rng.integers(0, 4, size), rng.integers(0, 4, size - size // 8)
    return first, second, np.zeros((len(first) + 1, len(second) + 1), dtype=np.int64), 3, -3, -2
