"""Derivatives of functions of scipy.special, also where their formulas have cases, beside differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special as special
import tensorflow as tf

import np2tf
from np2tf.core.errors import NoDerivativeError
from np2tf.scipy import special as np2tf_special

WHOLE = np.array([1.0, 2.0, 3.0, 30.0])
BETWEEN = np.array([0.3, 1.5, 3.7])
POSITIVE = np.concatenate([WHOLE, BETWEEN])
MIXED = np.concatenate([POSITIVE, [-0.4, -1.3, -2.6]])
INSIDE = np.array([0.0, 0.2, -0.7, 0.95])
#: Functions of a module of special functions and of a number, and points.
FUNCTIONS: dict[str, tuple[Callable[[Any, Any], Any], np.ndarray]] = {
    "gamma": (lambda m, x: m.gamma(x), MIXED),
    "gammaln": (lambda m, x: m.gammaln(x), MIXED),
    "psi": (lambda m, x: m.psi(x), MIXED),
    "polygamma": (lambda m, x: m.polygamma(1, x), POSITIVE),
    "zeta by the shift": (lambda m, x: m.zeta(2.5, x), POSITIVE),
    **{
        f"{name}({told})": (function, POSITIVE)
        for name in ("beta", "betaln", "poch", "binom")
        for told, function in {
            "x, 2": lambda m, x, name=name: getattr(m, name)(x + 2.0, 2.0),
            "2, x": lambda m, x, name=name: getattr(m, name)(2.0, x / 30),
            "x, x": lambda m, x, name=name: getattr(m, name)(x + 1, x),
        }.items()
    },
    "binom by n, beyond": (lambda m, x: m.binom(x, 3.0) + m.binom(x, x + 2), np.array([0.0, 1.0, 2.0, 0.5])),
    "binom by k, beyond": (lambda m, x: m.binom(2.0, x), np.array([-2.0, -1.0, 3.0, 4.0, 5.0])),
    "erfinv": (lambda m, x: m.erfinv(x), INSIDE),
    "erfcinv": (lambda m, x: m.erfcinv(1 + x), INSIDE),
    "ndtri": (lambda m, x: m.ndtri(0.5 + x / 2), INSIDE),
    "logit": (lambda m, x: m.logit(0.5 + x / 2), INSIDE),
    "xlogy by x": (lambda m, x: m.xlogy(x, 3.0), INSIDE),
    "xlogy by y": (lambda m, x: m.xlogy(0.0, x + 1) + m.xlogy(2.0, x + 1), INSIDE),
    "xlog1py": (lambda m, x: m.xlog1py(x, 2.0) + m.xlog1py(x, x), INSIDE),
    "entr": (lambda m, x: m.entr(x + 1), INSIDE),
    "rel_entr": (lambda m, x: m.rel_entr(x + 1, 2.0) + m.rel_entr(2.0, x + 1), INSIDE),
    "kl_div": (lambda m, x: m.kl_div(x + 1, 2.0) + m.kl_div(2.0, x + 1) + m.kl_div(0.0, x + 1), INSIDE),
    "gammainc": (lambda m, x: m.gammainc(x, 2.0), POSITIVE),
    "gammaincc": (lambda m, x: m.gammaincc(x, x + 0.5), POSITIVE),
    "gammainc by x": (lambda m, x: m.gammainc(1.0, x), POSITIVE),
    "betainc by x": (lambda m, x: m.betainc(2.0, 3.0, x / 40), POSITIVE),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_first_derivatives(name: str) -> None:
    """Eagerly; SciPy's differences are the judge."""
    function, points = FUNCTIONS[name]
    h = 1e-4
    a, b, d, e = (function(special, points + k * h) for k in (-2, -1, 1, 2))
    wanted = (a - 8 * b + 8 * d - e) / (12 * h)
    found = np2tf.grad(lambda x: function(np2tf_special, x).sum())(points)
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-8 * np.abs(wanted).max())


def test_compiled_derivatives() -> None:
    """XLA has the derivatives that eager code has, also of second order."""
    names = ["gamma", "erfinv", "xlogy by x"]

    def total(x: Any) -> Any:
        return sum((FUNCTIONS[name][0](np2tf_special, x) * (k + 1)).sum() for k, name in enumerate(names))

    second = np2tf.grad(lambda x: np2tf.grad(total)(x).sum())
    for function in (np2tf.grad(total), second):
        wanted = function(np.array([0.2, 0.5]))
        found = np2tf.jit(function, tier="compile")(np.array([0.2, 0.5]))
        np.testing.assert_allclose(found, wanted, rtol=1e-9)
        assert np.all(np.isfinite(wanted))


@pytest.mark.parametrize(
    ("name", "x", "wanted"),
    [
        ("erfinv", 1.0, np.inf),
        ("ndtri", 0.0, np.inf),
        ("logit", 0.0, np.inf),
        ("entr", 0.0, np.inf),
        ("erfinv", 2.0, np.nan),
        ("gamma", -1.0, np.nan),
        ("gammaln", -2.0, np.nan),
    ],
)
def test_at_the_ends_of_domains(name: str, x: float, wanted: float) -> None:
    """A derivative that is infinite or does not exist is not 0, unless the value is not used."""
    function = getattr(np2tf_special, name)
    np.testing.assert_equal(float(np2tf.grad(function)(x)), wanted)
    assert float(np2tf.grad(lambda y: np.where(y > 100, function(y), y))(x)) == 1.0


@pytest.mark.parametrize(
    ("operation", "function"),
    [
        ("Zeta", lambda x: np2tf_special.zeta(x, 1.0)),
        ("Betainc", lambda x: np2tf_special.betainc(x, 2.0, 0.3)),
        ("Betainc", lambda x: np2tf_special.betainc(2.0, x, 0.3)),
    ],
)
def test_derivatives_that_nothing_computes_are_errors(operation: str, function: Any) -> None:
    with pytest.raises(NoDerivativeError, match=f"{operation} has no derivative"):
        np2tf.grad(function)(2.0)
    x = tf.constant(2.0, tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(x)
        value = tf.convert_to_tensor(function(np2tf.tnp.asarray(x)))
    with pytest.raises(LookupError, match=operation):
        tape.gradient(value, x)
