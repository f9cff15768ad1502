"""The Mandelbrot set, point by point."""

import numpy as np

SIZE = 50
SMALL = 8


def initialise(size):
    return np.linspace(-2.2, 0.8, size), np.linspace(-1.2, 1.2, size), 50


def kernel(re, im, steps):
    count = np.zeros((len(im), len(re)), dtype=np.int64)
    for i in range(len(im)):
        for j in range(len(re)):
            x, y = 0.0, 0.0
            k = 0
            while k < steps and x * x + y * y < 4.0:
                x, y = x * x - y * y + re[j], 2.0 * x * y + im[i]
                k += 1
            count[i, j] = k
    return count
