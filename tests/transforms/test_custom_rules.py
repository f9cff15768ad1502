"""`custom_vjp` and `custom_jvp`: the user's rules are used, as JAX uses them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import np2tf
from np2tf.core.errors import CustomRuleError, TransformArgumentError
from tests.helpers.transform_judge import differences

X = np.array([0.3, -0.7, 1.2])


def vjp_rules(library: Any, np: Any) -> list[Any]:
    """Rules for products with cotangents. (A factor 3 shows that the rule was used.)"""

    @library.custom_vjp
    def exponential(x: Any) -> Any:
        return np.exp(x)

    def forward(x: Any) -> Any:
        y = exponential(x)
        return y, y

    exponential.defvjp(forward, lambda y, g: (3 * g * y,))

    @library.custom_vjp
    def scaled(p: Any, k: Any) -> Any:
        return {"a": p["w"] * k, "b": p["v"] ** 2}

    scaled.defvjp(
        lambda p, k: (scaled(p, k), (p, k)),
        lambda res, g: ({"w": g["a"] * res[1] * 3, "v": 6 * g["b"] * res[0]["v"]}, None),
    )

    def apply(f: Any, x: Any) -> Any:
        return f(x)

    apply = library.custom_vjp(apply, nondiff_argnums=(0,))
    apply.defvjp(lambda f, x: (f(x), x), lambda f, x, g: (f(g * x),))

    @library.custom_vjp
    def conjugated(z: Any) -> Any:
        return z**2

    conjugated.defvjp(lambda z: (z**2, z), lambda z, g: (g * 2 * z,))
    p = {"w": np.asarray(X), "v": np.asarray(2.0)}
    once = library.grad(lambda x: np.sum(exponential(x)))
    return [
        exponential(X),
        once(X),
        library.grad(lambda x: np.sum(once(x)))(X),
        library.jacrev(once)(X),
        library.grad(lambda p: np.sum(scaled(p, 2.0)["a"]) + scaled(p, 2.0)["b"])(p),
        library.grad(lambda x: np.sum(apply(np.sin, x)))(X),
        library.vmap(library.grad(exponential))(X),
        library.vjp(conjugated, np.asarray(1.0 + 2.0j))[1](np.asarray(0.5 - 1.0j)),
    ]


def jvp_rules(library: Any, np: Any) -> list[Any]:
    """Rules for products with tangents, forwards and backwards."""

    @library.custom_jvp
    def softplus(x: Any) -> Any:
        return np.log(1 + np.exp(x))

    softplus.defjvp(lambda p, t: (softplus(*p), t[0] * (1 - 1 / (1 + np.exp(p[0])))))

    @library.custom_jvp
    def product(x: Any, y: Any) -> Any:
        return x * y

    product.defjvps(lambda t, result, x, y: 3 * t * y, None)
    total = lambda x: np.sum(softplus(x))  # noqa: E731
    return [
        softplus(X),
        library.jvp(softplus, (X,), (np.ones(3),)),
        library.grad(total)(X),
        library.grad(softplus)(np.asarray(100.0)),
        library.hessian(total)(X),
        library.grad(library.grad(library.grad(softplus)))(np.asarray(0.5)),
        library.grad(lambda x, y: np.sum(product(x, y)), (0, 1))(X, X + 1),
        library.jvp(product, (X, X), (np.ones(3), np.ones(3))),
    ]


@pytest.mark.parametrize("rules", [vjp_rules, jvp_rules])
def test_rules_are_jaxs(rules: Callable[..., list[Any]]) -> None:
    """Values, structures and dtypes, first and higher derivatives."""
    for place, (found_result, wanted_result) in enumerate(
        zip(rules(np2tf, np), rules(jax, jnp), strict=True)
    ):
        assert differences(found_result, wanted_result) == [], place


def test_compiled_rules() -> None:
    """A jitted gradient uses the rules."""

    @np2tf.custom_vjp
    def f(x):
        return np.sin(x)

    f.defvjp(lambda x: (f(x), x), lambda x, g: (g * 7 * np.cos(x),))

    @np2tf.custom_jvp
    def h(x):
        return np.sin(x)

    h.defjvp(lambda p, t: (h(*p), t[0] * 5 * np.cos(p[0])))
    for function, factor in ((f, 7), (h, 5)):
        compiled = np2tf.jit(
            np2tf.grad(lambda x, ruled_function=function: np.sum(ruled_function(x))), tier="compile"
        )
        np.testing.assert_allclose(compiled(X), factor * np.cos(X))


def broken(result: Any) -> Any:
    """A function with a rule whose backward part returns this."""
    f = np2tf.custom_vjp(lambda x: x * 2)
    f.defvjp(lambda x: (x * 2, None), lambda res, g: result)
    return np2tf.grad(lambda x: np.sum(f(x)))


@pytest.mark.parametrize(
    ("call", "kind", "told"),
    [
        (lambda: np2tf.grad(np2tf.custom_vjp(np.sin))(1.0), CustomRuleError, "No VJP|no VJP defined"),
        (lambda: np2tf.grad(np2tf.custom_jvp(np.sin))(1.0), CustomRuleError, "no JVP defined"),
        (lambda: broken(3.0)(X), CustomRuleError, "must return a tuple"),
        (lambda: broken((X, X))(X), CustomRuleError, "of length 2"),
        (lambda: broken((X[:2],))(X), CustomRuleError, r"shape \(2,\).*shape \(3,\)"),
        (lambda: broken(((X, X),))(X), TransformArgumentError, "structure"),
    ],
)
def test_errors(call: Any, kind: type[Exception], told: str) -> None:
    """An error says what a rule must return."""
    with pytest.raises(kind, match=told):
        call()
