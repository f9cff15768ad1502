"""Arguments of `sir_epidemic`."""

import numpy as np

SIZE = 10000
SMALL = 30


def initialise(size):
    infected = np.zeros(size)
    infected[0] = 1e-4
    return 1.0 - infected, infected, 0.4, 0.1, 200.0 / size
