"""Derivatives of 76 functions, equal to JAX's: values to rounding, structure, shapes and dtypes."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import np2tf
from tests.helpers.transform_judge import (
    NAMES,
    arguments,
    compiled,
    differences,
    direction,
    is_compiled,
    is_complex,
    jaxs,
    numpys,
    scalar_of,
)

#: All pairs are differentiated by all of these. JAX refuses complex arguments for the last two.
TRANSFORMS = ("value_and_grad", "jvp", "vjp", "jacobian", "hessian")
PAIRS = [(transform, name) for name in NAMES for transform in TRANSFORMS[: 3 if is_complex(name) else 5]]


def derivatives(library: Any, module: Any, function: Any, args: tuple[Any, ...], cotangent: Any) -> Any:
    """Return a function for each transform, which computes the derivative in one of the libraries."""
    every = tuple(range(len(args)))
    number = scalar_of(function, module)
    jacobian = library.jacrev if len(args) % 2 else library.jacfwd
    return {
        "value_and_grad": lambda: library.value_and_grad(number, every)(*args),
        "jvp": lambda: library.jvp(function, args, direction(args)),
        "vjp": lambda: library.vjp(function, *args)[1](cotangent),
        "jacobian": lambda: jacobian(function)(*args),
        "hessian": lambda: library.hessian(number)(*args),
    }


@functools.cache
def wanted(name: str) -> Any:
    """Return what JAX computes: all derivatives of a function in one program."""

    def program(*args: Any) -> Any:
        shapes = jax.eval_shape if is_compiled(name) else lambda function, *given: function(*given)
        cotangent = direction(shapes(jaxs(name), *args))
        all_of_them = derivatives(jax, jnp, jaxs(name), args, cotangent)
        return {
            transform: all_of_them[transform]() for transform, name_of_pair in PAIRS if name_of_pair == name
        }

    return compiled(name, program)(*arguments(name))


@pytest.mark.parametrize(("transform", "name"), PAIRS)
def test_equal_to_jax(transform: str, name: str) -> None:
    """One function, one transform."""
    args = arguments(name)
    cotangent = direction(numpys(name)(*args))
    found = derivatives(np2tf, np, numpys(name), args, cotangent)[transform]()
    assert differences(found, wanted(name)[transform], rtol=1e-8, atol=1e-9) == []


def test_enough_pairs() -> None:
    """Nobody takes most of the table away."""
    assert len(PAIRS) >= 350
