"""Bodies under gravity, leapfrog."""

import numpy as np

SIZE = 200
SMALL = 8


def initialise(size):
    rng = np.random.default_rng(20)
    mass = np.full((size, 1), 20.0 / size)
    position, velocity = rng.standard_normal((2, size, 3))
    return mass, position, velocity - np.mean(mass * velocity, axis=0) / np.mean(mass), 60


def acceleration(position, mass):
    x, y, z = position[:, 0:1], position[:, 1:2], position[:, 2:3]
    dx, dy, dz = x.T - x, y.T - y, z.T - z
    inverse = (dx**2 + dy**2 + dz**2 + 0.01) ** -1.5
    return np.hstack((dx * inverse @ mass, dy * inverse @ mass, dz * inverse @ mass))


def kernel(mass, position, velocity, steps):
    dt = 0.01
    pull = acceleration(position, mass)
    energy = np.zeros(steps)
    for k in range(steps):
        velocity += pull * dt / 2.0
        position += velocity * dt
        pull = acceleration(position, mass)
        velocity += pull * dt / 2.0
        energy[k] = 0.5 * np.sum(mass * velocity**2)
    return position, energy
