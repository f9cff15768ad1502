"""Heat conduction in a square plate with two hot plates inside, by explicit finite differences.

Main loop: at module level, with a print each 100 steps.
"""

import numpy as np

# physical parameters
alpha = 1.2e-4      # thermal diffusivity, m^2/s
length = 1.0        # m
nx = ny = 181

dx = length / (nx - 1)
dy = length / (ny - 1)
dt = 0.12 * dx**2 / alpha
nsteps = 3500

# initial temperature: a cold plate, with a hot bar and a hot disc in it
x = np.linspace(0, length, nx)
y = np.linspace(0, length, ny)
X, Y = np.meshgrid(x, y, indexing="ij")

T = 20.0 * np.ones((nx, ny))
T[(X > 0.2) & (X < 0.25) & (Y > 0.1) & (Y < 0.9)] = 400.0
T[(X - 0.7) ** 2 + (Y - 0.5) ** 2 < 0.01] = 250.0

# a conductivity that varies over the plate
kappa = 1.0 + 0.4 * np.sin(2 * np.pi * X) * np.cos(3 * np.pi * Y)

# Dirichlet on the left and right, insulated at the top and at the bottom
T_left = 100.0
T_right = 0.0

print("heat2d: %d x %d points, dt = %.4f s, %d steps" % (nx, ny, dt, nsteps))

total_flux = 0.0
for k in range(nsteps):
    Tn = T.copy()

    d2x = (Tn[2:, 1:-1] - 2 * Tn[1:-1, 1:-1] + Tn[:-2, 1:-1]) / dx**2
    d2y = (Tn[1:-1, 2:] - 2 * Tn[1:-1, 1:-1] + Tn[1:-1, :-2]) / dy**2
    dkx = (kappa[2:, 1:-1] - kappa[:-2, 1:-1]) / (2 * dx)
    dky = (kappa[1:-1, 2:] - kappa[1:-1, :-2]) / (2 * dy)
    dTx = (Tn[2:, 1:-1] - Tn[:-2, 1:-1]) / (2 * dx)
    dTy = (Tn[1:-1, 2:] - Tn[1:-1, :-2]) / (2 * dy)

    T[1:-1, 1:-1] = Tn[1:-1, 1:-1] + alpha * dt * (
        kappa[1:-1, 1:-1] * (d2x + d2y) + dkx * dTx + dky * dTy
    )

    # boundaries
    T[0, :] = T_left
    T[-1, :] = T_right
    T[:, 0] = T[:, 1]
    T[:, -1] = T[:, -2]

    total_flux += alpha * dt * np.sum(T[1, :] - T[0, :])

    if k % 100 == 0:
        print("step %5d  mean %8.3f  max %8.3f  centre %8.3f" % (k, T.mean(), T.max(), T[nx // 2, ny // 2]))

print("heat through the left side: %.4f" % total_flux)
print("hottest point:", np.unravel_index(np.argmax(T), T.shape))
profile = T[:: nx // 9, ny // 2]
print("profile:", " ".join("%.2f" % value for value in profile))
