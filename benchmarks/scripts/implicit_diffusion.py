"""Diffusion in a porous block with implicit time steps and a sparse matrix, and a steady state at the end.

Main loop: `while` over time in `main()`, with a sparse solve of SciPy for each step.
"""
# nothing to gain: SciPy's sparse solvers take nearly all the time

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla


def permeability(n, rng):
    k = np.exp(0.8 * rng.standard_normal((n, n)))
    for _ in range(3):
        k = 0.25 * (np.roll(k, 1, 0) + np.roll(k, -1, 0) + np.roll(k, 1, 1) + np.roll(k, -1, 1))
    return k


def assemble(k, h):
    """The five-point matrix with harmonic means of the permeability at the faces."""
    n = k.shape[0]
    index = np.arange(n * n).reshape(n, n)
    rows, cols, values = [], [], []
    diagonal = np.zeros((n, n))

    fx = 2 * k[1:] * k[:-1] / (k[1:] + k[:-1]) / h**2
    fy = 2 * k[:, 1:] * k[:, :-1] / (k[:, 1:] + k[:, :-1]) / h**2
    for first, second, f in [(index[:-1], index[1:], fx), (index[:, :-1], index[:, 1:], fy)]:
        rows += [first.ravel(), second.ravel()]
        cols += [second.ravel(), first.ravel()]
        values += [f.ravel(), f.ravel()]
    diagonal[:-1] += fx
    diagonal[1:] += fx
    diagonal[:, :-1] += fy
    diagonal[:, 1:] += fy
    # fixed values outside the left and the right side
    diagonal[0] += 2 * k[0] / h**2
    diagonal[-1] += 2 * k[-1] / h**2
    rows.append(index.ravel())
    cols.append(index.ravel())
    values.append(-diagonal.ravel())
    A = sp.coo_matrix((np.concatenate(values), (np.concatenate(rows), np.concatenate(cols))), shape=(n * n, n * n))
    b = np.zeros((n, n))
    b[0] = 2 * k[0] / h**2 * 1.0
    return A.tocsr(), b.ravel()


def main():
    rng = np.random.default_rng(0)
    n = 310
    h = 1.0 / n
    k = permeability(n, rng)
    A, b = assemble(k, h)
    print("unknowns:", n * n, "entries:", A.nnz)

    u = np.zeros(n * n)
    t = 0.0
    dt = 1e-4
    step = 0
    identity = sp.identity(n * n, format="csc")
    while t < 0.5:
        lu = spla.splu((identity - dt * A).tocsc())
        u_new = lu.solve(u + dt * b)
        change = np.abs(u_new - u).max()
        u = u_new
        t += dt
        step += 1
        if step % 5 == 0:
            print("step %3d  t = %.4f  mean %.4f  change %.4f" % (step, t, u.mean(), change))
        # longer steps once the solution is smooth
        dt = min(1.2 * dt, 0.02)

    steady = spla.spsolve(A, -b)
    print("distance from the steady state: %.4f" % np.abs(steady - u).max())
    flux = (2 * k[-1] / h * steady.reshape(n, n)[-1]).sum() * h
    print("effective permeability: %.4f  mean: %.4f" % (flux, k.mean()))


if __name__ == "__main__":
    main()
