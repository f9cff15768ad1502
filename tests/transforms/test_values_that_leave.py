"""Values that a transform differentiates keep their derivative, or an error says that it would be lost."""

from __future__ import annotations

import array
import builtins
import copy
import functools
import heapq
import importlib.util
import itertools
import operator
import pickle
import statistics
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import np2tf
from np2tf.core.errors import LeftTensorFlowError

X = np.array([1.2, 2.3, 3.4])


def with_array(write: Callable[[Any, Any], Any], start: Any = np.zeros) -> Callable[[Any], Any]:
    """Return the function that makes an array, writes to it, and adds its elements."""

    def function(x):
        result = start(3)
        write(result, x)
        return np.sum(result)

    return function


@np.vectorize
def squares(a, b):
    return a**2 if a > 1.5 else b


def vectorized_here(x):
    function = np.vectorize(lambda a: a * a)
    return function(x).sum()


LOG: list[Any] = []


def helper(x):
    result = np.zeros(3)
    result[0] = x[0]
    for k in range(3):
        result[1] += np.float64(x[k]) ** 2
    return result.sum()


jitted_helper = np2tf.jit(helper)


def with_effects(x):
    LOG.append("called")
    with builtins.open("/dev/null", "w") as stream:
        stream.write("%.3f" % x[0])  # noqa: UP031
    return helper(x) + sum(map(functools.partial(operator.mul, x[1]), [1.0, 2.0]))


def in_place(draw: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def function(x):
        values = x * x
        draw(values)
        return (values * np.arange(3.0)).sum()

    return function


def draw_from(x, generator):
    return (generator.normal(x, 2.0) * generator.standard_normal(3)).sum() + generator.choice(x)


RNG = np.random.default_rng
#: Draws whose parameters or elements are differentiated.
DRAWS: dict[str, Callable[[Any], Any]] = {
    "normal": lambda x: RNG(0).normal(x, scale=x[0]).sum(),
    "normal in a shape": lambda x: RNG(0).normal(x[0], x[1], (4, 2)).sum(),
    "uniform": lambda x: RNG(0).uniform(x[0], high=x).sum(),
    "exponential": lambda x: RNG(0).exponential(x).sum(),
    "laplace": lambda x: RNG(0).laplace(0.0, x).sum(),
    "permutation": lambda x: (RNG(0).permutation(x) * np.arange(3.0)).sum(),
    "permutation of rows": lambda x: (RNG(0).permutation(np.outer(x, x)) * np.arange(3.0)).sum(),
    "permutation of columns": lambda x: (RNG(0).permutation(np.outer(x, x), 1) * np.arange(3.0)).sum(),
    "choice": lambda x: RNG(0).choice(x, 5, p=[0.2, 0.5, 0.3]).sum(),
    "shuffle": in_place(lambda values: RNG(0).shuffle(values)),
}
FOLLOWED: dict[str, Callable[[Any], Any]] = {
    "x.flat": lambda x: sum(x.flat) * x.flat[1],
    "put": with_array(lambda result, x: np.put(result, [0, 2], x[:2])),
    "place": with_array(lambda result, x: np.place(result, result == 0, x)),
    "copyto": with_array(lambda result, x: np.copyto(result, x)),
    "add.at": with_array(lambda result, x: np.add.at(result, [0, 0, 1], x)),
    "maximum.at": with_array(lambda result, x: np.maximum.at(result, [0, 0, 1], x), np.ones),
    "pad with a value": lambda x: np.sum(np.pad(x, 2, constant_values=x[0]) * np.arange(7.0)),
    "pad with values": lambda x: np.sum(
        np.pad(np.ones((2, 2)), 1, constant_values=((x[0], x[1]), (x[2], 1.0)))
        * np.arange(16.0).reshape(4, 4)
    ),
    "lists": lambda x: np.average([1.0, 5.0, 2.0], weights=list(x)) * np.dot([x[0], x[1]], [1.0, 2.0]),
    "number types": lambda x: np.float64(x[0]) * np.double(x).sum() * np.int64(x[1]),
    "indices by number types": lambda x: x[np.int64(x[:2]) - 1].sum(),
    "vectorize": lambda x: np.sum(squares(x, x[2])),
    "vectorize in the function": vectorized_here,
    "a function with effects": with_effects,
    "copies": lambda x: copy.copy(x).sum() + copy.deepcopy(x).sum(),
    "tolist": lambda x: sum(x.tolist()),
    "builtins": lambda x: max(x) * min(x) + sorted(x)[0] + sum(x, x[1]) + abs(x[0]) ** x[1],
    "itertools": lambda x: sum(itertools.accumulate(x)) + functools.reduce(operator.mul, x),
    "heapq": lambda x: heapq.nlargest(1, list(x))[0],
    "initial": lambda x: np.sum(np.ones(2), initial=x[0]) * np.max(np.ones(2), initial=x[1]),
    "an inner gradient": lambda x: np2tf.grad(lambda c: c * x[0] * x[1])(2.0),
    "an inner Jacobian": lambda x: np2tf.jacfwd(lambda c: c * x)(2.0).sum(),
    "an inner vmap": lambda x: np2tf.vmap(lambda c: c * x)(np.arange(3.0)).sum(),
    "an inner jit": lambda x: np2tf.jit(lambda c: c * x.sum())(2.0),
    "text in percent": lambda x: x[0] * len("%.2f" % x[1]),  # noqa: UP031
    "a generator from elsewhere": lambda x: draw_from(x, RNG(3)),
    "RandomState": lambda x: np.random.RandomState(0).normal(x).sum(),
    "a jitted function": np2tf.jit(helper),
    "a function that calls a jitted one": lambda x: jitted_helper(x) * x[1],
    **DRAWS,
    "texts": lambda x: x[0] * len(f"{x[1]:.2f} {x[1]} {x}".split("]")),
}
REFUSED: dict[str, Callable[[Any], Any]] = {
    "numpy.nditer": lambda x: sum(a * a for a in np.nditer(x)),
    "numpy.roots": lambda x: np.roots([x[0], -x[1], -3.0])[0].real,
    "numpy.random.gamma": lambda x: RNG(0).gamma(x).sum(),
    "numpy.random.multivariate_normal": lambda x: RNG(0).multivariate_normal(x, np.eye(3)).sum(),
    "numpy.random.choice": lambda x: RNG(0).choice(3, p=x / np.sum(x)) * x[0],
    "numpy.array": lambda x: np.array([x[0], x[1]], dtype=object).sum(),
    "ndenumerate": lambda x: sum(a * k[0] for k, a in np.ndenumerate(x)),
    "np.ndarray": lambda x: np.array(x.flat).sum(),
    "np.ndarray of objects": lambda x: x.astype(object).sum(),
    "np.ndarray of an iterator": lambda x: np.fromiter(x, float).sum(),
    "numpy.polynomial": lambda x: np.polynomial.chebyshev.chebval(2.0, x),
    "np.ndarray in ufunc.at": with_array(lambda result, x: np.hypot.at(result, [0, 0, 1], x), np.ones),
    "pickle": lambda x: pickle.loads(pickle.dumps(x)).sum(),
    "float": lambda x: sum(array.array("d", x)),
    "runs on NumPy": lambda x: statistics.stdev(list(x)),
}


def differences(function: Callable[[Any], Any], h: float = 1e-6) -> np.ndarray:
    return np.array([(function(X + h * e) - function(X - h * e)) / (2 * h) for e in np.eye(3)])


@pytest.mark.parametrize("name", FOLLOWED)
def test_followed(name: str) -> None:
    function = FOLLOWED[name]
    np.testing.assert_allclose(np2tf.grad(function)(X), differences(function), rtol=2e-3, atol=1e-6)


@pytest.mark.parametrize("name", ["exponential", "normal", "permutation of rows"])
def test_compiled_draws(name: str) -> None:
    """Compiled code gives the same derivatives; a graph leaves the draw of `exponential` to the host."""
    gradient = np2tf.grad(DRAWS[name])
    np.testing.assert_allclose(np2tf.jit(gradient, tier="compile")(X), gradient(X), rtol=1e-12)


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    """A value that leaves TensorFlow would have the derivative zero: the error names the function."""
    with pytest.raises(LeftTensorFlowError) as caught:
        np2tf.grad(REFUSED[name])(X)
    assert name.partition(" of ")[0].partition(" in ")[0] in str(caught.value)


@pytest.mark.parametrize("wrap", [lambda function: function, np2tf.jit], ids=["plain", "jitted"])
def test_floating_point_errors(wrap: Callable[[Any], Any]) -> None:
    """Where a program wants exceptions of overflows, NumPy raises them; TensorFlow computes derivatives."""
    function = wrap(lambda x: np.sum(np.exp(x**2) * -x))
    slope = -np.exp(X**2) * (1 + 2 * X**2)
    with np.errstate(all="raise"):
        np.testing.assert_allclose(np2tf.grad(function)(X), slope, rtol=1e-12)
        np.testing.assert_allclose(np2tf.jvp(function, (X,), (X,))[1], slope @ X, rtol=1e-12)
        with pytest.raises(FloatingPointError, match="overflow encountered in exp"):
            np2tf.grad(function)(np.array([100.0, 1.0]))


def test_np2tf_loaded_where_errors_are_raised() -> None:
    """Code that a program loads inside of `np.errstate` knows which setting is the usual one."""
    spec = importlib.util.find_spec("np2tf.arrays.front.numpy_state")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with np.errstate(all="raise"):
        spec.loader.exec_module(module)
        assert module.raises_floating_point_errors()
    assert not module.raises_floating_point_errors()


class Labelled:
    """An array of another class, as pandas has: NumPy's functions ask the class what to do."""

    __array_ufunc__ = None

    def __init__(self, values):
        self.values = np.array(values)

    def __array__(self, dtype=None, copy=None):
        return self.values


def written(key, value):
    """Return the sum of the squares of an array with new elements."""

    def function(x):
        result = np.zeros(3)
        result[:] = x
        result[key] = value
        return np.sum(result**2)

    return function


@pytest.mark.parametrize(
    ("function", "derivative"),
    [
        (lambda x: np.sum(x[Labelled([True, False, True])] ** 2), [2.4, 0.0, 6.8]),
        (lambda x: np.sum(x[Labelled([2, 2])]), [0.0, 0.0, 2.0]),
        (lambda x: np.sum(x[np.ma.array([0, 1], mask=[0, 1])]), [1.0, 1.0, 0.0]),
        (written(Labelled([True, True, False]), 3.0), [0.0, 0.0, 6.8]),
        (written(slice(2), Labelled([1.0, 2.0])), [0.0, 0.0, 6.8]),
        (written(Labelled([0]), Labelled([1])), [0.0, 4.6, 6.8]),
    ],
)
def test_arrays_of_other_classes_as_indices(function: Callable[[Any], Any], derivative: list[float]) -> None:
    """NumPy reads indices and assigned values of any class as arrays."""
    np.testing.assert_allclose(np2tf.grad(function)(X), derivative, rtol=1e-12)
