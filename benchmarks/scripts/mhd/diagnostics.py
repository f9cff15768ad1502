"""What is printed."""

import numpy as np

from grid import div_of_faces


def report(t, rho, vx, vy, bx, by, vol, dx):
    kinetic = 0.5 * np.sum(rho * (vx**2 + vy**2)) * vol
    magnetic = 0.5 * np.sum(bx**2 + by**2) * vol
    clean = np.mean(np.abs(div_of_faces(bx, by, dx))) < 1e-9
    print(f"t = {t:.2f}  density {rho.min():.3f} to {rho.max():.3f}  kinetic {kinetic:.4f}  magnetic {magnetic:.4f}  div B = 0: {clean}")


def profile(rho, count=10):
    row = rho[:, rho.shape[1] // 3]
    print("density along x:", " ".join("%.3f" % value for value in row[:: len(row) // count]))
