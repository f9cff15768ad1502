"""The reaction-diffusion system of Gray and Scott, and the patterns it grows for several parameters.

Main loop: in the method `run` of a class `Simulation`, with a progress bar of its own.
"""

import sys

import numpy as np


class ProgressBar:
    def __init__(self, total, width=40):
        self.total = total
        self.width = width
        self.done = 0

    def update(self, n=1):
        self.done += n
        filled = int(self.width * self.done / self.total)
        sys.stdout.write("\r[" + "#" * filled + "." * (self.width - filled) + "]")
        if self.done >= self.total:
            sys.stdout.write("\n")
        sys.stdout.flush()


class Simulation:
    def __init__(self, n, F, k, Du=0.16, Dv=0.08, dt=1.0, seed=0):
        self.n = n
        self.F = F
        self.k = k
        self.Du = Du
        self.Dv = Dv
        self.dt = dt
        self.time = 0.0
        self.u = np.ones((n, n))
        self.v = np.zeros((n, n))
        self.mass = []
        self.seed_squares(np.random.default_rng(seed))

    def seed_squares(self, rng, count=12, size=10):
        for _ in range(count):
            i, j = rng.integers(0, self.n - size, 2)
            self.u[i : i + size, j : j + size] = 0.5
            self.v[i : i + size, j : j + size] = 0.25
        self.u += 0.02 * rng.random((self.n, self.n))
        self.v += 0.02 * rng.random((self.n, self.n))

    def laplacian(self, Z):
        return (
            np.roll(Z, 1, axis=0)
            + np.roll(Z, -1, axis=0)
            + np.roll(Z, 1, axis=1)
            + np.roll(Z, -1, axis=1)
            - 4 * Z
        )

    def step(self):
        u, v = self.u, self.v
        uvv = u * v * v
        self.u = u + self.dt * (self.Du * self.laplacian(u) - uvv + self.F * (1 - u))
        self.v = v + self.dt * (self.Dv * self.laplacian(v) + uvv - (self.F + self.k) * v)
        self.time += self.dt

    def run(self, steps, every=250):
        bar = ProgressBar(steps)
        for s in range(steps):
            self.step()
            if (s + 1) % every == 0:
                self.mass.append(self.v.mean())
                bar.update(every)

    def picture(self, rows=12, cols=48):
        shades = " .:oO#"
        top = self.v.max()
        lines = []
        for r in range(rows):
            row = self.v[r * self.n // rows]
            cells = row[:: self.n // cols][:cols]
            lines.append("".join(shades[min(int(6 * c / (top + 1e-9)), 5)] for c in cells))
        return "\n".join(lines)


cases = {
    "spots": (0.035, 0.065),
    "stripes": (0.035, 0.060),
    "worms": (0.046, 0.063),
}

for name, (F, k) in cases.items():
    sim = Simulation(320, F, k)
    sim.run(14000)
    print(f"{name}: t = {sim.time:.0f}, u in [{sim.u.min():.2f}, {sim.u.max():.2f}], v up to {sim.v.max():.2f}")
    print("mean of v:", " ".join(f"{m:.3f}" for m in sim.mass[::4]))
    print(f"covered: {np.mean(sim.v > 0.1):.2f}")
print(sim.picture())
