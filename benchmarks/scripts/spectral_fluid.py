"""Two-dimensional turbulence: the vorticity equation in a periodic box by a pseudo-spectral method.

Main loop: at module level, third-order Runge-Kutta, spectra printed now and then, `np.save` of snapshots
into a temporary folder.
"""

import os
import shutil
import tempfile

import numpy as np
from numpy.fft import fft2, ifft2

N = 256
nu = 8e-5
dt = 0.004
n_steps = 1100
every = 200

np.random.seed(0)

k = np.fft.fftfreq(N, 1.0 / N)
kx, ky = np.meshgrid(k, k, indexing="ij")
k2 = kx**2 + ky**2
k2_inv = np.where(k2 == 0, 1.0, k2) ** -1
k2_inv[0, 0] = 0.0
dealias = (np.abs(kx) < N / 3) & (np.abs(ky) < N / 3)
damping = np.exp(-nu * k2 * dt)


def velocity(w_hat):
    psi_hat = w_hat * k2_inv
    u = np.real(ifft2(1j * ky * psi_hat))
    v = np.real(ifft2(-1j * kx * psi_hat))
    return u, v


def nonlinear(w_hat):
    u, v = velocity(w_hat)
    w_x = np.real(ifft2(1j * kx * w_hat))
    w_y = np.real(ifft2(1j * ky * w_hat))
    return -fft2(u * w_x + v * w_y) * dealias


def rhs(w_hat, t):
    forcing = np.zeros((N, N), dtype=complex)
    forcing[4, 0] = forcing[-4, 0] = 0.1 * N**2 * np.cos(t)
    return nonlinear(w_hat) - nu * k2 * w_hat + forcing


def energy(w_hat):
    return 0.5 * np.sum(np.abs(w_hat) ** 2 * k2_inv) / N**4


def enstrophy(w_hat):
    return 0.5 * np.sum(np.abs(w_hat) ** 2) / N**4


def spectrum(w_hat, n_shells=24):
    """The energy in shells of the wave number."""
    density = 0.5 * np.abs(w_hat) ** 2 * k2_inv / N**4
    radius = np.sqrt(k2)
    shells = np.zeros(n_shells)
    for s in range(n_shells):
        shells[s] = density[(radius >= s) & (radius < s + 1)].sum()
    return shells


# random vorticity with energy at intermediate scales
phase = np.random.rand(N, N) * 2 * np.pi
amplitude = np.sqrt(k2) * np.exp(-((np.sqrt(k2) - 6) ** 2) / 8)
w = np.real(ifft2(amplitude * np.exp(1j * phase)))
w *= 5.0 / np.sqrt(np.mean(w**2))
w_hat = fft2(w) * dealias

folder = tempfile.mkdtemp()
t = 0.0
saved = []

for step in range(n_steps + 1):
    if step % every == 0:
        u, v = velocity(w_hat)
        speed = np.sqrt(u**2 + v**2).max()
        print(f"t = {t:5.2f}  energy {energy(w_hat):.4f}  enstrophy {enstrophy(w_hat):.3f}  CFL {speed * dt * N / (2 * np.pi):.2f}")
        name = os.path.join(folder, f"vorticity_{step:05d}.npy")
        np.save(name, np.real(ifft2(w_hat)).astype(np.float32))
        saved.append(name)

    k1 = rhs(w_hat, t)
    w1 = w_hat + dt * k1
    k2_ = rhs(w1, t + dt)
    w2 = 0.75 * w_hat + 0.25 * (w1 + dt * k2_)
    k3 = rhs(w2, t + 0.5 * dt)
    w_hat = w_hat / 3 + 2.0 / 3.0 * (w2 + dt * k3)
    t += dt

print("spectrum:", " ".join("%.1e" % e for e in spectrum(w_hat)[1:12]))
first = np.load(saved[0])
final = np.load(saved[-1])
print("snapshots:", len(saved), first.shape, first.dtype)
print("rms vorticity: %.3f -> %.3f" % (np.sqrt(np.mean(first**2)), np.sqrt(np.mean(final**2))))
kurtosis = np.mean(final**4) / np.mean(final**2) ** 2
print("kurtosis: %.2f" % kurtosis)
shutil.rmtree(folder)
