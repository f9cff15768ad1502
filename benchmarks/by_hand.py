"""Compares loops of whole-array steps: translated, written by hand for XLA, and on NumPy.

    python benchmarks/by_hand.py        (needs jax beside np2tf)

Mandelbrot, conjugate gradients and n-body are the iterations of fixtures/programs that gain least. `jax.jit`
with `jax.lax.while_loop` shows how fast XLA can be on this machine.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import np2tf

PROGRAMS = Path(__file__).resolve().parent.parent / "fixtures" / "programs"
ROUNDS = 15

jax.config.update("jax_enable_x64", True)


@jax.jit
def escape_times(c: Any) -> Any:
    """Do `mandelbrot.escape_times(c, 30)` by hand."""

    def step(state: Any) -> Any:
        i, _, z, n, mask = state
        z = jnp.where(mask, z**2 + c, z)
        escaped = mask & (jnp.abs(z) > 2.0)
        mask = mask & ~escaped
        return i + 1, ~mask.any(), z, jnp.where(escaped, i, n), mask

    start = (0, False, jnp.zeros_like(c), jnp.full(c.shape, 30), jnp.ones(c.shape, bool))
    return lax.while_loop(lambda state: (state[0] < 30) & ~state[1], step, start)[3]


def apply_operator(u: Any, ax: Any, ay: Any) -> Any:
    """Do `conjugate_gradient.apply_operator` by hand."""
    p = jnp.pad(u, 1)
    fx = ax * (p[1:, 1:-1] - p[:-1, 1:-1])
    fy = ay * (p[1:-1, 1:] - p[1:-1, :-1])
    return -(fx[1:] - fx[:-1] + fy[:, 1:] - fy[:, :-1])


@jax.jit
def cg(b: Any, ax: Any, ay: Any, inv_diag: Any) -> Any:
    """Do `conjugate_gradient.cg` by hand, preconditioned."""
    enough = 1e-12 * jnp.linalg.norm(b)

    def step(state: Any) -> Any:
        k, _, x, r, p, rz = state
        product = apply_operator(p, ax, ay)
        alpha = rz / jnp.vdot(p, product)
        x, r = x + alpha * p, r - alpha * product
        z = inv_diag * r
        rz_new = jnp.vdot(r, z)
        return k + 1, jnp.linalg.norm(r) <= enough, x, r, z + (rz_new / rz) * p, rz_new

    p = inv_diag * b
    start = (0, False, jnp.zeros_like(b), b, p, jnp.vdot(b, p))
    return lax.while_loop(lambda state: (state[0] < 2000) & ~state[1], step, start)[2]


@jax.jit
def simulate(pos: Any, vel: Any, mass: Any) -> Any:
    """Do `nbody.simulate` by hand, 250 steps."""
    dt, eps = 0.005, 0.1

    def accelerations(pos: Any) -> Any:
        d = pos[None, :, :] - pos[:, None, :]
        inv_r3 = (jnp.sum(d**2, axis=-1) + eps**2) ** -1.5
        return jnp.einsum("ijk,ij,j->ik", d, inv_r3, mass)

    def step(s: Any, state: Any) -> Any:
        pos, vel, acc, path = state
        vel = vel + 0.5 * dt * acc
        pos = pos + dt * vel
        acc = accelerations(pos)
        return pos, vel + 0.5 * dt * acc, acc, path.at[s].set(pos[0])

    return lax.fori_loop(0, 250, step, (pos, vel, accelerations(pos), jnp.zeros((250, 3))))[0]


def best(function: Callable[..., Any], *args: Any) -> float:
    """Return the shortest time of several calls, in milliseconds. The first call does not count."""
    jax.block_until_ready(function(*args))
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        jax.block_until_ready(function(*args))
        times.append(time.perf_counter() - start)
    return min(times) * 1e3


def report(name: str, plain: Any, translated: Any, by_hand: Any, args: tuple[Any, ...]) -> None:
    """Print one line of the table."""
    np.testing.assert_allclose(np.asarray(by_hand(*args)), plain(*args), rtol=1e-6)
    numpy, ours = best(plain, *args), best(translated, *args)
    jitted = best(by_hand, *map(jnp.asarray, args))
    print(f"{name:20}{numpy:10.1f}{ours:10.1f}{jitted:14.1f}{numpy / ours:9.2f}{numpy / jitted:14.2f}")


def main() -> None:
    """Measure and print all programs."""
    np2tf.config.tier = "compile"
    sys.path.insert(0, str(PROGRAMS))
    import conjugate_gradient
    import mandelbrot
    import nbody

    points = np2tf.import_module("mandelbrot", str(PROGRAMS / "mandelbrot.py"))
    gradients = np2tf.import_module("conjugate_gradient", str(PROGRAMS / "conjugate_gradient.py"))
    bodies = np2tf.import_module("nbody", str(PROGRAMS / "nbody.py"))
    print(f"{'ms':20}{'NumPy':>10}{'np2tf':>10}{'jax by hand':>14}{'ratio':>9}{'jax, ratio':>14}")
    c = mandelbrot.complex_grid(-2.0, 0.6, -1.2, 1.2, 1200, 1000)
    report(
        "mandelbrot",
        lambda c: mandelbrot.escape_times(c, 30),
        lambda c: points.escape_times(c, 30),
        escape_times,
        (c,),
    )
    report(
        "nbody",
        lambda pos, vel, mass: nbody.simulate(pos.copy(), vel.copy(), mass, 0.005, 250)[0],
        lambda pos, vel, mass: bodies.simulate(pos.copy(), vel.copy(), mass, 0.005, 250)[0],
        simulate,
        nbody.plummer_sphere(220),
    )
    ax, ay = conjugate_gradient.face_coefficients(conjugate_gradient.coefficient(128))
    grid = (np.arange(128) + 0.5) / 128
    b = np.outer(np.sin(np.pi * grid), grid * (1 - grid)) / 128**2
    inv_diag = 1.0 / (ax[1:] + ax[:-1] + ay[:, 1:] + ay[:, :-1])
    report(
        "conjugate_gradient",
        lambda *args: conjugate_gradient.cg(*args)[0],
        lambda *args: gradients.cg(*args)[0],
        cg,
        (b, ax, ay, inv_diag),
    )


if __name__ == "__main__":
    main()
