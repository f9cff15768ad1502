"""Fourier transform of a power of two by butterflies (Stockham)."""

import numpy as np

SIZE = 18
SMALL = 4


def initialise(size):
    rng = np.random.default_rng(25)
    return (rng.standard_normal(2**size) + 1j * rng.standard_normal(2**size),)


def kernel(x):
    n = x.shape[0]
    y = x.reshape(n, 1)
    half = n // 2
    while half >= 1:
        even, odd = y[:half], y[half:]
        m = y.shape[1]
        twiddle = np.exp(-1j * np.pi * np.arange(m) / m)
        odd = odd * twiddle
        y = np.concatenate([even + odd, even - odd], axis=1)
        half = half // 2
    return y.reshape(n)
