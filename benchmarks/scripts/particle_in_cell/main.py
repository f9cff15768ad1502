"""The two-stream instability of a plasma, by the particle-in-cell method in one dimension.

Main loop: in the method `run` of a class; mesh, field solver and diagnostics are modules beside this one.
"""

import numpy as np

from diagnostics import History, mode_amplitude
from field import acceleration, electric_field
from mesh import Mesh


class Plasma:
    def __init__(self, n_particles, n_cells, box, dt, v_beam, v_thermal, amplitude, seed=0):
        np.random.seed(seed)
        self.mesh = Mesh(n_cells, box)
        self.n0 = 1.0
        self.dt = dt
        self.t = 0.0
        self.n = n_particles
        self.pos = np.random.rand(n_particles, 1) * box
        self.vel = v_thermal * np.random.randn(n_particles, 1) + v_beam
        half = n_particles // 2
        self.vel[half:] *= -1
        self.vel *= 1 + amplitude * np.sin(2 * np.pi * self.pos / box)
        self.acc = acceleration(self.pos, self.mesh, self.n0)
        self.history = History()

    def step(self):
        # kick, drift, kick
        self.vel += self.acc * self.dt / 2.0
        self.pos += self.vel * self.dt
        self.pos = np.mod(self.pos, self.mesh.box)
        self.acc = acceleration(self.pos, self.mesh, self.n0)
        self.vel += self.acc * self.dt / 2.0
        self.t += self.dt

    def run(self, n_steps):
        for i in range(n_steps):
            self.step()
            if i % 10 == 0:
                E = electric_field(self.mesh.density(self.pos, self.n0), self.mesh, self.n0)
                self.history.add(self.t, self.vel, E, self.mesh.dx, self.n)
            if i % 100 == 0:
                print("t = %6.2f  %s" % (self.t, self.history.line()))


def main():
    plasma = Plasma(n_particles=440000, n_cells=400, box=50.0, dt=0.05, v_beam=3.0, v_thermal=1.0, amplitude=0.1)
    plasma.run(900)
    history = plasma.history
    print("growth of the field: x %.0f" % history.growth())
    print("energy kept within 2 %:", history.drift() < 0.02)
    density = plasma.mesh.density(plasma.pos, plasma.n0)
    print("amplitude of modes 1 to 3:", " ".join("%.2f" % mode_amplitude(density, m) for m in (1, 2, 3)))
    counts, _ = np.histogram(plasma.vel, bins=12, range=(-9, 9))
    print("velocities:", np.round(counts / plasma.n, 2))


main()
