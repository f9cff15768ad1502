"""The Mandelbrot set: all points at once, escaped points stay."""

import numpy as np

SIZE = 300
SMALL = 12


def initialise(size):
    return np.linspace(-2.2, 0.8, size), np.linspace(-1.2, 1.2, size), 60


def kernel(re, im, steps):
    c = re[None, :] + 1j * im[:, None]
    z = np.zeros_like(c)
    count = np.zeros(c.shape, dtype=np.int64)
    for _ in range(steps):
        inside = z.real**2 + z.imag**2 < 4.0
        count[inside] += 1
        z = np.where(inside, z * z + c, z)
    return count
