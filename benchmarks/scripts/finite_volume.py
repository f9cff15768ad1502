"""Compressible Euler equations in a periodic box by a finite volume method: the Kelvin-Helmholtz instability.

Main loop: `while t < t_end` in `main()`, which calls small helper functions for each step.
"""

import numpy as np


def get_conserved(rho, vx, vy, P, gamma, vol):
    """Mass, momentum and energy of the cells from the primitive variables."""
    mass = rho * vol
    momx = rho * vx * vol
    momy = rho * vy * vol
    energy = (P / (gamma - 1) + 0.5 * rho * (vx**2 + vy**2)) * vol
    return mass, momx, momy, energy


def get_primitive(mass, momx, momy, energy, gamma, vol):
    """Density, velocity and pressure of the cells from the conserved variables."""
    rho = mass / vol
    vx = momx / rho / vol
    vy = momy / rho / vol
    P = (energy / vol - 0.5 * rho * (vx**2 + vy**2)) * (gamma - 1)
    return rho, vx, vy, P


def get_gradient(f, dx):
    """Central differences, periodic."""
    f_dx = (np.roll(f, -1, axis=0) - np.roll(f, 1, axis=0)) / (2 * dx)
    f_dy = (np.roll(f, -1, axis=1) - np.roll(f, 1, axis=1)) / (2 * dx)
    return f_dx, f_dy


def limit_slope(f, f_dx, f_dy, dx):
    """Minmod-like limiter, to keep the shocks from ringing."""
    left = (f - np.roll(f, 1, axis=0)) / dx
    right = (np.roll(f, -1, axis=0) - f) / dx
    f_dx = np.where(left * right > 0, np.sign(f_dx) * np.minimum(np.abs(f_dx), 2 * np.minimum(abs(left), abs(right))), 0)
    left = (f - np.roll(f, 1, axis=1)) / dx
    right = (np.roll(f, -1, axis=1) - f) / dx
    f_dy = np.where(left * right > 0, np.sign(f_dy) * np.minimum(np.abs(f_dy), 2 * np.minimum(abs(left), abs(right))), 0)
    return f_dx, f_dy


def to_faces(f, f_dx, f_dy, dx):
    """Values on both sides of the faces in x and in y."""
    f_xl = np.roll(f - f_dx * dx / 2, -1, axis=0)
    f_xr = f + f_dx * dx / 2
    f_yl = np.roll(f - f_dy * dx / 2, -1, axis=1)
    f_yr = f + f_dy * dx / 2
    return f_xl, f_xr, f_yl, f_yr


def get_flux(rho_l, rho_r, vx_l, vx_r, vy_l, vy_r, P_l, P_r, gamma):
    """Rusanov flux through the faces."""
    en_l = P_l / (gamma - 1) + 0.5 * rho_l * (vx_l**2 + vy_l**2)
    en_r = P_r / (gamma - 1) + 0.5 * rho_r * (vx_r**2 + vy_r**2)

    rho = 0.5 * (rho_l + rho_r)
    momx = 0.5 * (rho_l * vx_l + rho_r * vx_r)
    momy = 0.5 * (rho_l * vy_l + rho_r * vy_r)
    en = 0.5 * (en_l + en_r)
    P = (gamma - 1) * (en - 0.5 * (momx**2 + momy**2) / rho)

    flux_mass = momx
    flux_momx = momx**2 / rho + P
    flux_momy = momx * momy / rho
    flux_energy = (en + P) * momx / rho

    c = np.maximum(np.sqrt(gamma * P_l / rho_l) + np.abs(vx_l), np.sqrt(gamma * P_r / rho_r) + np.abs(vx_r))
    flux_mass = flux_mass - c * 0.5 * (rho_l - rho_r)
    flux_momx = flux_momx - c * 0.5 * (rho_l * vx_l - rho_r * vx_r)
    flux_momy = flux_momy - c * 0.5 * (rho_l * vy_l - rho_r * vy_r)
    flux_energy = flux_energy - c * 0.5 * (en_l - en_r)
    return flux_mass, flux_momx, flux_momy, flux_energy


def apply_fluxes(F, flux_x, flux_y, dx, dt):
    F = F - dt * dx * flux_x
    F = F + dt * dx * np.roll(flux_x, 1, axis=0)
    F = F - dt * dx * flux_y
    F = F + dt * dx * np.roll(flux_y, 1, axis=1)
    return F


def main():
    N = 160
    gamma = 5 / 3
    courant = 0.4
    t = 0
    t_end = 1.2
    t_out = 0.1
    limiter = True

    dx = 1.0 / N
    vol = dx**2
    xlin = np.linspace(0.5 * dx, 1 - 0.5 * dx, N)
    Y, X = np.meshgrid(xlin, xlin)

    w0 = 0.1
    sigma = 0.05 / np.sqrt(2.0)
    inside = np.abs(Y - 0.5) < 0.25
    rho = 1.0 + inside
    vx = -0.5 + inside
    vy = w0 * np.sin(4 * np.pi * X) * (np.exp(-((Y - 0.25) ** 2) / (2 * sigma**2)) + np.exp(-((Y - 0.75) ** 2) / (2 * sigma**2)))
    P = 2.5 * np.ones(X.shape)

    mass, momx, momy, energy = get_conserved(rho, vx, vy, P, gamma, vol)

    outputs = 0
    steps = 0
    while t < t_end:
        rho, vx, vy, P = get_primitive(mass, momx, momy, energy, gamma, vol)

        dt = courant * np.min(dx / (np.sqrt(gamma * P / rho) + np.sqrt(vx**2 + vy**2)))
        if t + dt > (outputs + 1) * t_out:
            dt = (outputs + 1) * t_out - t
            outputs += 1
            print("t = %.2f  density in [%.2f, %.2f]  kinetic energy in y %.5f" % (t, rho.min(), rho.max(), 0.5 * np.sum(rho * vy**2) * vol))

        rho_dx, rho_dy = get_gradient(rho, dx)
        vx_dx, vx_dy = get_gradient(vx, dx)
        vy_dx, vy_dy = get_gradient(vy, dx)
        P_dx, P_dy = get_gradient(P, dx)

        if limiter:
            rho_dx, rho_dy = limit_slope(rho, rho_dx, rho_dy, dx)
            vx_dx, vx_dy = limit_slope(vx, vx_dx, vx_dy, dx)
            vy_dx, vy_dy = limit_slope(vy, vy_dx, vy_dy, dx)
            P_dx, P_dy = limit_slope(P, P_dx, P_dy, dx)

        # half a step in time
        rho_h = rho - 0.5 * dt * (vx * rho_dx + rho * vx_dx + vy * rho_dy + rho * vy_dy)
        vx_h = vx - 0.5 * dt * (vx * vx_dx + vy * vx_dy + (1 / rho) * P_dx)
        vy_h = vy - 0.5 * dt * (vx * vy_dx + vy * vy_dy + (1 / rho) * P_dy)
        P_h = P - 0.5 * dt * (gamma * P * (vx_dx + vy_dy) + vx * P_dx + vy * P_dy)

        rho_xl, rho_xr, rho_yl, rho_yr = to_faces(rho_h, rho_dx, rho_dy, dx)
        vx_xl, vx_xr, vx_yl, vx_yr = to_faces(vx_h, vx_dx, vx_dy, dx)
        vy_xl, vy_xr, vy_yl, vy_yr = to_faces(vy_h, vy_dx, vy_dy, dx)
        P_xl, P_xr, P_yl, P_yr = to_faces(P_h, P_dx, P_dy, dx)

        fm_x, fx_x, fy_x, fe_x = get_flux(rho_xl, rho_xr, vx_xl, vx_xr, vy_xl, vy_xr, P_xl, P_xr, gamma)
        fm_y, fy_y, fx_y, fe_y = get_flux(rho_yl, rho_yr, vy_yl, vy_yr, vx_yl, vx_yr, P_yl, P_yr, gamma)

        mass = apply_fluxes(mass, fm_x, fm_y, dx, dt)
        momx = apply_fluxes(momx, fx_x, fx_y, dx, dt)
        momy = apply_fluxes(momy, fy_x, fy_y, dx, dt)
        energy = apply_fluxes(energy, fe_x, fe_y, dx, dt)

        t += dt
        steps += 1

    print("steps:", steps)
    print("mass %.6f  energy %.5f" % (mass.sum(), energy.sum()))


if __name__ == "__main__":
    main()
