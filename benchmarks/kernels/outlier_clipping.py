"""Mean and deviation of many samples after repeated removal of what lies far off (sigma clipping)."""

import numpy as np

SIZE = 400000
SMALL = 300


def initialise(size):
    rng = np.random.default_rng(45)
    return rng.standard_normal(size) ** 3, 2.5, 12


def kernel(samples, width, rounds):
    inside = np.ones(len(samples), dtype=bool)
    for _ in range(rounds):
        centre = samples[inside].mean()
        spread = np.sqrt(((samples[inside] - centre) ** 2).mean())
        inside = np.abs(samples - centre) < width * spread
    flagged = samples.copy()
    flagged[~inside] = centre
    return flagged, np.count_nonzero(inside), samples[inside].max(), samples[~inside].sum()
