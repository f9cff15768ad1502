"""A tridiagonal solve in every column of an atmosphere (Thomas algorithm)."""

import numpy as np

SIZE = 128
SMALL = 6


def initialise(size):
    rng = np.random.default_rng(18)
    shape = (size, size, size // 2)
    return rng.random(shape), rng.random(shape), rng.random(shape), 0.15


def kernel(wind, field, tendency, dt):
    levels = field.shape[2]
    c = np.zeros_like(field)
    d = np.zeros_like(field)
    out = np.zeros_like(field)
    for k in range(levels):
        up = 0.25 * wind[:, :, k + 1] if k < levels - 1 else 0.0 * wind[:, :, k]
        down = -0.25 * wind[:, :, k] if k > 0 else 0.0 * wind[:, :, k]
        centre = 1.0 / dt - up - down
        right = field[:, :, k] / dt + tendency[:, :, k]
        if k > 0:
            right = right - down * d[:, :, k - 1]
            centre = centre - down * c[:, :, k - 1]
        c[:, :, k] = up / centre
        d[:, :, k] = right / centre
    out[:, :, levels - 1] = d[:, :, levels - 1]
    for k in range(levels - 2, -1, -1):
        out[:, :, k] = d[:, :, k] - c[:, :, k] * out[:, :, k + 1]
    return (out - field) / dt
