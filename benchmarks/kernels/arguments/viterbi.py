"""Arguments of `viterbi`."""

import numpy as np

SIZE = 1500
SMALL = 8


def initialise(size):
    rng = np.random.default_rng(39)
    states, symbols = 48, 20
    start = np.log(rng.dirichlet(np.ones(states)))
    transition = np.log(rng.dirichlet(np.ones(states), states))
    emission = np.log(rng.dirichlet(np.ones(symbols), states))
    observed = rng.integers(0, symbols, size)
    pointers, path = np.zeros((size, states), dtype=np.int64), np.zeros(size, dtype=np.int64)
    return start, transition, emission, observed, pointers, path
