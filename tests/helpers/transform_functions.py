"""Functions that transforms are tried on, in NumPy. `transform_judge` runs them in JAX as well.

A parameter's name says what it is: see `transform_judge.ARGUMENTS`. Functions that write in place have a
counterpart in `transform_functions_jax`.
"""

from __future__ import annotations

import numpy as np

# -- elementwise and reductions ------------------------------------------------------------------------------


def trigonometry(x):
    return np.sin(x) * np.cos(2 * x) + np.tan(0.3 * x) + np.arctan(x)


def hyperbolic(x):
    return np.tanh(x) + np.sinh(x) / np.cosh(x) + np.arcsinh(x)


def exponentials(x):
    return np.exp(-(x**2)) + np.expm1(x) + np.log1p(x**2) + np.exp2(x)


def roots(p):
    return np.sqrt(p) + np.cbrt(p) + p**1.5 + np.log(p) + np.log2(p)


def arcs(u):
    return np.arcsin(u) + np.arccos(u / 2) + np.arctanh(u)


def two_operands(x, y):
    return np.arctan2(x, y) + np.hypot(x, y) + np.logaddexp(x, y) + x / (1 + y**2)


def powers(p, y):
    return np.power(p, y) + p**3 - p**-2.0


def extremes(x, y):
    return np.maximum(x, y) * 2 + np.minimum(x, 0.2) + np.clip(y, -0.5, 0.5)


def pieces(x):
    return np.where(x > 0, x**2, np.abs(x)) + np.sign(x) * x + np.floor(x)


def remainders(x):
    return np.mod(3 * x, 0.7) + np.fmod(x, 0.4)


def moments(x):
    return np.mean(x) + np.var(x) + np.std(x) + np.sum(x**2) + np.prod(x)


def largest(x):
    return np.max(x) * np.min(x) + np.ptp(x)


def cumulative(x):
    return np.cumsum(x) * np.cumprod(x)


def norms(x):
    return np.linalg.norm(x) + np.linalg.norm(x, 1) + np.sqrt(np.dot(x, x))


def log_sum_exp(x):
    m = np.max(x)
    return m + np.log(np.sum(np.exp(x - m)))


def softmax(x):
    e = np.exp(x - np.max(x))
    return e / e.sum()


def weighted_average(x, p):
    return np.average(x, weights=p)


def differences(x):
    return np.diff(x, n=2)


def numerical_gradient(x):
    return np.gradient(x)


def trapezoids(x):
    return np.sum((x[1:] + x[:-1]) / 2 * 0.5)


def interpolation(u):
    return np.interp(u, np.array([-1.0, -0.2, 0.4, 1.0]), np.array([0.0, 1.0, 0.5, 2.0]))


def polynomial(x):
    return np.polyval(np.array([2.0, -1.0, 0.5, 3.0]), x)


def medians(x):
    return np.median(x) + np.percentile(x, 30) + np.quantile(x, 0.8)


def covariance(m):
    return np.cov(m)


def special_values(x):
    return np.sinc(x) + np.nan_to_num(x) + np.square(x) + np.reciprocal(x + 3)


# -- indexing, sorting, shapes -------------------------------------------------------------------------------


def slices(x):
    return x[1:] * x[:-1] + x[::-1][:3]


def index_arrays(x):
    return x[np.array([0, 0, 2, 3, 1])] ** 2


def masked(x):
    return x[np.array([True, False, True, True])] ** 2


def taken(m):
    return np.take(m, np.array([2, 0, 2]), axis=1) * np.take_along_axis(m, np.array([[1], [0], [2]]), axis=1)


def sorted_values(x):
    return np.sort(x) * np.array([1.0, 2.0, 3.0, 4.0])


def sorted_by_key(x, y):
    return y[np.argsort(x)] * x[np.argmax(y)]


def reshaped(m):
    return m.reshape(-1)[2:5] + m.T.ravel()[:3]


def joined(x, y):
    return np.concatenate([x, y**2]) * np.hstack([y, x])


def stacked(x, y):
    return np.stack([x, y], axis=1) @ np.array([[1.0], [2.0]])


def repeated(x):
    return np.repeat(x, 2) * np.tile(x, 2)


def rolled(m):
    return np.roll(m, 1, axis=0) * np.flip(m, 1) + np.rot90(m)


def padded(x):
    return np.pad(x, 2, mode="edge") ** 2


def triangles(m):
    return np.tril(m) @ np.triu(m) + np.diag(np.diag(m)) * np.trace(m)


def broadcast(x):
    return x[:, None] * x[None, :] + np.broadcast_to(x, (4, 4))


def meshes(x):
    a, b = np.meshgrid(x, x**2)
    return np.sum(a * b, axis=0)


def splits(x):
    first, second = np.split(x, 2)
    return first * second[::-1]


def outer_products(x, y):
    return np.outer(x, y) + np.kron(x[:2], y[:2]).sum()


# -- linear algebra, Fourier transforms ----------------------------------------------------------------------


def products(m, v):
    return m @ v + np.einsum("ij,ik,k->j", m, m, v) + np.tensordot(m, m, axes=2)


def inverse(m):
    return np.linalg.inv(m)


def solution(m, v):
    return np.linalg.solve(m, v)


def determinant(m):
    return np.linalg.det(m) + np.linalg.slogdet(m)[1]


def cholesky(m):
    return np.linalg.cholesky(m @ m.T + 2 * np.eye(3))


def symmetric_eigenvalues(m):
    return np.linalg.eigvalsh(m + m.T)


def singular_values(m):
    return np.linalg.svd(m, compute_uv=False)


def orthogonal(m):
    q, r = np.linalg.qr(m)
    return q * 0.5 + r


def pseudo_inverse(m):
    return np.linalg.pinv(m)


def matrix_power(m):
    return np.linalg.matrix_power(m, 3)


def cross(v, w):
    return np.cross(v, w)


def convolution(x, y):
    return np.convolve(x, y)


def spectrum(x):
    return np.abs(np.fft.fft(x)) ** 2


def real_spectrum(x):
    return np.fft.irfft(np.fft.rfft(x) * np.array([1.0, 0.5, 0.25]))


def spectrum_of_two_axes(m):
    return np.fft.ifft2(np.fft.fft2(m) * 2).real + np.fft.fft2(m).imag


# -- complex numbers -----------------------------------------------------------------------------------------


def modulus(z):
    return np.abs(z) ** 2 + np.real(z) * np.imag(z) + np.angle(z)


def holomorphic(z):
    return np.exp(z) * z**2 + np.sin(z) / (z + 2)


def mixed(z):
    return z * np.conj(z) + 1j * np.real(z)


def complex_matrix(c):
    return np.linalg.inv(c) @ c.T + np.linalg.det(c)


def complex_of_real(x):
    return np.exp(1j * x) + x * (1 + 2j)


# -- loops, branches, writes ---------------------------------------------------------------------------------


def branch(x):
    if np.sum(x) > 0:
        return np.sin(x) * 2
    return np.cos(x)


def doubling(x):
    n = 0
    while np.sum(x**2) < 50:
        x = x * 1.7
        n += 1
    return x * n


def newton(p):
    x = p
    for _ in range(20):
        x = (x + p / x) / 2
    return x


def early_exit(x):
    total = 0.0
    for k in range(10):
        total = total + np.sum(x**k) / (k + 1)
        if total > 6:
            break
    return total


def runge_kutta(v):
    y, h = v, 0.1
    for _ in range(5):
        k1 = np.sin(y)
        k2 = np.sin(y + h / 2 * k1)
        k3 = np.sin(y + h / 2 * k2)
        k4 = np.sin(y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return y


def nested_values(d):
    return {"sum": d["a"] * 2 + d["b"][0], "pair": (d["b"][1] ** 2, d["a"] * d["b"][0])}


def filled(x):
    out = np.zeros(4)
    for i in range(4):
        out[i] = x[i] ** 2 * i
    return out


def accumulated(x):
    out = np.ones(6)
    out[1:5] += x
    out[::2] *= 3
    out[2] -= x[0] * x[3]
    return out


def through_a_view(x):
    grid = np.zeros((2, 4))
    row = grid[1]
    row[:] = x
    row[1:3] *= x[0]
    return grid.sum(axis=0) + grid[1]


def scattered(x):
    out = np.zeros(3)
    np.add.at(out, np.array([0, 1, 0, 2]), x**2)
    return out


def overwritten(x):
    y = x.copy()
    y[0] = 5.0
    y[y > 1] = 0.5
    return y * x


def stencil(x):
    u = x.copy()
    for _ in range(3):
        u[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
    return u


def elimination(m, v):
    a, b = m.copy(), v.copy()
    for k in range(3):
        for i in range(k + 1, 3):
            factor = a[i, k] / a[k, k]
            a[i] -= factor * a[k]
            b[i] -= factor * b[k]
    for k in range(2, -1, -1):
        b[k] = (b[k] - a[k, k + 1 :] @ b[k + 1 :]) / a[k, k]
    return b


def sorted_in_place(x):
    y = x * 2
    y.sort()
    y[0] = y[1] * y[2]
    return y
