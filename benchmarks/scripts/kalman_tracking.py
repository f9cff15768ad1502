"""A Kalman filter follows a vehicle in the plane from noisy positions, with a smoother afterwards.

Main loop: over time, in the method `run` of a class; small matrices at each step.
"""

import numpy as np


class KalmanFilter:
    def __init__(self, F, H, Q, R, x0, P0):
        self.F = F
        self.H = H
        self.Q = Q
        self.R = R
        self.x = x0
        self.P = P0
        self.xs = []
        self.Ps = []
        self.predicted = []

    def predict(self):
        self.x = self.F @ self.x
        self.P = self.F @ self.P @ self.F.T + self.Q
        self.predicted.append((self.x.copy(), self.P.copy()))

    def update(self, z):
        y = z - self.H @ self.x
        S = self.H @ self.P @ self.H.T + self.R
        K = self.P @ self.H.T @ np.linalg.inv(S)
        self.x = self.x + K @ y
        self.P = (np.eye(len(self.x)) - K @ self.H) @ self.P
        return float(y @ np.linalg.solve(S, y))

    def run(self, measurements):
        nis = 0.0
        for k, z in enumerate(measurements):
            self.predict()
            if not np.isnan(z[0]):
                nis += self.update(z)
            self.xs.append(self.x.copy())
            self.Ps.append(self.P.copy())
            if k % 5000 == 0:
                print(f"step {k:6d}  position ({self.x[0]:9.2f}, {self.x[1]:9.2f})  trace {np.trace(self.P):.3f}")
        return nis / len(measurements)

    def smooth(self):
        """Rauch-Tung-Striebel."""
        n = len(self.xs)
        xs = [None] * n
        xs[-1] = self.xs[-1]
        for k in range(n - 2, -1, -1):
            x_pred, P_pred = self.predicted[k + 1]
            C = self.Ps[k] @ self.F.T @ np.linalg.inv(P_pred)
            xs[k] = self.xs[k] + C @ (xs[k + 1] - x_pred)
        return np.array(xs)


def simulate(n, dt, rng):
    truth = np.zeros((n, 4))
    state = np.array([0.0, 0.0, 1.0, 0.5])
    for k in range(n):
        a = 0.3 * rng.standard_normal(2)
        state[:2] += dt * state[2:] + 0.5 * dt**2 * a
        state[2:] += dt * a - 0.001 * state[2:]
        truth[k] = state
    z = truth[:, :2] + 2.0 * rng.standard_normal((n, 2))
    z[rng.random(n) < 0.05] = np.nan
    return truth, z


def rms(error):
    return np.sqrt(np.mean(np.sum(error**2, axis=1)))


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    dt = 0.1
    n = 45000
    truth, z = simulate(n, dt, rng)

    F = np.eye(4)
    F[0, 2] = F[1, 3] = dt
    H = np.eye(2, 4)
    G = np.array([[0.5 * dt**2, 0], [0, 0.5 * dt**2], [dt, 0], [0, dt]])
    Q = 0.09 * G @ G.T + 1e-9 * np.eye(4)
    R = 4.0 * np.eye(2)

    kf = KalmanFilter(F, H, Q, R, np.zeros(4), 10.0 * np.eye(4))
    nis = kf.run(z)
    filtered = np.array(kf.xs)
    smoothed = kf.smooth()
    seen = ~np.isnan(z[:, 0])
    print(f"mean normalised innovation: {nis:.3f}")
    print(f"rms of the measurements: {rms(z[seen] - truth[seen, :2]):.3f}")
    print(f"rms of the filter:       {rms(filtered[:, :2] - truth[:, :2]):.3f}")
    print(f"rms of the smoother:     {rms(smoothed[:, :2] - truth[:, :2]):.3f}")
