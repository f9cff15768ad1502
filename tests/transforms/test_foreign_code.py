"""Values that are differentiated do not leave TensorFlow in code that np2tf does not translate."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import np2tf
from np2tf.core.errors import LeftTensorFlowError

X = np.array([0.1, 0.2])
#: A module that is no program's: it is installed, and NumPy's functions in it are NumPy's own.
SOURCE = """
import numpy as np

asarray, array = np.asarray, np.array


def density(x, mean):
    return np.exp(-0.5 * (asarray(x) - asarray(mean)) ** 2)
"""


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """An installed module."""
    folder = tmp_path / "site-packages"
    folder.mkdir()
    (folder / "densities_of_np2tf_tests.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(str(folder))
    import densities_of_np2tf_tests as module

    yield module
    del sys.modules[module.__name__]


def test_installed_packages(library: Any) -> None:
    """An installed package gets NumPy's arrays, where the derivative would be lost: an error with a line."""

    def likelihood(mean):
        return np.sum(np.log(library.density(np.ones(3), mean[0])))  # the line of the error

    with pytest.raises(LeftTensorFlowError) as caught:
        np2tf.grad(likelihood)(X)
    assert f"{__file__}:{likelihood.__code__.co_firstlineno + 1}: " in str(caught.value)
    assert np2tf.grad(lambda mean: mean[0] * library.density(1.0, 2.0))(X).tolist() == [np.exp(-0.5), 0.0]


WAYS: dict[str, Callable[[Any], Any]] = {
    "the array interface": lambda x: x.__array_interface__,
    "DLPack": lambda x: x.__dlpack__(),
    "bytes": bytes,
    "tobytes": lambda x: x.tobytes(),
    "pickle": pickle.dumps,
    "pickle of a number": lambda x: pickle.dumps(x[0]),
}


@pytest.mark.parametrize("way", WAYS)
def test_ways_out(way: str) -> None:
    """Each way to the memory or value of an array is refused while a derivative follows it."""
    leave = WAYS[way]

    def function(x):
        leave(x)
        return x[0]

    with pytest.raises(LeftTensorFlowError, match="derivative"):
        np2tf.grad(function)(X)
    leave(np2tf.device_put(X))


def test_values_without_derivatives_may_leave() -> None:
    """Integers, shapes and values behind `stop_gradient` may leave; texts and comparisons show values."""

    def function(x):
        constant = np2tf.stop_gradient(x)
        assert float(constant[0]) == 0.1
        assert bytes(constant) == X.tobytes()
        assert int(x[1] * 10) == 2
        assert f"{x[0]:.1f} {x}" == "0.1 [0.1 0.2]"
        return x[0] * 3

    assert np2tf.grad(function)(X).tolist() == [3.0, 0.0]


def scipy_functions() -> dict[str, Callable[[Any], Any]]:
    """Functions over SciPy that have derivatives: called by name, as a method, by alias, as an argument."""
    from scipy import linalg, special, stats
    from scipy.special import erf, logsumexp

    def applied(function, x):
        return np.sum(function(x))

    def through_an_argument(x):
        return applied(erf, x)

    def of_a_distribution(x):
        return np.sum(stats.norm.logpdf(x, 0.5, 2.0))

    def of_special(x):
        return np.sum(special.gammaln(x) * special.expit(x))

    def of_linalg(x):
        return linalg.norm(np.outer(x, x) + np.eye(2))

    def of_a_reduction(x):
        return logsumexp(x * 3)

    return {
        function.__name__: function
        for function in (through_an_argument, of_a_distribution, of_special, of_linalg, of_a_reduction)
    }


@pytest.mark.parametrize("name", sorted(scipy_functions()))
def test_functions_of_scipy(name: str) -> None:
    """Functions of SciPy that np2tf has are differentiated outside of compiled code, too."""
    function = scipy_functions()[name]
    np2tf.check_grads(function, (X,), order=2)
    np.testing.assert_allclose(
        np2tf.jit(np2tf.grad(function), tier="compile")(X), np2tf.grad(function)(X), rtol=1e-12
    )


def test_functions_of_scipy_themselves() -> None:
    """A function of SciPy is an argument of a transform, as NumPy's functions are."""
    from scipy import special

    slopes = np2tf.vjp(special.erf, X)[1](np.ones(2))[0]
    np.testing.assert_allclose(slopes, 2 / np.sqrt(np.pi) * np.exp(-(X**2)), rtol=1e-12)
    with pytest.raises(LeftTensorFlowError, match=r"rgamma runs on NumPy"):
        np2tf.vjp(special.rgamma, X)
