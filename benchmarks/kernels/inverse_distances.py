"""Accelerations of bodies, all pairs at once, with no force of a body on itself."""

import numpy as np

SIZE = 700
SMALL = 6


def initialise(size):
    rng = np.random.default_rng(43)
    return rng.standard_normal((size, 3)), rng.random(size), 6


def inverse_cubes(squares):
    squares[squares > 0] = squares[squares > 0] ** -1.5
    return squares


def kernel(position, mass, steps):
    velocity = np.zeros_like(position)
    for _ in range(steps):
        dx = position[:, 0] - position[:, 0][:, None]
        dy = position[:, 1] - position[:, 1][:, None]
        dz = position[:, 2] - position[:, 2][:, None]
        weight = inverse_cubes(dx**2 + dy**2 + dz**2)
        velocity[:, 0] += 1e-3 * (dx * weight) @ mass
        velocity[:, 1] += 1e-3 * (dy * weight) @ mass
        velocity[:, 2] += 1e-3 * (dz * weight) @ mass
        position += 1e-3 * velocity
    return position, velocity
