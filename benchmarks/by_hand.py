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

import np2tf

PROGRAMS = Path(__file__).resolve().parent.parent / "fixtures" / "programs"
ROUNDS = 15

jax.config.update("jax_enable_x64", True)


#: The functions by hand, which are used on accelerators too.
sys.path.insert(0, str(Path(__file__).with_name("accelerator")))
from jax_by_hand import cg, escape_times, simulate  # noqa: E402


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
        jax.jit(lambda c: escape_times(c, 30)),
        (c,),
    )
    report(
        "nbody",
        lambda pos, vel, mass: nbody.simulate(pos.copy(), vel.copy(), mass, 0.005, 250)[0],
        lambda pos, vel, mass: bodies.simulate(pos.copy(), vel.copy(), mass, 0.005, 250)[0],
        jax.jit(lambda pos, vel, mass: simulate(pos, vel, mass, 0.005, 250)),
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
        jax.jit(cg),
        (b, ax, ay, inv_diag),
    )


if __name__ == "__main__":
    main()
