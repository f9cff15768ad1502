"""Functions of Python's `math` on numbers that compiled code computes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import np2tf
from np2tf.staging.control import math as staged_math


def _hypot(x: Any) -> Any:
    return math.hypot(x[0], x[1], x[2])


def _erf(x: Any) -> Any:
    return math.erf(x[0]) + math.erfc(x[1])


@pytest.fixture(autouse=True)
def compiling() -> Iterator[None]:
    with np2tf.config.using(jit="on", tier="compile"):
        yield


def _compiled(function: Callable[..., Any]) -> Any:
    return np2tf.translate(function, options=np2tf.Options(everything=True))


@pytest.mark.parametrize(
    "values",
    [(3.0, 4.0, 12.0), (0.0, 0.0, 0.0), (1e-200, 2e-200, 0.0), (1e-150, 1.0, 1e-170)],
)
def test_hypot_of_tiny_numbers_is_not_zero(values: tuple[float, ...]) -> None:
    f = _compiled(_hypot)
    np.testing.assert_allclose(f(np.array(values)), math.hypot(*values), rtol=4e-16)
    assert f.compiled_count + f.graph_count == 1


@pytest.mark.parametrize("values", [(1e200, 1e200, 0.0), (math.inf, math.nan, 1.0), (math.nan, 1.0, 2.0)])
def test_results_that_are_not_finite_are_those_of_python(values: tuple[float, ...]) -> None:
    """Compiled code hands the call to the host, because Python has the same result or an error."""
    np.testing.assert_equal(_compiled(_hypot)(np.array(values)), math.hypot(*values))
    np.testing.assert_equal(_compiled(_erf)(np.array([math.inf, -math.inf])), 3.0)


def test_the_module_hides_no_function_of_pythons() -> None:
    """A name that it imports for itself would stand for the function, also of numbers."""
    names = {name for name in vars(math) if not name.startswith("__")}
    assert not names & set(vars(staged_math))
    for name in ("fmod", "sqrt", "hypot"):
        args = (5.0,) if name == "sqrt" else (5.0, 3.0)
        found = getattr(staged_math, name)(*args)
        assert type(found) is float
        assert found == getattr(math, name)(*args)
