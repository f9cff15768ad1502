"""Masses joined by springs in a plane (velocity Verlet), as a class."""

import numpy as np

SIZE = 2000
SMALL = 20


def initialise(size):
    rng = np.random.default_rng(69)
    places = np.stack([np.arange(300.0 if size > 100 else 6.0), np.zeros(300 if size > 100 else 6)], axis=1)
    return places + 0.1 * rng.standard_normal(places.shape), size


class Chain:
    def __init__(self, places):
        self.places = places
        self.speeds = np.zeros_like(places)
        self.forces = np.zeros_like(places)

    def pull(self):
        steps = self.places[1:] - self.places[:-1]
        lengths = np.sqrt((steps**2).sum(axis=1))
        along = 50.0 * ((lengths - 1.0) / lengths)[:, None] * steps
        self.forces[...] = -0.1 * self.speeds
        self.forces[:-1] += along
        self.forces[1:] -= along

    def run(self, count, dt):
        for _ in range(count):
            self.speeds += 0.5 * dt * self.forces
            self.places += dt * self.speeds
            self.pull()
            self.speeds += 0.5 * dt * self.forces


def kernel(places, count):
    chain = Chain(places)
    chain.run(count, 0.01)
    return chain.places, chain.speeds
