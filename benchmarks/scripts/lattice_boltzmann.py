"""Flow past two cylinders in a channel by the lattice Boltzmann method (D2Q9, one relaxation time).

Main loop: in `main()`, over time steps, with the drag printed now and then.
"""

import numpy as np

Nx = 300
Ny = 90
rho0 = 100
tau = 0.6
Nt = 2800

NL = 9
idxs = np.arange(NL)
cxs = np.array([0, 0, 1, 1, 1, 0, -1, -1, -1])
cys = np.array([0, 1, 1, 0, -1, -1, -1, 0, 1])
weights = np.array([4 / 9, 1 / 9, 1 / 36, 1 / 9, 1 / 36, 1 / 9, 1 / 36, 1 / 9, 1 / 36])
opposite = [0, 5, 6, 7, 8, 1, 2, 3, 4]


def obstacles():
    X, Y = np.meshgrid(range(Nx), range(Ny))
    first = (X - Nx / 5) ** 2 + (Y - Ny / 2 + 4) ** 2 < (Ny / 8) ** 2
    second = (X - Nx / 2.2) ** 2 + (Y - Ny / 2 - 12) ** 2 < (Ny / 12) ** 2
    walls = (Y == 0) | (Y == Ny - 1)
    return first | second | walls, first


def equilibrium(rho, ux, uy):
    Feq = np.zeros((Ny, Nx, NL))
    for i, cx, cy, w in zip(idxs, cxs, cys, weights):
        Feq[:, :, i] = rho * w * (
            1 + 3 * (cx * ux + cy * uy) + 9 * (cx * ux + cy * uy) ** 2 / 2 - 3 * (ux**2 + uy**2) / 2
        )
    return Feq


def drift(F):
    for i, cx, cy in zip(idxs, cxs, cys):
        F[:, :, i] = np.roll(F[:, :, i], cx, axis=1)
        F[:, :, i] = np.roll(F[:, :, i], cy, axis=0)
    return F


def vorticity(ux, uy, solid):
    ux = np.where(solid, 0, ux)
    uy = np.where(solid, 0, uy)
    curl = (np.roll(ux, -1, axis=0) - np.roll(ux, 1, axis=0)) - (np.roll(uy, -1, axis=1) - np.roll(uy, 1, axis=1))
    return np.where(solid, 0, curl)


def main():
    np.random.seed(0)
    X, Y = np.meshgrid(range(Nx), range(Ny))
    F = np.ones((Ny, Nx, NL)) + 0.01 * np.random.randn(Ny, Nx, NL)
    F[:, :, 3] += 2 * (1 + 0.2 * np.cos(2 * np.pi * X / Nx * 4))
    rho = np.sum(F, 2)
    for i in idxs:
        F[:, :, i] *= rho0 / rho

    solid, cylinder = obstacles()
    print("cells:", Nx * Ny, "solid:", int(solid.sum()))

    for it in range(Nt):
        F = drift(F)

        # reflective boundaries
        bndryF = F[solid, :]
        bndryF = bndryF[:, opposite]
        drag = 2 * np.sum(F[cylinder, :] * cxs)

        rho = np.sum(F, 2)
        ux = np.sum(F * cxs, 2) / rho
        uy = np.sum(F * cys, 2) / rho

        Feq = equilibrium(rho, ux, uy)
        F += -(1.0 / tau) * (F - Feq)
        F[solid, :] = bndryF

        if it % 400 == 0:
            ux[solid] = 0
            uy[solid] = 0
            curl = vorticity(ux, uy, solid)
            print(f"step {it:5d}  mean flow {ux[~solid].mean():.4f}  drag {drag:9.2f}  enstrophy {np.mean(curl**2):.2e}")

    print(f"mass {rho.sum() / (Nx * Ny):.4f}")
    profile = ux[:: Ny // 9, Nx // 3]
    print("profile behind the first cylinder:", " ".join(f"{value:.3f}" for value in profile))


if __name__ == "__main__":
    main()
