"""A position estimated by weighted particles, as a class with its own generator."""

import numpy as np

SIZE = 120
SMALL = 5


def initialise(size):
    rng = np.random.default_rng(64)
    return np.cumsum(0.5 * rng.standard_normal(size)), 3000


class Filter:
    def __init__(self, count, seed):
        self.rng = np.random.default_rng(seed)
        self.particles = self.rng.normal(0.0, 2.0, count)
        self.weights = np.full(count, 1.0 / count)

    def move(self):
        self.particles = self.particles + self.rng.normal(0.0, 0.5, len(self.particles))

    def weigh(self, seen):
        self.weights = self.weights * np.exp(-0.5 * ((self.particles - seen) / 0.4) ** 2)
        self.weights = self.weights / self.weights.sum()

    def resample(self):
        places = (np.arange(len(self.weights)) + self.rng.random()) / len(self.weights)
        chosen = np.searchsorted(np.cumsum(self.weights), places)
        self.particles = self.particles[np.minimum(chosen, len(self.weights) - 1)]
        self.weights = np.full(len(self.weights), 1.0 / len(self.weights))


def kernel(seen, count):
    filter = Filter(count, 7)
    estimates = np.zeros(len(seen))
    for k in range(len(seen)):
        filter.move()
        filter.weigh(seen[k])
        estimates[k] = filter.weights @ filter.particles
        if 1.0 / np.sum(filter.weights**2) < count / 2:
            filter.resample()
    return estimates
