"""Conserved and primitive variables; the pressure includes the field's."""


def conserved(rho, vx, vy, P, Bx, By, gamma, vol):
    mass = rho * vol
    momx = rho * vx * vol
    momy = rho * vy * vol
    energy = ((P - 0.5 * (Bx**2 + By**2)) / (gamma - 1) + 0.5 * rho * (vx**2 + vy**2) + 0.5 * (Bx**2 + By**2)) * vol
    return mass, momx, momy, energy


def primitive(mass, momx, momy, energy, Bx, By, gamma, vol):
    rho = mass / vol
    vx = momx / rho / vol
    vy = momy / rho / vol
    P = (energy / vol - 0.5 * rho * (vx**2 + vy**2) - 0.5 * (Bx**2 + By**2)) * (gamma - 1) + 0.5 * (Bx**2 + By**2)
    return rho, vx, vy, P
