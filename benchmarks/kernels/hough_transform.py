"""Lines in a picture, by votes of its points."""

import numpy as np

SIZE = 2500
SMALL = 12


def initialise(size):
    rng = np.random.default_rng(52)
    picture = rng.random((size, size)) < 0.004
    picture[np.arange(size), np.arange(size)] = True
    return picture, 90


def kernel(picture, angles):
    ys, xs = np.nonzero(picture)
    reach = int(np.hypot(*picture.shape)) + 1
    votes = np.zeros((2 * reach, angles), dtype=np.int64)
    for k in range(angles):
        theta = np.pi * k / angles
        rho = np.round(xs * np.cos(theta) + ys * np.sin(theta)).astype(np.int64) + reach
        votes[:, k] = np.bincount(rho, minlength=2 * reach)
    return votes, votes.max()
