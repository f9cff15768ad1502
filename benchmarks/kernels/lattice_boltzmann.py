"""Flow in a channel with an obstacle (lattice Boltzmann), as a class."""

import numpy as np

SIZE = 60
SMALL = 8


def initialise(size):
    y, x = np.mgrid[:size, : 2 * size]
    return (x - size // 2) ** 2 + (y - size // 2) ** 2 < (size // 8) ** 2, 40


class Channel:
    VELOCITIES = [(0, 0), (1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1)]
    WEIGHTS = [4 / 9, 1 / 9, 1 / 9, 1 / 9, 1 / 9, 1 / 36, 1 / 36, 1 / 36, 1 / 36]
    OPPOSITE = [0, 3, 4, 1, 2, 7, 8, 5, 6]

    def __init__(self, obstacle, viscosity):
        self.obstacle = obstacle
        self.relaxation = 1.0 / (3.0 * viscosity + 0.5)
        self.f = np.ones((9, *obstacle.shape)) * np.array(self.WEIGHTS)[:, None, None]
        self.f[1] += 0.05

    def collide(self):
        rho = self.f.sum(axis=0)
        ux = np.zeros_like(rho)
        uy = np.zeros_like(rho)
        for k, (cx, cy) in enumerate(self.VELOCITIES):
            ux += cx * self.f[k] / rho
            uy += cy * self.f[k] / rho
        square = 1.0 - 1.5 * (ux**2 + uy**2)
        for k, (cx, cy) in enumerate(self.VELOCITIES):
            along = 3.0 * (cx * ux + cy * uy)
            rest = self.WEIGHTS[k] * rho * (square + along + 0.5 * along**2)
            self.f[k] += self.relaxation * (rest - self.f[k])

    def stream(self):
        for k, (cx, cy) in enumerate(self.VELOCITIES):
            self.f[k] = np.roll(self.f[k], (cy, cx), axis=(0, 1))
        bounced = self.f.copy()
        for k in range(9):
            self.f[k][self.obstacle] = bounced[self.OPPOSITE[k]][self.obstacle]

    def run(self, steps):
        for _ in range(steps):
            self.collide()
            self.stream()


def kernel(obstacle, steps):
    channel = Channel(obstacle, 0.02)
    channel.run(steps)
    return channel.f.sum(axis=0)
