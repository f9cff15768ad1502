"""A picture with its grey levels spread evenly (histogram equalisation), tile by tile."""

import numpy as np

SIZE = 1024
SMALL = 32


def initialise(size):
    rng = np.random.default_rng(55)
    return (255 * rng.random((size, size)) ** 3).astype(np.int64), 16


def kernel(picture, tile):
    out = np.empty(picture.shape)
    for i in range(0, picture.shape[0], 4 * tile):
        for j in range(0, picture.shape[1], 4 * tile):
            part = picture[i : i + 4 * tile, j : j + 4 * tile]
            share = np.cumsum(np.bincount(part.ravel(), minlength=256)) / part.size
            out[i : i + 4 * tile, j : j + 4 * tile] = share[part]
    return out
