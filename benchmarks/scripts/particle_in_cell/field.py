"""Poisson's equation on the mesh, and the force on the particles."""

import numpy as np


def solve_periodic(rhs, dx):
    """The potential by the Thomas algorithm, with the first point held at zero."""
    n = len(rhs)
    b = rhs[1:] * dx**2
    m = n - 1
    c = np.zeros(m)
    d = np.zeros(m)
    c[0] = -0.5
    d[0] = -0.5 * b[0]
    for i in range(1, m):
        denominator = -2.0 - c[i - 1]
        c[i] = 1.0 / denominator
        d[i] = (b[i] - d[i - 1]) / denominator
    phi = np.zeros(n)
    phi[m] = d[m - 1]
    for i in range(m - 2, -1, -1):
        phi[i + 1] = d[i] - c[i] * phi[i + 2]
    return phi


def electric_field(density, mesh, n0):
    rhs = density - n0
    rhs = rhs - np.mean(rhs)
    phi = solve_periodic(rhs, mesh.dx)
    return -(mesh.gradient @ phi)


def acceleration(pos, mesh, n0):
    j, jp1, weight_j, weight_jp1 = mesh.weights(pos)
    E_grid = electric_field(mesh.density(pos, n0), mesh, n0)
    E = weight_j * E_grid[j] + weight_jp1 * E_grid[jp1]
    return -E
