"""The grid, and differences on it."""

import numpy as np


class Grid:
    def __init__(self, n, box=1.0):
        self.n = n
        self.dx = box / n
        self.vol = self.dx**2
        centres = np.linspace(0.5 * self.dx, box - 0.5 * self.dx, n)
        self.Y, self.X = np.meshgrid(centres, centres)


def curl(Az, dx):
    """The curl of a field along z that is given at the corners, on the faces."""
    bx = (Az - np.roll(Az, 1, axis=1)) / dx
    by = -(Az - np.roll(Az, 1, axis=0)) / dx
    return bx, by


def div_of_faces(bx, by, dx):
    return (bx - np.roll(bx, 1, axis=0) + by - np.roll(by, 1, axis=1)) / dx


def gradient(f, dx):
    f_dx = (np.roll(f, -1, axis=0) - np.roll(f, 1, axis=0)) / (2 * dx)
    f_dy = (np.roll(f, -1, axis=1) - np.roll(f, 1, axis=1)) / (2 * dx)
    f_dx = limit(f, f_dx, 0, dx)
    f_dy = limit(f, f_dy, 1, dx)
    return f_dx, f_dy


def limit(f, df, axis, dx):
    small = 1.0e-8 * (df == 0)
    df = np.maximum(0.0, np.minimum(1.0, ((f - np.roll(f, 1, axis=axis)) / dx) / (df + small))) * df
    df = np.maximum(0.0, np.minimum(1.0, (-(f - np.roll(f, -1, axis=axis)) / dx) / (df + small))) * df
    return df


def to_faces(f, f_dx, f_dy, dx):
    f_xl = f - f_dx * dx / 2
    f_xl = np.roll(f_xl, -1, axis=0)
    f_xr = f + f_dx * dx / 2
    f_yl = f - f_dy * dx / 2
    f_yl = np.roll(f_yl, -1, axis=1)
    f_yr = f + f_dy * dx / 2
    return f_xl, f_xr, f_yl, f_yr


def divergence(flux_x, flux_y, dx, dt):
    """What flows into the cells during the step."""
    change = -dt * dx * flux_x
    change += dt * dx * np.roll(flux_x, 1, axis=0)
    change += -dt * dx * flux_y
    change += dt * dx * np.roll(flux_y, 1, axis=1)
    return change
