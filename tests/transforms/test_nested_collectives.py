"""Collectives over the axis of an outer `vmap`, compiled: as in lanes that run one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import np2tf
from np2tf.transforms.lanes import together, vmap
from tests.helpers.selections import in_turn
from tests.helpers.transform_judge import differences

A = np.sin(np.arange(60.0)).reshape(5, 4, 3)


def outer(a: Any) -> Any:
    """Two collectives over the outer axis."""
    return a / np2tf.psum(np.sum(a**2), "outer") + np2tf.pmax(a, "outer") * 0.1


def of_both(a: Any) -> Any:
    """Collectives over both axes, each of the other's results."""
    total = np2tf.psum(a, "inner")
    return np2tf.psum(total * a, "outer") - np2tf.pmean(a, "inner") + np2tf.psum(a, ("inner", "outer"))


def gathered(a: Any) -> Any:
    """The values of all lanes, along several axes, and of Python's numbers."""
    return (
        *[np2tf.all_gather(a, "outer", axis=axis) for axis in (0, 1, -1)],
        *[np2tf.all_gather(a, "outer", axis=axis, tiled=True) for axis in (0, -1)],
        np2tf.psum({"a": a > 0, "n": 1}, "outer"),
        a.astype(np.float32) * np2tf.psum(1, "outer"),
        np2tf.axis_index("outer") * 10 + np2tf.axis_index("inner"),
    )


def with_a_loop(a: Any) -> Any:
    """A lane with a loop behind the collective, so that lanes are a staged loop."""
    total = np2tf.psum(a.sum(), "outer") ** 2 + 1
    while total > 0.1:
        total = total / 2
    return total * a


FUNCTIONS = [outer, of_both, gathered, with_a_loop]


def nested(function: Callable[..., Any]) -> Any:
    """The function for both axes."""
    return np2tf.vmap(np2tf.vmap(function, axis_name="inner"), axis_name="outer")


def test_the_meaning() -> None:
    """The lanes of the outer axis meet with the same lane of the inner axis."""
    wanted = [[A[o, i] / np.sum(A[:, i] ** 2) + A[:, i].max(0) * 0.1 for i in range(4)] for o in range(5)]
    np.testing.assert_allclose(nested(outer)(A), wanted)
    np.testing.assert_allclose(np2tf.jit(nested(outer), tier="compile")(A), wanted)


@pytest.mark.parametrize(
    ("function", "routes"),
    in_turn(FUNCTIONS, [(), ("loop",), ("batches", "loop")]),
    ids=lambda part: part.__name__ if callable(part) else "-".join(part) or "alone",
)
def test_as_lanes(function: Any, routes: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = nested(function)(A)
    monkeypatch.setattr(together, "ROUTES", routes)
    compiled = np2tf.jit(nested(function), tier="compile")
    assert differences(compiled(A), wanted, rtol=1e-10, atol=1e-12) == []
    assert compiled.compiled_count + compiled.graph_count == 1


def test_the_graph_does_not_grow_with_the_lanes() -> None:
    counts = []
    for size in (2, 5, 20):
        x = np.sin(np.arange(size * size * 3.0)).reshape(size, size, 3)
        compiled = np2tf.jit(nested(outer), tier="compile")
        assert differences(compiled(x), nested(outer)(x), rtol=1e-9, atol=1e-9) == []
        counts.append(compiled.lower(x).op_count)
    # The first graph of a process may have one operation more.
    assert counts[1] == counts[2]


def test_three_axes() -> None:
    def function(a: Any) -> Any:
        return np2tf.psum(a, "a") + np2tf.pmax(a * np2tf.psum(a, "c"), "b")

    batched = np2tf.vmap(np2tf.vmap(np2tf.vmap(function, axis_name="c"), axis_name="b"), axis_name="a")
    assert differences(np2tf.jit(batched, tier="compile")(A), batched(A), rtol=1e-10, atol=1e-12) == []


def test_a_derivative_of_nested_batches() -> None:
    def loss(w: Any) -> Any:
        return np.sum(nested(of_both)(A * w) ** 2)

    wanted = np2tf.grad(loss)(1.5)
    np.testing.assert_allclose(np2tf.jit(np2tf.grad(loss), tier="compile")(1.5), wanted, rtol=1e-9)


def test_many_inner_lanes_of_derivatives(monkeypatch: pytest.MonkeyPatch) -> None:
    """Inner lanes are not compiled by themselves, because a collective needs lanes outside of them."""
    monkeypatch.setattr(vmap, "MANY_LANES", 2)

    def function(a: Any) -> Any:
        return np2tf.grad(np.sum)(a * a[0]) + np2tf.psum(a, "outer")

    wanted = A.sum(axis=0, keepdims=True) + np.ones_like(A)
    np.testing.assert_allclose(np2tf.vmap(np2tf.vmap(function), axis_name="outer")(A), wanted)


def test_lanes_that_print() -> None:
    """Lanes with effects do not run together; the results stay right."""

    def function(a: Any) -> Any:
        total = np2tf.psum(a, "outer")
        print("lane", end="")
        return total * a

    wanted = nested(lambda a: np2tf.psum(a, "outer") * a)(A)
    np.testing.assert_allclose(np2tf.jit(nested(function), tier="compile")(A), wanted)
