"""A body tracked through noisy positions (Kalman filter), as a class."""

import numpy as np

SIZE = 1200
SMALL = 10


def initialise(size):
    rng = np.random.default_rng(62)
    return np.cumsum(rng.standard_normal((size, 2)), axis=0), 0.1


class Tracker:
    def __init__(self, dt, start):
        self.x = np.array([start[0], start[1], 0.0, 0.0])
        self.P = np.eye(4)
        self.F = np.eye(4)
        self.F[0, 2] = self.F[1, 3] = dt
        self.H = np.eye(4)[:2]
        self.Q = 0.01 * np.eye(4)
        self.R = 0.5 * np.eye(2)

    def predict(self):
        self.x = self.F @ self.x
        self.P = self.F @ self.P @ self.F.T + self.Q

    def update(self, z):
        S = self.H @ self.P @ self.H.T + self.R
        K = self.P @ self.H.T @ np.linalg.inv(S)
        self.x = self.x + K @ (z - self.H @ self.x)
        self.P = (np.eye(4) - K @ self.H) @ self.P

    def track(self, seen):
        path = np.zeros((len(seen), 4))
        for k in range(len(seen)):
            self.predict()
            self.update(seen[k])
            path[k] = self.x
        return path


def kernel(seen, dt):
    tracker = Tracker(dt, seen[0])
    return tracker.track(seen), tracker.P
