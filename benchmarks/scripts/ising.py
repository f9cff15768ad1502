"""The Ising model in two dimensions by the Metropolis algorithm, spin by spin, for several temperatures.

Main loop: scalar loops of Python over sweeps and spins, in functions called from `main()`.
"""

import numpy as np

J = 1.0


def initial_state(L):
    return 2 * np.random.randint(2, size=(L, L)) - 1


def mc_sweep(state, beta):
    """L*L attempts to flip a spin."""
    L = len(state)
    for i in range(L):
        for j in range(L):
            a = np.random.randint(0, L)
            b = np.random.randint(0, L)
            s = state[a, b]
            nb = state[(a + 1) % L, b] + state[a, (b + 1) % L] + state[(a - 1) % L, b] + state[a, (b - 1) % L]
            cost = 2 * J * s * nb
            if cost < 0:
                s *= -1
            elif np.random.rand() < np.exp(-cost * beta):
                s *= -1
            state[a, b] = s
    return state


def energy_of(state):
    energy = 0
    L = len(state)
    for i in range(L):
        for j in range(L):
            s = state[i, j]
            nb = state[(i + 1) % L, j] + state[i, (j + 1) % L]
            energy += -J * nb * s
    return energy


def magnetisation_of(state):
    return np.sum(state)


def correlation(state, distance):
    total = 0.0
    L = len(state)
    for i in range(L):
        for j in range(L):
            total += state[i, j] * state[(i + distance) % L, j]
    return total / L**2


def main():
    np.random.seed(0)
    L = 20
    equilibration = 600
    measurements = 800
    temperatures = np.linspace(1.6, 3.2, 17)

    E = np.zeros(len(temperatures))
    M = np.zeros(len(temperatures))
    C = np.zeros(len(temperatures))
    X = np.zeros(len(temperatures))

    for k, T in enumerate(temperatures):
        state = initial_state(L)
        beta = 1.0 / T
        E1 = M1 = E2 = M2 = 0.0
        corr = 0.0

        for _ in range(equilibration):
            mc_sweep(state, beta)

        for _ in range(measurements):
            mc_sweep(state, beta)
            energy = energy_of(state)
            mag = abs(magnetisation_of(state))
            E1 += energy
            E2 += energy * energy
            M1 += mag
            M2 += mag * mag
            corr += correlation(state, 3)

        n1 = measurements * L * L
        E[k] = E1 / n1
        M[k] = M1 / n1
        C[k] = (E2 / n1 - E1 * E1 / (n1 * measurements)) * beta**2
        X[k] = (M2 / n1 - M1 * M1 / (n1 * measurements)) * beta
        print(f"T = {T:.2f}  E = {E[k]:.3f}  M = {M[k]:.3f}  C = {C[k]:.3f}  X = {X[k]:.3f}  corr(3) = {corr / measurements:.3f}")

    print(f"heat capacity is largest at T = {temperatures[np.argmax(C)]:.2f}")


if __name__ == "__main__":
    main()
