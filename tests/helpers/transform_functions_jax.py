"""Counterparts of functions of `transform_functions` that write in place, for JAX."""

from __future__ import annotations

import jax.numpy as np


def filled(x):
    return x**2 * np.arange(4.0)


def accumulated(x):
    out = np.ones(6).at[1:5].add(x)
    out = out.at[::2].multiply(3)
    return out.at[2].add(-x[0] * x[3])


def through_a_view(x):
    row = x.at[1:3].multiply(x[0])
    return 2 * row


def scattered(x):
    return np.zeros(3).at[np.array([0, 1, 0, 2])].add(x**2)


def overwritten(x):
    y = x.at[0].set(5.0)
    return np.where(y > 1, 0.5, y) * x


def stencil(x):
    u = x
    for _ in range(3):
        u = u.at[1:-1].set(u[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2]))
    return u


def elimination(m, v):
    a, b = m, v
    for k in range(3):
        for i in range(k + 1, 3):
            factor = a[i, k] / a[k, k]
            a = a.at[i].add(-factor * a[k])
            b = b.at[i].add(-factor * b[k])
    for k in range(2, -1, -1):
        b = b.at[k].set((b[k] - a[k, k + 1 :] @ b[k + 1 :]) / a[k, k])
    return b


def sorted_in_place(x):
    y = np.sort(x * 2)
    return y.at[0].set(y[1] * y[2])
