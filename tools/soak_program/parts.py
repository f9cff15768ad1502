"""Many small functions in plain NumPy, called for a long time with changing numbers, shapes and objects."""

from __future__ import annotations

import numpy as np


class Body:
    """An object with arrays and numbers, of which each round has new ones."""

    def __init__(self, mass, place):
        self.mass, self.place, self.force = mass, np.array(place, float), np.zeros(3)
        self.time, self.steps = 0.0, 0

    def advance(self, dt):
        self.time += dt
        self.steps += 1
        self.place = self.place + dt * self.force / self.mass
        return self.place


def forces(bodies):
    energy = 0.0
    for body in bodies:
        body.force[:] = 0
    for k, first in enumerate(bodies):
        for second in bodies[k + 1 :]:
            d = second.place - first.place
            r2 = d @ d + 1e-3
            force = first.mass * second.mass * d / r2**1.5
            first.force += force
            second.force -= force
            energy -= first.mass * second.mass / np.sqrt(r2)
    return energy


def trimmed(x):
    ordered = np.sort(x)
    k = len(ordered) // 10
    return ordered[k:-k].mean() - np.median(ordered)


def relax(u, f, h, tolerance):
    error, rounds = 1.0, 0
    while error > tolerance and rounds < 60:
        before = u.copy()
        u[1:-1] = 0.5 * (before[2:] + before[:-2] - h**2 * f[1:-1])
        error = np.abs(u - before).max()
        rounds += 1
    return u, rounds


def diffuse(u, c, n):
    for k in range(n):
        u[1:-1, 1:-1] += c * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])
        u[0] = u[1] * (k % 3)
    return u


def image(height, width, rounds):
    y, x = np.mgrid[0:height, 0:width]
    c = (x / width * 3 - 2) + 1j * (y / height * 2 - 1)
    z = np.zeros_like(c)
    count = np.zeros(c.shape, int)
    for _ in range(rounds):
        z = np.where(np.abs(z) < 2, z * z + c, z)
        count += np.abs(z) < 2
    return count


def walk(rng, n):
    place = np.zeros(2)
    for _ in range(n):
        place = place + rng.normal(size=2)
    return place


def pick(table, k, default):
    total = default
    for name in table:
        values = table[name]
        try:
            total = total + values[k]
        except IndexError:
            total = total - 1.0
    return total


def apply_all(functions, x):
    for function in functions:
        x = function(x)
    return x


def series(x, t, label):
    total = np.zeros_like(x)
    for k in range(1, 30):
        total += np.sin(k * x + t) / k
    return total.sum(), f"{label}: {t:.3f}"


def grow(n, t):
    values = []
    for k in range(n):
        values.append(np.cos(k * t))
    return np.array(values)


def matrix(a, b, t):
    for _ in range(5):
        a = a @ b + t * np.eye(len(a))
        a /= np.abs(a).max()
    return a


def histogram(x, edges):
    counts = np.zeros(len(edges) - 1, int)
    for k in range(len(edges) - 1):
        counts[k] = np.count_nonzero((x >= edges[k]) & (x < edges[k + 1]))
    return counts


def round_of(k):
    """Return the results of one round as arrays and numbers."""
    rng = np.random.default_rng(k)
    t, n = 0.01 * k, 5 + k % 37
    bodies = [Body(1.0 + i + t, (i, i * i % 3 + t, -i)) for i in range(3 + k % 3)]
    results = [forces(bodies), bodies[0].advance(0.01 + t * 1e-3).copy()]
    results += [trimmed(rng.random(2000 + 10 * (k % 50)))]
    results += [*relax(np.zeros(n), rng.random(n), 1.0 / n, 1e-6)]
    results += [diffuse(rng.random((n, 2 * n)), 0.1 + 1e-4 * (k % 100), 8 + k % 5)]
    results += [image(8 + k % 4, 12, 10 + k % 7), walk(rng, 20 + k % 20)]
    table = {f"a{k % 1000}": rng.random(4), "b": rng.random(2 + k % 4)}
    results += [pick(table, k % 4, t)]
    scale = rng.random(3)

    def scaled(x):
        return x * scale + t

    results += [apply_all([scaled, lambda x: x - scale[k % 3], np.tanh], rng.random((4, 3)))]
    total, text = series(rng.random(300), t, f"round {k}")
    results += [total, len(text), grow(10 + k % 10, t)]
    results += [
        matrix(rng.random((6, 6)), rng.random((6, 6)), t % 1),
        histogram(rng.random(500), np.linspace(0, 1, 8 + k % 5)),
    ]
    if k % 50 == 0:  # a class that is made anew
        kind = type(f"Body{k}", (Body,), {})
        results += [kind(2.0, (1, 2, t)).advance(0.5)]
    return results
