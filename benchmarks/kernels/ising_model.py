"""Spins on a lattice, half of them at a time (Metropolis), as a class with given random numbers."""

import numpy as np

SIZE = 96
SMALL = 8


def initialise(size):
    rng = np.random.default_rng(65)
    spins = np.where(rng.random((size, size)) < 0.5, 1.0, -1.0)
    return spins, rng.random((60, 2, size, size)), 0.6


class Lattice:
    def __init__(self, spins, coupling):
        self.spins = spins
        self.coupling = coupling
        self.even = np.add.outer(np.arange(len(spins)), np.arange(len(spins))) % 2 == 0
        self.magnetisation = np.zeros(0)

    def flip(self, chosen, chance):
        s = self.spins
        field = np.roll(s, 1, 0) + np.roll(s, -1, 0) + np.roll(s, 1, 1) + np.roll(s, -1, 1)
        accepted = chosen & (chance < np.exp(-2.0 * self.coupling * s * field))
        self.spins[accepted] *= -1.0

    def sweep(self, chances):
        self.magnetisation = np.zeros(len(chances))
        for k in range(len(chances)):
            self.flip(self.even, chances[k, 0])
            self.flip(~self.even, chances[k, 1])
            self.magnetisation[k] = self.spins.mean()


def kernel(spins, chances, coupling):
    lattice = Lattice(spins, coupling)
    lattice.sweep(chances)
    return lattice.spins, lattice.magnetisation
