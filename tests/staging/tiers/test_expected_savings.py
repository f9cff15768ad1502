"""What the names in code tell of the time that NumPy's libraries take."""

from __future__ import annotations

from typing import Any

import pytest

from np2tf.staging.tiers import constants
from np2tf.staging.tiers.expected_savings import expected_saving

SOURCE = """
import numpy as np
from numpy.fft import fft2


def transform(x):
    return np.fft.ifft2(x)


def alone(x):
    return np.fft.fft(x)


def frequencies(x):
    return np.fft.fftfreq(len(x)) * x


def shifted(x):
    return np.fft.fftshift(np.fft.fft(x))


def imported(x):
    return fft2(x)


def through(x):
    return sum(map(lambda y: transform(y), x))


def deep(x):
    return through(x) + 1


def endless(x):
    return endless(x - 1) if x else again(x)


def again(x):
    return endless(x)


def cholesky(x):
    for k in range(len(x)):
        x[k] /= 2
    return x


def solve(a, b):
    return np.linalg.solve(a, b)


def factor(x):
    return cholesky(x) * 2


def stencil(x):
    return np.roll(x, 1) + np.sqrt(x) @ x


class Solver:
    def step(self, x):
        return np.linalg.solve(self.a, x)

    def run(self, x):
        for _ in range(9):
            x = self.step(x)
        return x

    def plain(self, x):
        return x * 2
"""


@pytest.fixture
def names() -> dict[str, Any]:
    space: dict[str, Any] = {"__name__": "program"}
    exec(SOURCE, space)
    return space


@pytest.mark.parametrize(
    "name", ["transform", "alone", "imported", "through", "deep", "solve", "Solver.step", "Solver.run"]
)
def test_libraries_take_the_time(names: dict[str, Any], name: str) -> None:
    """By the code itself, or by the program's functions and methods that it calls."""
    assert expected_saving(_code(names, name), names) == constants.LIBRARY_SAVING


@pytest.mark.parametrize("name", ["frequencies", "endless", "stencil", "factor", "Solver.plain"])
def test_compiled_code_saves_time(names: dict[str, Any], name: str) -> None:
    assert expected_saving(_code(names, name), names) >= constants.EXPECTED_SAVING


def test_shifts_beside_a_transform(names: dict[str, Any]) -> None:
    """The module and the function have the same name, so nothing is known: it counts as other work."""
    assert expected_saving(_code(names, "shifted"), names) == constants.EXPECTED_SAVING


def _code(names: dict[str, Any], name: str) -> Any:
    first, *rest = name.split(".")
    value = names[first]
    for part in rest:
        value = getattr(value, part)
    return value.__code__


DRAWS = """
import numpy as np
from numpy.random import rand, randn


def uniforms(n):
    for k in range(n):
        if np.random.rand() < 0.5:
            n -= np.random.randint(0, n) * np.random.exponential(2.0)


def by_name(n):
    while rand() < n:
        n -= 1


def of_a_callee(n):
    return uniforms(n) + uniforms(n)


def normals(n):
    for k in range(n):
        n += np.random.normal()


def normal_by_name(n):
    while randn() < n:
        n -= 1


def called_back(n, rng):
    while rng.poisson(3.0) < n:
        n -= rng.exponential(2.0)


def flip():
    return sum(np.random.normal(0.0, 1.0) for k in range(9))


def through_a_function(n):
    return flip() + n


def of_a_generator(n):
    rng = np.random.default_rng(n)
    while n > 0:
        n -= rng.random() * rng.normal(0.0, 1.0) + rng.integers(0, 9)


def before_the_loop(n):
    start = np.random.rand()
    for k in range(n):
        start = start * 2
    return start


def arrays(n, x):
    for k in range(n):
        x = x + np.random.uniform(0.0, 1.0, len(x)) * np.random.rand(3)
    return x


def many_normals(n, x, rng):
    for k in range(n):
        x = x + rng.standard_normal(len(x))
    return x


def one_step(x, rng):
    return x + rng.standard_normal(len(x))


def steps_of_many_draws(n, x, rng):
    for k in range(n):
        x = one_step(x, rng)
    return x


def steps_of_one_draw(x, rng):
    return one_step(x, rng) * 2.0


def of_another_module(n, path):
    for k in range(n):
        path.choice.pop(k)
"""


@pytest.mark.parametrize(
    "name",
    [
        "normals",
        "normal_by_name",
        "called_back",
        "flip",
        "through_a_function",
        "of_a_callee",
        "many_normals",
        "steps_of_many_draws",
    ],
)
def test_draws_of_single_numbers_in_loops(name: str) -> None:
    names: dict[str, Any] = {}
    exec(DRAWS, names)
    assert expected_saving(names[name].__code__, names) == constants.DRAWS_SAVING


@pytest.mark.parametrize("name", ["of_a_generator", "arrays", "of_another_module", "steps_of_one_draw"])
def test_other_draws(name: str) -> None:
    names: dict[str, Any] = {}
    exec(DRAWS, names)
    assert expected_saving(names[name].__code__, names) >= constants.EXPECTED_SAVING


NUMBERS = """
import math
import numpy as np

LIMIT = 4.0


def escape(c):
    z, n = 0j, 0
    while abs(z) < LIMIT and n < 50:
        z, n = z * z + c, n + 1
    return n


def over_pixels(image, width):
    for i in range(image.shape[0]):
        for j in range(width):
            image[i, j] = escape(complex(i, j)) * math.sqrt(i) + np.exp(-j)


def flips(spins):
    for _ in range(len(spins)):
        i = np.random.randint(0, len(spins))
        if np.random.rand() < 0.5:
            spins[i] = -spins[i]


def without_a_loop(x, i):
    return x[i] * 2.0


def with_slices(x):
    for i in range(len(x)):
        x[i] = x[:i] * 2


def with_arrays(x):
    for i in range(len(x)):
        x[i] = x.sum() + np.dot(x, x)


def through_a_callee(x):
    for i in range(3):
        with_arrays(x)
"""


@pytest.mark.parametrize(
    ("name", "is_scalar"),
    [
        *((name, True) for name in ("escape", "over_pixels", "flips")),
        *((name, False) for name in ("without_a_loop", "with_slices", "with_arrays", "through_a_callee")),
    ],
)
def test_loops_over_single_numbers(name: str, is_scalar: bool) -> None:
    names: dict[str, Any] = {}
    exec(NUMBERS, names)
    saving = constants.SCALAR_SAVING if is_scalar else constants.EXPECTED_SAVING
    assert expected_saving(names[name].__code__, names) == saving


@pytest.mark.parametrize("name", ["uniforms", "by_name", "before_the_loop"])
def test_draws_that_compiled_code_makes_faster(name: str) -> None:
    names: dict[str, Any] = {}
    exec(DRAWS, names)
    assert expected_saving(names[name].__code__, names) >= constants.EXPECTED_SAVING
