"""Paths of a stochastic differential equation (Euler-Maruyama), with given increments."""

import numpy as np

SIZE = 1000
SMALL = 8


def initialise(size):
    rng = np.random.default_rng(53)
    return np.full(2000 if size > 100 else 20, 1.0), rng.standard_normal((size, 2000 if size > 100 else 20)), 1e-3


def drift(x):
    return 2.0 * (1.5 - x)


def diffusion(x):
    return 0.4 * np.sqrt(np.abs(x))


def kernel(x, noise, dt):
    crossed = np.zeros(len(x), dtype=np.int64)
    for k in range(len(noise)):
        new = x + drift(x) * dt + diffusion(x) * np.sqrt(dt) * noise[k]
        crossed += (x < 1.2) & (new >= 1.2)
        x = new
    return x, crossed
