"""Signals of ten kinds, with noise."""

import numpy as np


def make_signals(count, length, rng):
    labels = rng.integers(0, 10, count)
    t = np.linspace(0, 1, length)
    frequency = 2 + labels[:, None]
    phase = rng.uniform(0, 2 * np.pi, (count, 1))
    x = np.sin(2 * np.pi * frequency * t + phase)
    odd = labels % 2 == 1
    x[odd] = np.sign(x[odd])
    x += 1.1 * rng.standard_normal((count, length))
    return x, labels


def batches(x, labels, size, rng):
    order = rng.permutation(len(x))
    for start in range(0, len(x), size):
        chosen = order[start : start + size]
        yield x[chosen], labels[chosen]
