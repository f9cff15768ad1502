"""Clusters of points (Lloyd's k-means), as a class."""

import numpy as np

SIZE = 4000
SMALL = 60


def initialise(size):
    rng = np.random.default_rng(67)
    centres = rng.uniform(-10, 10, (8, 2))
    return centres[rng.integers(0, 8, size)] + rng.standard_normal((size, 2)), 8, 40


class Clusters:
    def __init__(self, points, count):
        self.points = points
        self.centres = points[:count].copy()
        self.labels = np.zeros(len(points), dtype=np.int64)

    def assign(self):
        distances = ((self.points[:, None, :] - self.centres[None, :, :]) ** 2).sum(axis=2)
        self.labels = np.argmin(distances, axis=1)

    def move(self):
        for k in range(len(self.centres)):
            mine = self.labels == k
            if mine.any():
                self.centres[k] = self.points[mine].mean(axis=0)

    def fit(self, rounds):
        for _ in range(rounds):
            self.assign()
            self.move()


def kernel(points, count, rounds):
    clusters = Clusters(points, count)
    clusters.fit(rounds)
    return clusters.centres, clusters.labels
