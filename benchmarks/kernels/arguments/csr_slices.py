"""Arguments of `csr_slices`."""

import numpy as np

SIZE = 12000
SMALL = 12


def initialise(size):
    rng = np.random.default_rng(31)
    counts = rng.integers(1, 60, size)
    starts = np.concatenate([[0], np.cumsum(counts)])
    columns = rng.integers(0, size, starts[-1])
    return starts, columns, rng.random(starts[-1]), rng.random(size), np.zeros(size)
