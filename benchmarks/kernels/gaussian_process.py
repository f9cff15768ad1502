"""Gaussian process regression: likelihood of several length scales, by Cholesky factors."""

import numpy as np

SIZE = 420
SMALL = 12


def initialise(size):
    rng = np.random.default_rng(46)
    x = np.sort(rng.uniform(0, 10, size))
    return x, np.sin(x) + 0.1 * rng.standard_normal(size), np.linspace(0.3, 2.0, 6)


def kernel(x, y, scales):
    likelihood = np.zeros(len(scales))
    for k in range(len(scales)):
        gram = np.exp(-0.5 * ((x[:, None] - x[None, :]) / scales[k]) ** 2) + 0.01 * np.eye(len(x))
        factor = np.linalg.cholesky(gram)
        weights = np.linalg.solve(factor.T, np.linalg.solve(factor, y))
        likelihood[k] = -0.5 * y @ weights - np.log(np.diag(factor)).sum()
    return likelihood
