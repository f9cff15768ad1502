"""A second-order recursive filter along the rows of an image, there and back (Deriche)."""

import numpy as np

SIZE = 600
SMALL = 12


def initialise(size):
    rng = np.random.default_rng(27)
    return rng.random((size, size + size // 3)), 0.25


def kernel(image, alpha):
    k = (1.0 - np.exp(-alpha)) ** 2 / (1.0 + 2.0 * alpha * np.exp(-alpha) - np.exp(-2.0 * alpha))
    b1, b2 = 2.0 * np.exp(-alpha), -np.exp(-2.0 * alpha)
    forth = np.zeros_like(image)
    back = np.zeros_like(image)
    n = image.shape[1]
    for j in range(n):
        if j < 2:
            forth[:, j] = k * image[:, j]
        else:
            forth[:, j] = k * image[:, j] + b1 * forth[:, j - 1] + b2 * forth[:, j - 2]
    for j in range(n - 3, -1, -1):
        back[:, j] = k * image[:, j + 1] + b1 * back[:, j + 1] + b2 * back[:, j + 2]
    return forth + back
