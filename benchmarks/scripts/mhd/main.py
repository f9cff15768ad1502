"""Ideal magnetohydrodynamics in two dimensions with constrained transport: the Orszag-Tang vortex.

Main loop: in `main()`, over time steps; the functions lie in the modules beside this one.
"""

import numpy as np

import diagnostics
from fluxes import get_flux
from grid import Grid, curl, divergence, gradient, to_faces
from state import conserved, primitive

GAMMA = 5.0 / 3.0
COURANT = 0.4
T_END = 0.9
T_OUT = 0.05


def orszag_tang(grid):
    X, Y = grid.X, grid.Y
    rho = (GAMMA**2 / (4 * np.pi)) * np.ones(X.shape)
    vx = -np.sin(2 * np.pi * Y)
    vy = np.sin(2 * np.pi * X)
    P = (GAMMA / (4 * np.pi)) * np.ones(X.shape)
    Az = np.cos(4 * np.pi * X) / (4 * np.pi * np.sqrt(4 * np.pi)) + np.cos(2 * np.pi * Y) / (
        2 * np.pi * np.sqrt(4 * np.pi)
    )
    bx, by = curl(Az, grid.dx)
    return rho, vx, vy, P, bx, by


def constrained_transport(bx, by, flux_by_x, flux_bx_y, dx, dt):
    """Updates the field on the faces, so that its divergence stays zero."""
    Ez = 0.25 * (
        -flux_by_x - np.roll(flux_by_x, -1, axis=1) + flux_bx_y + np.roll(flux_bx_y, -1, axis=0)
    )
    dbx, dby = curl(-Ez, dx)
    return bx + dt * dbx, by + dt * dby


def average_field(bx, by):
    Bx = 0.5 * (bx + np.roll(bx, 1, axis=0))
    By = 0.5 * (by + np.roll(by, 1, axis=1))
    return Bx, By


def time_step(rho, vx, vy, P, Bx, By, dx):
    c0 = np.sqrt(GAMMA * (P - 0.5 * (Bx**2 + By**2)) / rho)
    ca = np.sqrt((Bx**2 + By**2) / rho)
    fast = np.sqrt(c0**2 + ca**2)
    return COURANT * np.min(dx / (fast + np.sqrt(vx**2 + vy**2)))


def main():
    grid = Grid(264)
    dx, vol = grid.dx, grid.vol
    rho, vx, vy, P, bx, by = orszag_tang(grid)
    Bx, By = average_field(bx, by)
    # from here on, P is the total pressure
    P = P + 0.5 * (Bx**2 + By**2)
    mass, momx, momy, energy = conserved(rho, vx, vy, P, Bx, By, GAMMA, vol)

    t = 0.0
    steps = 0
    outputs = 1
    while t < T_END:
        Bx, By = average_field(bx, by)
        rho, vx, vy, P = primitive(mass, momx, momy, energy, Bx, By, GAMMA, vol)
        dt = time_step(rho, vx, vy, P, Bx, By, dx)
        show = False
        if t + dt > outputs * T_OUT:
            dt = outputs * T_OUT - t
            outputs += 1
            show = True

        slopes = [gradient(q, dx) for q in (rho, vx, vy, P, Bx, By)]
        (rho_dx, rho_dy), (vx_dx, vx_dy), (vy_dx, vy_dy), (P_dx, P_dy), (Bx_dx, Bx_dy), (By_dx, By_dy) = slopes

        rho_p = rho - 0.5 * dt * (vx * rho_dx + rho * vx_dx + vy * rho_dy + rho * vy_dy)
        vx_p = vx - 0.5 * dt * (
            vx * vx_dx + vy * vx_dy + (1 / rho) * P_dx - (2 * Bx / rho) * Bx_dx - (By / rho) * Bx_dy - (Bx / rho) * By_dy
        )
        vy_p = vy - 0.5 * dt * (
            vx * vy_dx + vy * vy_dy + (1 / rho) * P_dy - (2 * By / rho) * By_dy - (Bx / rho) * By_dx - (By / rho) * Bx_dx
        )
        P_p = P - 0.5 * dt * (
            (GAMMA * (P - 0.5 * (Bx**2 + By**2)) + By**2) * vx_dx
            - Bx * By * vy_dx
            + vx * P_dx
            + (GAMMA - 2) * (Bx * vx + By * vy) * Bx_dx
            - By * Bx * vx_dy
            + (GAMMA * (P - 0.5 * (Bx**2 + By**2)) + Bx**2) * vy_dy
            + vy * P_dy
            + (GAMMA - 2) * (Bx * vx + By * vy) * By_dy
        )
        Bx_p = Bx - 0.5 * dt * (-By * vx_dy + Bx * vy_dy + vy * Bx_dy - vx * By_dy)
        By_p = By - 0.5 * dt * (By * vx_dx - Bx * vy_dx - vy * Bx_dx + vx * By_dx)

        left_x, right_x, left_y, right_y = {}, {}, {}, {}
        names = ["rho", "vx", "vy", "P", "Bx", "By"]
        for name, q, (q_dx, q_dy) in zip(names, (rho_p, vx_p, vy_p, P_p, Bx_p, By_p), slopes):
            left_x[name], right_x[name], left_y[name], right_y[name] = to_faces(q, q_dx, q_dy, dx)

        fm_x, fx_x, fy_x, fe_x, fb_x = get_flux(left_x, right_x, "x", GAMMA)
        fm_y, fy_y, fx_y, fe_y, fb_y = get_flux(left_y, right_y, "y", GAMMA)

        mass = mass + divergence(fm_x, fm_y, dx, dt)
        momx = momx + divergence(fx_x, fx_y, dx, dt)
        momy = momy + divergence(fy_x, fy_y, dx, dt)
        energy = energy + divergence(fe_x, fe_y, dx, dt)
        bx, by = constrained_transport(bx, by, fb_x, fb_y, dx, dt)

        t += dt
        steps += 1
        if show:
            diagnostics.report(t, rho, vx, vy, bx, by, vol, dx)

    print("steps:", steps)
    print("mass %.5f  energy %.5f" % (mass.sum(), energy.sum()))
    diagnostics.profile(rho)


if __name__ == "__main__":
    main()
