"""A wave on a string with a heavy and a light half, and damping; records the motion of a few points.

Main loop: in `main()`, which appends to lists at each iteration.
"""

import numpy as np


def initial_shape(x, centre=0.3, width=0.05):
    """A pulse."""
    return np.exp(-((x - centre) ** 2) / (2 * width**2))


def kinetic_energy(u, u_old, rho, dx, dt):
    velocity = (u - u_old) / dt
    return 0.5 * np.sum(rho * velocity**2) * dx


def potential_energy(u, tension, dx):
    strain = (u[1:] - u[:-1]) / dx
    return 0.5 * tension * np.sum(strain**2) * dx


def main():
    n = 801
    tension = 1.0
    gamma = 0.02
    x = np.linspace(0.0, 1.0, n)
    dx = x[1] - x[0]

    rho = np.where(x < 0.5, 1.0, 4.0)
    c2 = tension / rho
    dt = 0.8 * dx / np.sqrt(c2.max())
    n_steps = 180000

    u_prev = initial_shape(x)
    u_prev[0] = u_prev[-1] = 0.0
    u = u_prev.copy()

    track = []
    energies = []
    crossings = 0
    last = u[n // 4]

    for it in range(n_steps):
        u_next = np.zeros(n)
        lap = u[2:] - 2 * u[1:-1] + u[:-2]
        u_next[1:-1] = (
            2 * u[1:-1]
            - (1 - 0.5 * gamma * dt) * u_prev[1:-1]
            + c2[1:-1] * dt**2 / dx**2 * lap
        ) / (1 + 0.5 * gamma * dt)

        u_prev = u
        u = u_next

        track.append((u[n // 4], u[n // 2], u[3 * n // 4]))
        if it % 10 == 0:
            energies.append(kinetic_energy(u, u_prev, rho, dx, dt) + potential_energy(u, tension, dx))
        if last * u[n // 4] < 0:
            crossings += 1
        last = u[n // 4]

        if it % 20000 == 0:
            print(f"t = {it * dt:7.3f}  energy = {energies[-1]:.5f}  max = {np.abs(u).max():.4f}")

    track = np.array(track)
    energies = np.array(energies)

    print("shape of the track:", track.shape)
    print("rms at the three points:", np.round(np.sqrt((track**2).mean(axis=0)), 4))
    print(f"energy lost: {100 * (1 - energies[-1] / energies[1]):.2f} %")

    spectrum = np.abs(np.fft.rfft(track[:, 0]))
    print("strongest frequencies:", np.sort(np.argsort(spectrum)[-5:]))
    print("sign changes of the first point:", "many" if crossings > 50 else "few")


if __name__ == "__main__":
    main()
