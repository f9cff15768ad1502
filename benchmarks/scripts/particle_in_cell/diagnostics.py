"""Energies over time, and modes."""

import numpy as np


class History:
    def __init__(self):
        self.rows = []

    def add(self, t, vel, E, dx, n):
        kinetic = 0.5 * np.mean(vel**2)
        field = 0.5 * np.sum(E**2) * dx / 50.0
        self.rows.append((t, kinetic, field))

    def line(self):
        t, kinetic, field = self.rows[-1]
        return "kinetic %.3f  field %.3f" % (kinetic, field)

    def growth(self):
        field = np.array([row[2] for row in self.rows])
        return field.max() / field[0]

    def drift(self):
        total = np.array([row[1] + row[2] for row in self.rows])
        return np.abs(total / total[0] - 1).max()


def mode_amplitude(density, mode):
    coefficients = np.fft.rfft(density) / len(density)
    return 2 * abs(coefficients[mode])
