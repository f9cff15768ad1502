"""Functions of NumPy under a name that later means something else: translations follow the name."""

from __future__ import annotations

import ast
import math
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import np2tf

X = np.array([0.5, 1.5])
activation: Callable[[Any], Any] = np.tanh


def layer(x):
    return activation(x) + 1


def caller(x):
    return 2 * layer(x)


def loop(x):
    total = 0.0
    for i in range(len(x)):
        total = total + activation(x[i])
    return total


def total(x):
    return np.sum(layer(x))


def square(x):
    return x * x


def made_with(function):
    def inner(x):
        return function(x)

    def outer(x):
        return inner(x) * 2

    return outer


def made_of(module):
    def function(x):
        return module.sqrt(x) + module.exp(x)

    return function


@pytest.mark.parametrize("function", [layer, caller, loop])
@pytest.mark.parametrize("decorator", [np2tf.translate, lambda f: np2tf.jit(f, tier="compile")])
def test_a_global_that_is_bound_again(decorator, function, monkeypatch) -> None:
    translated = decorator(function)
    for value in (np.tanh, np.cos, square, np.exp, np.tanh):
        monkeypatch.setitem(globals(), "activation", value)
        np.testing.assert_allclose(np.asarray(translated(X)), function(X), rtol=1e-14)


def test_a_closure_variable_that_is_bound_again() -> None:
    function = np.tanh

    def inner(x):
        return function(x)

    ways = [np2tf.translate(inner), np2tf.jit(inner, tier="compile")]
    for value in (np.tanh, np.cos, square):
        function = value
        for way in ways:
            np.testing.assert_allclose(np.asarray(way(X)), inner(X), rtol=1e-14)


DERIVATIVES = {np.tanh: 1 / math.cosh(0.5) ** 2, np.cos: -math.sin(0.5), np.exp: math.exp(0.5), square: 1.0}


def test_gradients_of_functions_with_the_same_code() -> None:
    """Closures that differ in a function of NumPy only, as networks make them: `elementwise(np.tanh)`."""
    for function, derivative in DERIVATIVES.items():
        gradient = np2tf.grad(made_with(function))
        np.testing.assert_allclose(gradient(0.5), 2 * derivative, rtol=1e-12)
        np.testing.assert_allclose(np2tf.jit(gradient, tier="compile")(0.5), 2 * derivative, rtol=1e-12)


def test_gradients_after_a_global_is_bound_again(monkeypatch) -> None:
    for function, derivative in DERIVATIVES.items():
        monkeypatch.setitem(globals(), "activation", function)
        np.testing.assert_allclose(np2tf.grad(total)(np.array([0.5])), [derivative], rtol=1e-12)


def test_modules_with_the_same_names() -> None:
    """The module is a parameter, as in code for several array libraries."""
    own = types.SimpleNamespace(sqrt=square, exp=lambda x: 3 * x)
    expected = 0.5 / math.sqrt(0.5) + math.exp(0.5)
    for module, derivative in ((np, expected), (own, 4.0), (math, expected), (np, expected)):
        function = made_of(module)
        np.testing.assert_allclose(np2tf.grad(function)(0.5), derivative, rtol=1e-12)
        jitted = np2tf.jit(function, tier="compile")
        np.testing.assert_allclose(float(jitted(0.5)), function(0.5), rtol=1e-14)


def test_a_module_that_is_bound_again(monkeypatch) -> None:
    jitted = np2tf.jit(of_library, tier="compile")
    for value in (np, types.SimpleNamespace(sqrt=square), math):
        monkeypatch.setitem(globals(), "library", value)
        np.testing.assert_allclose(float(jitted(0.5)), of_library(0.5), rtol=1e-14)


library: Any = np


def of_library(x):
    return library.sqrt(x) + 1


def test_names_of_a_star_import() -> None:
    """They mean NumPy's functions, as names that an import statement lists."""
    from np2tf.loading.functions.blocks import is_bound_once

    text = "from numpy import *\nimport numpy as np\nf = np.sin\n\n\ndef g(x):\n    return sin(x) + f(x)\n"
    tree = ast.parse(text)
    assert is_bound_once(tree, 6, 7, "sin")
    assert is_bound_once(tree, 6, 7, "np")
    assert not is_bound_once(tree, 6, 7, "f")
    assert not is_bound_once(ast.parse("f = 1\n" + text), 7, 8, "f")
    inner = "def outer(f):\n    def g(x):\n        return f(x)\n    return g\n"
    assert is_bound_once(ast.parse(inner), 2, 3, "f")
    assert not is_bound_once(ast.parse(inner.replace("return g", "f = 2; return g")), 2, 3, "f")
    assert not is_bound_once(ast.parse(inner), 2, 3, "sin")
