"""Oscillators that fall into step (Kuramoto), as a class."""

import numpy as np

SIZE = 250
SMALL = 8


def initialise(size):
    rng = np.random.default_rng(66)
    return rng.uniform(0, 2 * np.pi, size), rng.standard_normal(size), 40


class Oscillators:
    def __init__(self, phases, frequencies, coupling):
        self.phases = phases
        self.frequencies = frequencies
        self.coupling = coupling
        self.order = np.zeros(0)

    def pull(self):
        differences = self.phases[None, :] - self.phases[:, None]
        return self.frequencies + self.coupling * np.sin(differences).mean(axis=1)

    def run(self, steps, dt):
        self.order = np.zeros(steps)
        for k in range(steps):
            self.phases = (self.phases + dt * self.pull()) % (2.0 * np.pi)
            self.order[k] = np.hypot(np.cos(self.phases).mean(), np.sin(self.phases).mean())


def kernel(phases, frequencies, steps):
    system = Oscillators(phases, frequencies, 3.0)
    system.run(steps, 0.05)
    return system.phases, system.order
