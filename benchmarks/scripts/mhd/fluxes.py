"""The flux through the faces: local Lax-Friedrichs."""

import numpy as np


def total_energy(q, gamma):
    magnetic = 0.5 * (q["Bx"] ** 2 + q["By"] ** 2)
    return (q["P"] - magnetic) / (gamma - 1) + 0.5 * q["rho"] * (q["vx"] ** 2 + q["vy"] ** 2) + magnetic


def fast_speed(q, normal, gamma):
    c0 = np.sqrt(gamma * (q["P"] - 0.5 * (q["Bx"] ** 2 + q["By"] ** 2)) / q["rho"])
    ca = np.sqrt((q["Bx"] ** 2 + q["By"] ** 2) / q["rho"])
    return np.sqrt(0.5 * (c0**2 + ca**2) + 0.5 * np.sqrt((c0**2 + ca**2) ** 2)) + np.abs(q[normal])


def get_flux(left, right, direction, gamma):
    """Fluxes of mass, normal and transverse momentum, energy and the transverse field."""
    vn, vt, Bn, Bt = ("vx", "vy", "Bx", "By") if direction == "x" else ("vy", "vx", "By", "Bx")

    en_l = total_energy(left, gamma)
    en_r = total_energy(right, gamma)

    rho = 0.5 * (left["rho"] + right["rho"])
    momn = 0.5 * (left["rho"] * left[vn] + right["rho"] * right[vn])
    momt = 0.5 * (left["rho"] * left[vt] + right["rho"] * right[vt])
    en = 0.5 * (en_l + en_r)
    bn = 0.5 * (left[Bn] + right[Bn])
    bt = 0.5 * (left[Bt] + right[Bt])
    P = (gamma - 1) * (en - 0.5 * (momn**2 + momt**2) / rho - 0.5 * (bn**2 + bt**2)) + 0.5 * (bn**2 + bt**2)

    flux_mass = momn
    flux_momn = momn**2 / rho + P - bn * bn
    flux_momt = momn * momt / rho - bn * bt
    flux_energy = (en + P) * momn / rho - bn * (bn * momn + bt * momt) / rho
    flux_bt = (bt * momn - bn * momt) / rho

    c = np.maximum(fast_speed(left, vn, gamma), fast_speed(right, vn, gamma))
    flux_mass = flux_mass - c * 0.5 * (left["rho"] - right["rho"])
    flux_momn = flux_momn - c * 0.5 * (left["rho"] * left[vn] - right["rho"] * right[vn])
    flux_momt = flux_momt - c * 0.5 * (left["rho"] * left[vt] - right["rho"] * right[vt])
    flux_energy = flux_energy - c * 0.5 * (en_l - en_r)
    flux_bt = flux_bt - c * 0.5 * (left[Bt] - right[Bt])
    return flux_mass, flux_momn, flux_momt, flux_energy, flux_bt
