"""A piece of cloth of masses and springs hangs at two corners, in a gusty wind, and falls onto a ball.

Main loop: in `main()`, over time steps; positions are kept in a list now and then.
"""

import numpy as np

ROWS = 46
COLS = 46
SPACING = 0.05
MASS = 0.02
STIFFNESS = 400.0
DAMPING = 0.25
GRAVITY = np.array([0.0, 0.0, -9.81])
DT = 0.0005


def make_springs():
    """Pairs of nodes that are connected, with their lengths at rest."""
    springs = []
    for i in range(ROWS):
        for j in range(COLS):
            n = i * COLS + j
            if j + 1 < COLS:
                springs.append((n, n + 1, SPACING))
            if i + 1 < ROWS:
                springs.append((n, n + COLS, SPACING))
            if i + 1 < ROWS and j + 1 < COLS:
                springs.append((n, n + COLS + 1, SPACING * np.sqrt(2)))
                springs.append((n + 1, n + COLS, SPACING * np.sqrt(2)))
            if j + 2 < COLS:
                springs.append((n, n + 2, 2 * SPACING))
            if i + 2 < ROWS:
                springs.append((n, n + 2 * COLS, 2 * SPACING))
    a = np.array([s[0] for s in springs])
    b = np.array([s[1] for s in springs])
    rest = np.array([s[2] for s in springs])
    return a, b, rest


def spring_forces(x, v, a, b, rest):
    d = x[b] - x[a]
    length = np.sqrt((d**2).sum(axis=1))
    direction = d / length[:, None]
    relative = ((v[b] - v[a]) * direction).sum(axis=1)
    f = (STIFFNESS * (length - rest) + 0.02 * relative)[:, None] * direction
    force = np.zeros_like(x)
    np.add.at(force, a, f)
    np.add.at(force, b, -f)
    return force, 0.5 * STIFFNESS * ((length - rest) ** 2).sum()


def wind(t):
    return np.array([0.0, 0.15 * np.sin(2 * np.pi * t), 0.03 * np.cos(5 * t)])


def collide(x, v, centre, radius):
    d = x - centre
    r = np.sqrt((d**2).sum(axis=1))
    inside = r < radius
    if inside.any():
        normal = d[inside] / r[inside][:, None]
        x[inside] = centre + radius * normal
        vn = (v[inside] * normal).sum(axis=1)
        v[inside] -= np.minimum(vn, 0)[:, None] * normal
        v[inside] *= 0.98
    return np.count_nonzero(inside)


def main():
    a, b, rest = make_springs()
    j, i = np.meshgrid(np.arange(COLS), np.arange(ROWS))
    x = np.stack([j.ravel() * SPACING, np.zeros(ROWS * COLS), -i.ravel() * SPACING], axis=1)
    # lifted, so that it swings down
    x[:, 1] = -0.6 * x[:, 2]
    x[:, 2] *= 0.8
    v = np.zeros_like(x)
    pinned = np.array([0, COLS - 1])
    ball = np.array([1.1, -0.1, -1.3])
    frames = []
    touching = 0

    print("nodes:", len(x), "springs:", len(a))
    for step in range(9000):
        t = step * DT
        force, elastic = spring_forces(x, v, a, b, rest)
        force += MASS * GRAVITY
        force += MASS * wind(t)
        force -= DAMPING * MASS * v

        v += DT * force / MASS
        v[pinned] = 0
        x += DT * v
        touching = collide(x, v, ball, 0.3)

        if t > 3.0 and len(pinned) == 2:
            pinned = np.array([0])
            print("one corner is let go")
        if step % 100 == 0:
            frames.append(x.copy())
        if step % 1000 == 0:
            kinetic = 0.5 * MASS * (v**2).sum()
            print("t = %.2f  elastic %6.1f  kinetic %6.1f  lowest %.2f" % (t, elastic, kinetic, x[:, 2].min()))

    frames = np.array(frames)
    path = np.sqrt((np.diff(frames[:, -1], axis=0) ** 2).sum(axis=1)).sum()
    print("frames:", frames.shape)
    print("path of the free corner: %.1f" % path)
    print("contact at the end:", touching > 0)


if __name__ == "__main__":
    main()
