"""Arguments of `page_rank`."""

import numpy as np

SIZE = 1500
SMALL = 12


def initialise(size):
    rng = np.random.default_rng(37)
    links = (rng.random((size, size)) < 8 / size) * rng.random((size, size))
    links[0] += 1e-3
    return links / links.sum(axis=0), np.full(size, 1.0 / size), 0.85, 1e-9
