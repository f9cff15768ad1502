"""A small convolutional network: two layers of convolution and pooling, and two dense layers."""

import numpy as np

SIZE = 64
SMALL = 2


def initialise(size):
    rng = np.random.default_rng(24)
    images = rng.random((size, 28, 28, 1))
    w1 = rng.standard_normal((5, 5, 1, 6))
    w2 = rng.standard_normal((5, 5, 6, 16)) / 10
    w3 = rng.standard_normal((256, 120)) / 10
    w4 = rng.standard_normal((120, 10)) / 10
    return images, w1, w2, w3, w4


def convolve(x, w):
    k = w.shape[0]
    n, height, width = x.shape[0], x.shape[1] - k + 1, x.shape[2] - k + 1
    out = np.empty((n, height, width, w.shape[3]))
    for i in range(height):
        for j in range(width):
            patch = x[:, i : i + k, j : j + k, :, None]
            out[:, i, j, :] = np.sum(patch * w[None], axis=(1, 2, 3))
    return np.maximum(out, 0.0)


def pool(x):
    n, height, width, channels = x.shape
    return x.reshape(n, height // 2, 2, width // 2, 2, channels).max(axis=(2, 4))


def kernel(images, w1, w2, w3, w4):
    x = pool(convolve(images, w1))
    x = pool(convolve(x, w2))
    x = x.reshape(x.shape[0], -1)
    return np.maximum(x @ w3, 0.0) @ w4
