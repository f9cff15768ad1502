"""Flow in a cavity with a moving lid: pressure by relaxation, then velocities."""

import numpy as np

SIZE = 100
SMALL = 10


def initialise(size):
    u = np.zeros((size, size))
    return u, u.copy(), u.copy(), 0.001, 2.0 / (size - 1), 40


def kernel(u, v, p, dt, h, steps):
    for _ in range(steps):
        ux = (u[1:-1, 2:] - u[1:-1, :-2]) / (2 * h)
        vy = (v[2:, 1:-1] - v[:-2, 1:-1]) / (2 * h)
        uy = (u[2:, 1:-1] - u[:-2, 1:-1]) / (2 * h)
        vx = (v[1:-1, 2:] - v[1:-1, :-2]) / (2 * h)
        b = (ux + vy) / dt - ux**2 - 2 * uy * vx - vy**2
        for _ in range(25):
            p[1:-1, 1:-1] = 0.25 * (p[1:-1, 2:] + p[1:-1, :-2] + p[2:, 1:-1] + p[:-2, 1:-1] - h * h * b)
            p[:, -1] = p[:, -2]
            p[0, :] = p[1, :]
            p[:, 0] = p[:, 1]
            p[-1, :] = 0.0
        un, vn = u.copy(), v.copy()
        for w, wn, slope in ((u, un, p[1:-1, 2:] - p[1:-1, :-2]), (v, vn, p[2:, 1:-1] - p[:-2, 1:-1])):
            w[1:-1, 1:-1] = (
                wn[1:-1, 1:-1]
                - un[1:-1, 1:-1] * dt / h * (wn[1:-1, 1:-1] - wn[1:-1, :-2])
                - vn[1:-1, 1:-1] * dt / h * (wn[1:-1, 1:-1] - wn[:-2, 1:-1])
                - dt / (2 * h) * slope
                + 0.1 * dt / h**2 * (wn[1:-1, 2:] + wn[1:-1, :-2] + wn[2:, 1:-1] + wn[:-2, 1:-1] - 4 * wn[1:-1, 1:-1])
            )
        u[0, :], u[:, 0], u[:, -1] = 0.0, 0.0, 0.0
        u[-1, :] = 1.0
        v[0, :], v[-1, :], v[:, 0], v[:, -1] = 0.0, 0.0, 0.0, 0.0
    return u, v, p
