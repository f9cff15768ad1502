"""Kernels, and functions of programs, as a person writes them for JAX: loops by `lax`, and whole arrays.

Each takes the arguments that the NumPy function takes, Python's numbers as they are, and returns its results.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.scipy.linalg import solve_triangular


def black_scholes(price: Any, strike: Any, years: Any, rate: float, volatility: float) -> Any:
    def normal_cdf(x: Any) -> Any:
        t = 1.0 / (1.0 + 0.2316419 * jnp.abs(x))
        parts = 0.319381530, -0.356563782, 1.781477937, -1.821255978, 1.330274429
        tail = jnp.exp(-0.5 * x * x) / jnp.sqrt(2.0 * jnp.pi) * t * jnp.polyval(jnp.array(parts[::-1]), t)
        return jnp.where(x >= 0, 1.0 - tail, tail)

    spread = volatility * jnp.sqrt(years)
    d1 = (jnp.log(price / strike) + (rate + 0.5 * volatility**2) * years) / spread
    d2 = d1 - spread
    discounted = strike * jnp.exp(-rate * years)
    call = price * normal_cdf(d1) - discounted * normal_cdf(d2)
    return call, discounted * normal_cdf(-d2) - price * normal_cdf(-d1)


def gemver(alpha: float, beta: float, a: Any, u1: Any, v1: Any, u2: Any, v2: Any, y: Any, z: Any) -> Any:
    a = a + jnp.outer(u1, v1) + jnp.outer(u2, v2)
    x = beta * (y @ a) + z
    return x, alpha * (a @ x)


def great_circle(theta1: Any, phi1: Any, theta2: Any, phi2: Any) -> Any:
    a = jnp.sin((theta2 - theta1) / 2) ** 2
    b = jnp.cos(theta1) * jnp.cos(theta2) * jnp.sin((phi2 - phi1) / 2) ** 2
    return 2 * jnp.arctan2(jnp.sqrt(a + b), jnp.sqrt(1 - (a + b)))


def jacobi_2d(a: Any, b: Any, steps: int) -> Any:
    def mean(u: Any) -> Any:
        return 0.2 * (u[1:-1, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] + u[2:, 1:-1] + u[:-2, 1:-1])

    def step(_: Any, state: Any) -> Any:
        a, b = state
        b = b.at[1:-1, 1:-1].set(mean(a))
        return a.at[1:-1, 1:-1].set(mean(b)), b

    return lax.fori_loop(0, steps, step, (a, b))


def jacobi_1d(a: Any, b: Any, steps: int) -> Any:
    def step(_: Any, state: Any) -> Any:
        a, b = state
        b = b.at[1:-1].set(0.33333 * (a[:-2] + a[1:-1] + a[2:]))
        return a.at[1:-1].set(0.33333 * (b[:-2] + b[1:-1] + b[2:])), b

    return lax.fori_loop(1, steps, step, (a, b))


def heat_3d(a: Any, b: Any, steps: int) -> Any:
    def after(u: Any) -> Any:
        inner = u[1:-1, 1:-1, 1:-1]
        return (
            inner
            + 0.125 * (u[2:, 1:-1, 1:-1] - 2 * inner + u[:-2, 1:-1, 1:-1])
            + 0.125 * (u[1:-1, 2:, 1:-1] - 2 * inner + u[1:-1, :-2, 1:-1])
            + 0.125 * (u[1:-1, 1:-1, 2:] - 2 * inner + u[1:-1, 1:-1, :-2])
        )

    def step(_: Any, state: Any) -> Any:
        a, b = state
        b = b.at[1:-1, 1:-1, 1:-1].set(after(a))
        return a.at[1:-1, 1:-1, 1:-1].set(after(b)), b

    return lax.fori_loop(0, steps, step, (a, b))[0]


def nbody(mass: Any, position: Any, velocity: Any, steps: int) -> Any:
    dt = 0.01

    def acceleration(position: Any) -> Any:
        d = position[None, :, :] - position[:, None, :]
        inverse = (jnp.sum(d**2, axis=-1) + 0.01) ** -1.5
        return jnp.einsum("ijk,ij,jl->ik", d, inverse, mass)

    def step(k: Any, state: Any) -> Any:
        position, velocity, pull, energy = state
        velocity = velocity + pull * dt / 2.0
        position = position + velocity * dt
        pull = acceleration(position)
        velocity = velocity + pull * dt / 2.0
        return position, velocity, pull, energy.at[k].set(0.5 * jnp.sum(mass * velocity**2))

    start = (position, velocity, acceleration(position), jnp.zeros(steps))
    position, _, _, energy = lax.fori_loop(0, steps, step, start)
    return position, energy


def mandelbrot(re: Any, im: Any, steps: int) -> Any:
    c = re[None, :] + 1j * im[:, None]

    def step(_: Any, state: Any) -> Any:
        z, count = state
        inside = z.real**2 + z.imag**2 < 4.0
        return jnp.where(inside, z * z + c, z), count + inside

    return lax.fori_loop(0, steps, step, (jnp.zeros_like(c), jnp.zeros(c.shape, jnp.int64)))[1]


def histogram(samples: Any, weights: Any, bins: int) -> Any:
    return jnp.zeros(bins).at[(samples * bins).astype(jnp.int64)].add(weights)


def lu(a: Any) -> Any:
    n = len(a)
    places = jnp.arange(n)

    def step(k: Any, a: Any) -> Any:
        column = jnp.where(places > k, a[:, k] / a[k, k], a[:, k])
        row = jnp.where(places > k, a[k], 0.0)
        a = a.at[:, k].set(column)
        return a - jnp.outer(jnp.where(places > k, column, 0.0), row)

    return lax.fori_loop(0, n - 1, step, a)


def cholesky(a: Any) -> Any:
    return jnp.linalg.cholesky(a)


def floyd_warshall(path: Any) -> Any:
    def step(k: Any, path: Any) -> Any:
        return jnp.minimum(path, path[:, k, None] + path[None, k, :])

    return lax.fori_loop(0, path.shape[0], step, path)


def sobel(image: Any, threshold: float) -> Any:
    dx = (image[:-2, 2:] + 2.0 * image[1:-1, 2:] + image[2:, 2:]) - (
        image[:-2, :-2] + 2.0 * image[1:-1, :-2] + image[2:, :-2]
    )
    dy = (image[2:, :-2] + 2.0 * image[2:, 1:-1] + image[2:, 2:]) - (
        image[:-2, :-2] + 2.0 * image[:-2, 1:-1] + image[:-2, 2:]
    )
    steepness = jnp.sqrt(dx * dx + dy * dy)
    steepness = steepness / steepness.max()
    return steepness, (steepness > threshold).sum()


def sparse_matvec(start: Any, columns: Any, values: Any, x: Any) -> Any:
    rows = jnp.searchsorted(start, jnp.arange(len(values)), side="right") - 1
    return jax.ops.segment_sum(values * x[columns], rows, len(start) - 1, indices_are_sorted=True)


def csr_slices(starts: Any, columns: Any, values: Any, x: Any, out: Any) -> Any:
    return sparse_matvec(starts, columns, values, x)


def vertical_advection(wind: Any, field: Any, tendency: Any, dt: float) -> Any:
    wind, field, tendency = (jnp.moveaxis(u, 2, 0) for u in (wind, field, tendency))
    zero = jnp.zeros_like(wind[:1])
    up = jnp.concatenate([0.25 * wind[1:], zero])
    down = jnp.concatenate([zero, -0.25 * wind[1:]])
    right = field / dt + tendency

    def forward(state: Any, level: Any) -> Any:
        c, d = state
        up, down, right = level
        centre = 1.0 / dt - up - down - down * c
        state = up / centre, (right - down * d) / centre
        return state, state

    def backward(out: Any, level: Any) -> Any:
        c, d = level
        out = d - c * out
        return out, out

    _, levels = lax.scan(forward, (zero[0], zero[0]), (up, down, right))
    _, out = lax.scan(backward, zero[0], levels, reverse=True)
    return jnp.moveaxis((out - field) / dt, 0, 2)


def thomas_3d(lower: Any, diagonal: Any, upper: Any, field: Any) -> Any:
    parts = [jnp.moveaxis(u, 2, 0) for u in (lower, diagonal, upper, field)]

    def forward(state: Any, level: Any) -> Any:
        c, d = state
        lower, diagonal, upper, field = level
        pivot = diagonal - lower * c
        state = upper / pivot, (field - lower * d) / pivot
        return state, state

    def backward(out: Any, level: Any) -> Any:
        c, d = level
        out = d - c * out
        return out, out

    zero = jnp.zeros_like(parts[0][0])
    _, levels = lax.scan(forward, (zero, zero), tuple(parts))
    _, out = lax.scan(backward, zero, levels, reverse=True)
    return jnp.moveaxis(out, 0, 2)


def horizontal_diffusion(u: Any, coefficient: Any) -> Any:
    lap = 4.0 * u[1:-1, 1:-1] - (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2])
    fx = lap[1:, 1:-1] - lap[:-1, 1:-1]
    fx = jnp.where(fx * (u[2:-1, 2:-2] - u[1:-2, 2:-2]) > 0, 0.0, fx)
    fy = lap[1:-1, 1:] - lap[1:-1, :-1]
    fy = jnp.where(fy * (u[2:-2, 2:-1] - u[2:-2, 1:-2]) > 0, 0.0, fy)
    return u[2:-2, 2:-2] - coefficient * (fx[1:] - fx[:-1] + fy[:, 1:] - fy[:, :-1])


def game_of_life(cells: Any, steps: int) -> Any:
    def step(_: Any, cells: Any) -> Any:
        rows = jnp.roll(cells, 1, 0) + cells + jnp.roll(cells, -1, 0)
        around = jnp.roll(rows, 1, 1) + rows + jnp.roll(rows, -1, 1) - cells
        return ((around == 3) | ((around == 2) & (cells == 1))).astype(jnp.int64)

    return lax.fori_loop(0, steps, step, cells)


def maxwell_2d(ex: Any, ey: Any, hz: Any, source: Any) -> Any:
    def step(t: Any, state: Any) -> Any:
        ex, ey, hz = state
        ey = ey.at[0].set(source[t]).at[1:].add(-0.5 * (hz[1:] - hz[:-1]))
        ex = ex.at[:, 1:].add(-0.5 * (hz[:, 1:] - hz[:, :-1]))
        curl = ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1]
        return ex, ey, hz.at[:-1, :-1].add(-0.7 * curl)

    return lax.fori_loop(0, len(source), step, (ex, ey, hz))[2]


def wave_equation(u: Any, before: Any, courant: float, steps: int) -> Any:
    def step(_: Any, state: Any) -> Any:
        before, u = state
        bend = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4.0 * u[1:-1, 1:-1]
        inner = 2.0 * u[1:-1, 1:-1] - before[1:-1, 1:-1] + courant * bend
        after = u.at[1:-1, 1:-1].set(inner).at[0].set(u[1]).at[-1].set(u[-2])
        return u, after.at[:, 0].set(u[:, 1]).at[:, -1].set(u[:, -2])

    u = lax.fori_loop(0, steps, step, (before, u))[1]
    return u, (u * u).sum()


def correlation(data: Any) -> Any:
    n, m = data.shape
    deviation = jnp.std(data, axis=0)
    deviation = jnp.where(deviation <= 0.1, 1.0, deviation)
    scaled = (data - jnp.mean(data, axis=0)) / (jnp.sqrt(n) * deviation)
    return jnp.where(jnp.eye(m, dtype=bool), 1.0, scaled.T @ scaled)


def matrix_powers(a: Any, power: int) -> Any:
    return jnp.linalg.matrix_power(a, power)


def page_rank(links: Any, rank: Any, damping: float, tolerance: float) -> Any:
    def step(state: Any) -> Any:
        rank, _, steps = state
        new = damping * (links @ rank) + (1.0 - damping) / len(rank)
        new = new / new.sum()
        return new, jnp.abs(new - rank).sum(), steps + 1

    rank, _, steps = lax.while_loop(lambda state: state[1] > tolerance, step, (rank, 1.0, 0))
    return rank, steps


def k_means(points: Any, count: int, rounds: int) -> Any:
    def step(_: Any, state: Any) -> Any:
        centres, _ = state
        labels = jnp.argmin(((points[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2), axis=1)
        sums = jax.ops.segment_sum(points, labels, count)
        numbers = jax.ops.segment_sum(jnp.ones(len(points)), labels, count)[:, None]
        return jnp.where(numbers > 0, sums / jnp.maximum(numbers, 1), centres), labels

    labels = jnp.zeros(len(points), jnp.int64)
    return lax.fori_loop(0, rounds, step, (points[:count], labels))


def logistic_regression(x: Any, y: Any, rounds: int) -> Any:
    def probabilities(weights: Any, bias: Any) -> Any:
        return 1.0 / (1.0 + jnp.exp(-(x @ weights + bias)))

    def step(_: Any, state: Any) -> Any:
        weights, momentum, bias = state
        error = probabilities(weights, bias) - y
        momentum = 0.9 * momentum + x.T @ error / len(y)
        return weights - 0.2 * momentum, momentum, bias - 0.2 * error.mean()

    zeros = jnp.zeros(x.shape[1])
    weights, _, bias = lax.fori_loop(0, rounds, step, (zeros, zeros, jnp.zeros(())))
    return weights, bias, jnp.mean((probabilities(weights, bias) > 0.5) == (y > 0.5))


def inverse_distances(position: Any, mass: Any, steps: int) -> Any:
    def step(_: Any, state: Any) -> Any:
        position, velocity = state
        d = position[None, :, :] - position[:, None, :]
        squares = (d**2).sum(axis=2)
        weight = jnp.where(squares > 0, jnp.where(squares > 0, squares, 1.0) ** -1.5, 0.0)
        velocity = velocity + 1e-3 * jnp.einsum("ijk,ij,j->ik", d, weight, mass)
        return position + 1e-3 * velocity, velocity

    return lax.fori_loop(0, steps, step, (position, jnp.zeros_like(position)))


def bilateral_filter(image: Any, reach: int, near: float, alike: float) -> Any:
    h, w = image.shape
    padded = jnp.pad(image, reach, mode="edge")
    total, weights = jnp.zeros_like(image), jnp.zeros_like(image)
    for i in range(2 * reach + 1):
        for j in range(2 * reach + 1):
            other = padded[i : i + h, j : j + w]
            away = (i - reach) ** 2 + (j - reach) ** 2
            weight = jnp.exp(-away / (2 * near**2) - (other - image) ** 2 / (2 * alike**2))
            total, weights = total + weight * other, weights + weight
    return total / weights


def clipped_integers(x: Any, y: Any, a: int, b: int, c: int) -> Any:
    return jnp.clip(x, 2, 10) * a + y * b + c


def life_board(cells: Any, steps: int) -> Any:
    def step(k: Any, state: Any) -> Any:
        cells, alive = state
        cells = game_of_life(cells, 1)
        return cells, alive.at[k].set(cells.sum())

    cells, alive = lax.fori_loop(0, steps, step, (cells, jnp.zeros(steps, jnp.int64)))
    return cells, alive, steps


def triangular_solve(lower: Any, b: Any) -> Any:
    return solve_triangular(lower, b, lower=True)


def escape_times(c: Any, rounds: int) -> Any:
    """Do `mandelbrot.escape_times` of the programs."""

    def step(state: Any) -> Any:
        i, _, z, n, mask = state
        z = jnp.where(mask, z**2 + c, z)
        escaped = mask & (jnp.abs(z) > 2.0)
        mask = mask & ~escaped
        return i + 1, ~mask.any(), z, jnp.where(escaped, i, n), mask

    start = (0, False, jnp.zeros_like(c), jnp.full(c.shape, rounds), jnp.ones(c.shape, bool))
    return lax.while_loop(lambda state: (state[0] < rounds) & ~state[1], step, start)[3]


def _apply_operator(u: Any, ax: Any, ay: Any) -> Any:
    p = jnp.pad(u, 1)
    fx = ax * (p[1:, 1:-1] - p[:-1, 1:-1])
    fy = ay * (p[1:-1, 1:] - p[1:-1, :-1])
    return -(fx[1:] - fx[:-1] + fy[:, 1:] - fy[:, :-1])


def cg(b: Any, ax: Any, ay: Any, inv_diag: Any) -> Any:
    """Do `conjugate_gradient.cg` of the programs: the solution, and the number of steps."""
    enough = 1e-12 * jnp.linalg.norm(b)

    def step(state: Any) -> Any:
        k, _, x, r, p, rz = state
        product = _apply_operator(p, ax, ay)
        alpha = rz / jnp.vdot(p, product)
        x, r = x + alpha * p, r - alpha * product
        z = inv_diag * r
        rz_new = jnp.vdot(r, z)
        return k + 1, jnp.linalg.norm(r) <= enough, x, r, z + (rz_new / rz) * p, rz_new

    p = inv_diag * b
    start = (0, False, jnp.zeros_like(b), b, p, jnp.vdot(b, p))
    return lax.while_loop(lambda state: (state[0] < 2000) & ~state[1], step, start)[2]


def simulate(pos: Any, vel: Any, mass: Any, dt: float, steps: int) -> Any:
    """Do `nbody.simulate` of the programs."""
    eps = 0.1

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

    return lax.fori_loop(0, steps, step, (pos, vel, accelerations(pos), jnp.zeros((steps, 3))))[0]


def solve(u: Any, source: Any, h: float, tol: float, most: int) -> Any:
    """Do `jacobi_heat.solve` of the programs."""
    heat = h * h * source[1:-1, 1:-1]

    def step(state: Any) -> Any:
        u, sweeps, _ = state
        mean = 0.25 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] + heat)
        return u.at[1:-1, 1:-1].set(mean), sweeps + 1, jnp.abs(mean - u[1:-1, 1:-1]).max()

    start = (u, 0, jnp.asarray(2 * tol, u.dtype))
    return lax.while_loop(lambda state: (state[2] > tol) & (state[1] < most), step, start)


def price_paths(z: Any, s0: float, r: float, sigma: float, t: float) -> Any:
    """Do `option_pricing.price_paths` of the programs."""
    dt = t / z.shape[1]
    moves = jnp.exp((r - 0.5 * sigma**2) * dt + sigma * dt**0.5 * z).T

    def step(state: Any, move: Any) -> Any:
        s, total, highest = state
        s = s * move
        return (s, total + s, jnp.maximum(highest, s)), None

    s = jnp.full(z.shape[0], s0)
    (s, total, highest), _ = lax.scan(step, (s, jnp.zeros_like(s), s), moves)
    return s, total / z.shape[1], highest


def propagate(u0: Any, damp: Any, steps: int) -> Any:
    """Do `wave_equation.propagate` of the programs."""
    mid = u0.shape[0] // 2

    def step(t: Any, state: Any) -> Any:
        prev, cur, gauge = state
        lap = jnp.pad(
            cur[2:, 1:-1] + cur[:-2, 1:-1] + cur[1:-1, 2:] + cur[1:-1, :-2] - 4.0 * cur[1:-1, 1:-1], 1
        )
        nxt = (2.0 - damp) * cur - (1.0 - damp) * prev + 0.25 * lap
        nxt = nxt.at[0].set(nxt[1]).at[-1].set(nxt[-2])
        nxt = nxt.at[:, 0].set(nxt[:, 1]).at[:, -1].set(nxt[:, -2])
        return cur, nxt, gauge.at[t].set(nxt[mid, mid // 2])

    prev, cur, gauge = lax.fori_loop(0, steps, step, (u0, u0, jnp.zeros(steps)))
    return cur, gauge, 0.5 * jnp.sum((cur - prev) ** 2)


#: Functions for the cases of these names.
BY_HAND: dict[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (
        *(
            black_scholes,
            gemver,
            great_circle,
            jacobi_2d,
            jacobi_1d,
            heat_3d,
            nbody,
            mandelbrot,
            histogram,
            lu,
            cholesky,
        ),
        *(floyd_warshall, sobel, sparse_matvec, csr_slices, vertical_advection, thomas_3d, triangular_solve),
        *(
            horizontal_diffusion,
            game_of_life,
            maxwell_2d,
            wave_equation,
            correlation,
            matrix_powers,
            page_rank,
        ),
        *(k_means, logistic_regression, inverse_distances, bilateral_filter, clipped_integers, life_board),
    )
} | {
    "program_mandelbrot": escape_times,
    "program_conjugate_gradient": cg,
    "program_nbody": simulate,
    "program_jacobi_heat": solve,
    "program_option_pricing": price_paths,
    "program_wave_equation": propagate,
}

__all__ = ["BY_HAND"]
