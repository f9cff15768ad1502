"""Programs of fixtures/programs, differentiated as they are, against finite differences."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import np2tf

_FOLDER = Path(__file__).resolve().parent.parent.parent / "fixtures" / "programs"


def program(name: str, translated: bool = False) -> ModuleType:
    """Return a module of fixtures/programs, as it is or translated as a module."""
    path = _FOLDER / f"{name}.py"
    if translated:
        return np2tf.import_module(path)
    spec = importlib.util.spec_from_file_location(f"fixture_{name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def cholesky(program: ModuleType) -> tuple[Callable[..., Any], Any]:
    """The log-likelihood of a Gaussian process, by its length scale; factors in loops, in place."""
    x = np.linspace(0, 1, 5)

    def likelihood(scale: Any) -> Any:
        factor = program.cholesky(program.kernel_matrix(x, scale, 0.1))
        y = np.sin(6 * x)
        solved = program.back_substitution(factor.T, program.forward_substitution(factor, y))
        return program.log_likelihood(factor, y, solved)

    return likelihood, 0.4


def conjugate_gradient(program: ModuleType) -> tuple[Callable[..., Any], Any]:
    """The solution of a diffusion problem, by the right-hand side; a loop that ends by the residual."""
    ax, ay = program.face_coefficients(program.coefficient(4))
    return lambda b: np.sum(program.cg(b, ax, ay)[0] ** 2), np.sin(np.arange(16.0)).reshape(4, 4)


def fft_poisson(program: ModuleType) -> tuple[Callable[..., Any], Any]:
    """Charges that drift in their own field, by the charges; Fourier transforms in a loop."""
    return lambda rho: np.sum(program.run(rho, 1.0, 3)[0] ** 2), 1 + np.sin(np.arange(36.0)).reshape(6, 6)


def jacobi_heat(program: ModuleType) -> tuple[Callable[..., Any], Any]:
    """Temperatures of a plate, by the sources of heat; sweeps of a stencil with two buffers."""

    def heat(source: Any) -> Any:
        return np.sum(program.solve(program.make_plate(6)[0], source, 0.1, max_sweeps=9)[0] ** 2)

    return heat, np.cos(np.arange(36.0)).reshape(6, 6)


def kalman(program: ModuleType) -> tuple[Callable[..., Any], Any]:
    """The likelihood of measurements, by the noise; an object whose methods assign attributes."""
    measured = program.simulate(12, 0.05, 0.4)[1]

    def likelihood(noise: Any) -> Any:
        tracker = program.constant_velocity(0.05, noise, 0.4)
        program.track(tracker, measured)
        return tracker.log_likelihood

    return likelihood, 0.5


def logistic_regression(program: ModuleType) -> tuple[Callable[..., Any], Any]:
    """Trained weights, by the data: the training loop itself is differentiated."""
    data, labels = program.make_data(12, 3)[:2]
    return lambda x: np.sum(program.fit(x, labels, epochs=4)[0] ** 2), data


def kmeans(program: ModuleType) -> tuple[Callable[..., Any], Any]:
    """Centres of clusters, by the points; argmin, masks, a loop that ends when nothing moves."""
    points = np.concatenate([np.sin(np.arange(8.0)), 5 + np.cos(np.arange(8.0))]).reshape(8, 2)
    return lambda x: np.sum(program.lloyd(x, x[:2], max_iter=4)[0] ** 2), points


def wave_equation(program: ModuleType) -> tuple[Callable[..., Any], Any]:
    """A wave at the end, by the wave at the start; buffers that change places."""
    drop = np.exp(-(np.linspace(-2, 2, 8) ** 2))
    start = drop[:, None] * drop
    return lambda u: np.sum(program.propagate(u, program.sponge(8, 2), 4)[0] ** 2), start


def option_pricing(program: ModuleType) -> tuple[Callable[..., Any], Any]:
    """The price of an option, by today's price and the volatility: Delta and Vega; `math.erf`."""
    return lambda p: program.black_scholes_call(p[0], 105.0, 0.03, p[1], 1.0), np.array([100.0, 0.25])


def perceptron(program: ModuleType) -> tuple[Callable[..., Any], Any]:
    """The loss of a network, by the weights in a list."""
    x = np.sin(np.arange(10.0)).reshape(5, 2)
    weights = program.init_params([2, 3, 3], np.random.default_rng(0))
    return lambda params: -np.mean(np.log(program.forward(params, x)[-1][:, 0])), weights


def floyd_warshall(program: ModuleType) -> tuple[Callable[..., Any], Any]:
    """Shortest paths, by the lengths of the edges; writes under masks in a loop."""
    lengths = 1 + np.abs(np.sin(np.arange(16.0))).reshape(4, 4)
    return lambda w: np.sum(program.floyd_warshall(w)[0]), lengths


PROGRAMS = (
    *(cholesky, conjugate_gradient, fft_poisson, jacobi_heat, kalman, logistic_regression, kmeans),
    *(wave_equation, option_pricing, perceptron, floyd_warshall),
)


@pytest.mark.parametrize("make", PROGRAMS, ids=lambda make: make.__name__)
def test_programs_are_differentiated(make: Callable[[ModuleType], Any]) -> None:
    """The gradient of a number that a program computes is what finite differences give."""
    function, at = make(program(make.__name__))
    np2tf.check_grads(function, (at,), 1, modes="rev", atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("make", PROGRAMS[3:6], ids=lambda make: make.__name__)
def test_translated_modules_are_differentiated(make: Callable[[ModuleType], Any]) -> None:
    """A module that was translated as a whole gives the same gradients as the module as it is."""
    function, at = make(program(make.__name__))
    translated, _ = make(program(make.__name__, translated=True))
    np.testing.assert_allclose(np2tf.grad(translated)(at), np2tf.grad(function)(at), rtol=1e-9, atol=1e-12)


def test_greeks() -> None:
    """Delta and Gamma of a call, in closed form."""
    price, at = option_pricing(program("option_pricing"))
    s, sigma = at
    d1 = (np.log(s / 105.0) + (0.03 + sigma**2 / 2)) / sigma
    density = np.exp(-(d1**2) / 2) / np.sqrt(2 * np.pi)
    np.testing.assert_allclose(np2tf.hessian(price)(at)[0, 0], density / (s * sigma))


#: A function that stays on the host, and whose functions are differentiated elsewhere.
_MAKER = """
import numpy
import numpy.linalg as la
import numpy as np
from numpy import exp, sin as s


def functions(names):
    last = {name: k for k, name in enumerate(sorted(names))}

    def in_order(x):
        t = np.zeros(2)
        for i in range(2):
            t[i] = x[i] ** 2 * i
        return numpy.sum(t)

    def of_elements(x):
        return np.sum([np.real(np.tensordot(x, x, axes=x.ndim)) for _ in range(2)])

    return {
        **last,
        "in order": in_order,
        "of elements": of_elements,
        "norm": lambda x: la.norm(exp(x)),
        "stack": lambda x: sum(float(0) + y for y in s(numpy.array([x[0], x[1]]))),
    }
"""


def test_functions_that_code_on_the_host_made(tmp_path: Path) -> None:
    """A jitted function that stays on the host runs its original, and so makes functions on NumPy; a
    transform runs their translations.
    """
    (tmp_path / "maker_of_np2tf_tests.py").write_text(_MAKER)
    module = np2tf.import_module(tmp_path / "maker_of_np2tf_tests.py")
    functions = module.functions({"a": 1})
    x = np.array([0.3, 0.7])
    expected = {
        "in order": [0.0, 2 * x[1]],
        "of elements": 4 * x,
        "norm": np.exp(2 * x) / np.linalg.norm(np.exp(x)),
        "stack": np.cos(x),
    }
    for name, derivative in expected.items():
        np.testing.assert_allclose(np2tf.grad(functions[name])(x), derivative, rtol=1e-12)
