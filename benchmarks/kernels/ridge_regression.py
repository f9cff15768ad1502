"""Ridge regression: an inverse and matrix products for each strength of the penalty."""

import numpy as np

SIZE = 220
SMALL = 8


def initialise(size):
    rng = np.random.default_rng(47)
    return rng.standard_normal((2 * size, size)), rng.standard_normal(2 * size), np.logspace(-2, 2, 5)


def kernel(x, y, penalties):
    gram = x.T @ x
    errors = np.empty(len(penalties))
    for k in range(len(penalties)):
        inverse = np.linalg.inv(gram + penalties[k] * np.eye(x.shape[1]))
        hat = x @ inverse @ x.T
        left = (y - hat @ y) / (1.0 - np.trace(hat) / len(y))
        errors[k] = np.mean(left**2)
    return errors
