"""Gravity between the stars of a small cluster, by direct summation and leapfrog.

Main loop: in `main()`, with the energies printed each 100 steps.
"""

import numpy as np

G = 1.0
SOFTENING = 0.1


def acceleration(pos, mass):
    """Accelerations of all the particles, from all pairs at once."""
    x = pos[:, 0:1]
    y = pos[:, 1:2]
    z = pos[:, 2:3]

    dx = x.T - x
    dy = y.T - y
    dz = z.T - z

    inv_r3 = dx**2 + dy**2 + dz**2 + SOFTENING**2
    inv_r3[inv_r3 > 0] = inv_r3[inv_r3 > 0] ** (-1.5)

    ax = G * (dx * inv_r3) @ mass
    ay = G * (dy * inv_r3) @ mass
    az = G * (dz * inv_r3) @ mass
    return np.hstack((ax, ay, az))


def energies(pos, vel, mass):
    kinetic = 0.5 * np.sum(mass * vel**2)

    x = pos[:, 0:1]
    y = pos[:, 1:2]
    z = pos[:, 2:3]
    dx = x.T - x
    dy = y.T - y
    dz = z.T - z
    inv_r = np.sqrt(dx**2 + dy**2 + dz**2)
    inv_r[inv_r > 0] = 1.0 / inv_r[inv_r > 0]
    potential = G * np.sum(np.triu(-(mass * mass.T) * inv_r, 1))
    return kinetic, potential


def half_mass_radius(pos):
    r = np.sqrt(np.sum((pos - pos.mean(axis=0)) ** 2, axis=1))
    return np.median(r)


def main():
    N = 250
    t = 0.0
    dt = 0.005
    t_end = 10.0

    np.random.seed(0)
    mass = 20.0 * np.ones((N, 1)) / N
    pos = np.random.randn(N, 3)
    vel = np.random.randn(N, 3)
    vel -= np.mean(mass * vel, 0) / np.mean(mass)

    acc = acceleration(pos, mass)
    kinetic, potential = energies(pos, vel, mass)
    start = kinetic + potential
    print("start: kinetic %.2f  potential %.2f" % (kinetic, potential))

    n_steps = int(np.ceil(t_end / dt))
    pos_save = np.zeros((N, 3, n_steps + 1))
    pos_save[:, :, 0] = pos
    worst = 0.0

    for i in range(n_steps):
        vel += acc * dt / 2.0
        pos += vel * dt
        acc = acceleration(pos, mass)
        vel += acc * dt / 2.0
        t += dt

        kinetic, potential = energies(pos, vel, mass)
        worst = max(worst, abs((kinetic + potential - start) / start))
        pos_save[:, :, i + 1] = pos

        if (i + 1) % 100 == 0 and t < 2.1:
            print("t = %5.2f  kinetic %8.1f  potential %8.1f  half-mass radius %.1f" % (t, kinetic, potential, half_mass_radius(pos)))
        elif (i + 1) % 100 == 0:
            print("t = %5.2f  bound: %s" % (t, kinetic + potential < 0))

    print("energy kept to 20 %:", worst < 0.2)
    print("centre of mass at rest:", np.abs(np.mean(mass * vel, 0)).max() < 1e-9)
    print("saved:", pos_save.shape)


if __name__ == "__main__":
    main()
