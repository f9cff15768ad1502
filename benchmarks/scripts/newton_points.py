"""Kepler's equation for many orbits by Newton's method, point by point, and the basins of a cubic.

Main loop: over points at module level, with a `while` of Newton's steps for each.
"""

import numpy as np


def kepler(M, e, tol=1e-12, max_iter=50):
    """The eccentric anomaly."""
    E = M if e < 0.8 else np.pi
    n = 0
    while n < max_iter:
        delta = (E - e * np.sin(E) - M) / (1 - e * np.cos(E))
        E = E - delta
        n += 1
        if abs(delta) < tol:
            break
    return E, n


def position(E, a, e):
    return a * (np.cos(E) - e), a * np.sqrt(1 - e**2) * np.sin(E)


np.random.seed(0)
n_orbits = 500
n_times = 400
eccentricity = np.random.uniform(0, 0.9, n_orbits)
axis = np.random.uniform(0.5, 5.0, n_orbits)
mean_anomaly = np.linspace(0, 2 * np.pi, n_times, endpoint=False)

x = np.zeros((n_orbits, n_times))
y = np.zeros((n_orbits, n_times))
steps = np.zeros((n_orbits, n_times), dtype=int)

for i in range(n_orbits):
    for j in range(n_times):
        E, steps[i, j] = kepler(mean_anomaly[j], eccentricity[i])
        x[i, j], y[i, j] = position(E, axis[i], eccentricity[i])
    if i % 50 == 0:
        print("orbit %4d: e = %.3f, mean steps %.1f" % (i, eccentricity[i], steps[i].mean()))

r = np.sqrt(x**2 + y**2)
print("nearest %.3f, farthest %.3f" % (r.min(), r.max()))
print("time average of r over a: %.4f" % np.mean(r.mean(axis=1) / axis))

# the basins of z**3 = 1
size = 260
roots = [1, -0.5 + 0.8660254037844386j, -0.5 - 0.8660254037844386j]
basin = -np.ones((size, size), dtype=int)
for row in range(size):
    for col in range(size):
        z = complex(-1.5 + 3 * col / (size - 1), -1.5 + 3 * row / (size - 1))
        for k in range(40):
            if z == 0:
                break
            z = z - (z**3 - 1) / (3 * z**2)
            found = [m for m in range(3) if abs(z - roots[m]) < 1e-8]
            if found:
                basin[row, col] = found[0]
                break

print("shares of the basins:", np.round([np.mean(basin == m) for m in (-1, 0, 1, 2)], 2))
