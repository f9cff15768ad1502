"""`vmap` of staged lanes: the same in every route, and a graph whose size does not depend on the lanes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import np2tf
from np2tf.transforms.lanes import together, vmap
from tests.helpers.transform_judge import differences

A = np.sin(np.arange(60.0)).reshape(12, 5)
W = np.linspace(-1, 1, 5)


def loss(w: Any, x: Any) -> Any:
    """A function of a vector and an example."""
    return np.sum(np.tanh(x * w) ** 2) + x[0] * w[1]


def halved(a: Any) -> Any:
    """A loop whose number of steps depends on the lane."""
    total = a.sum() ** 2 + 1
    steps = 0
    while total > 0.1:
        total = total / 2
        steps += 1
    return total, steps


def written(a: Any) -> Any:
    """Writes in place, of several kinds, and a branch."""
    b = np.zeros(5)
    b[1:] = a[1:] * 2
    b[b > 1] = 1.0
    np.add.at(b, [0, 0, 1], a[:3])
    return b if a[0] > 0 else -b


def picked(a: Any, k: Any) -> Any:
    """An index that depends on the lane, and dtypes that differ."""
    return a[k], (a > 0).sum(), a.astype(np.float32).max(), a[0] > 0, 3, 2.5


@pytest.fixture
def took(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The routes that calls have taken."""
    seen: list[str] = []
    for name in ("_in_batches", "_in_a_loop"):
        before = getattr(together._Staging, name)

        def run(self: Any, *given: Any, name: str = name, before: Any = before) -> Any:
            made = before(self, *given)
            seen.append(name)
            return made

        monkeypatch.setattr(together._Staging, name, run)
    return seen


def normalised(a: Any) -> Any:
    """Two collectives, and the number of the lane."""
    return a / np2tf.psum(a**2, "i") - np2tf.pmax(a, "i") * np2tf.axis_index("i")


def gathered(a: Any) -> Any:
    """All lanes' values, in three ways; and what is no array."""
    ways = [np2tf.all_gather(a, "i"), np2tf.all_gather(a, "i", axis=1), np2tf.all_gather(a, "i", tiled=True)]
    return ways, np2tf.psum({"s": a > 0, "n": 1}, "i"), np2tf.pmean(2.0, "i")


def of_a_batch(w: Any, a: Any) -> Any:
    """The sum over a batch with a collective, for a derivative of it."""
    return np.sum(np2tf.vmap(normalised, axis_name="i")(a * w[0]))


def factors(a: Any) -> Any:
    """Linear algebra, sorting and prefix sums."""
    return np.linalg.inv(np.outer(a, a) + 9 * np.eye(5)), np.sort(-a)[:2], np.cumsum(a)


def of_nested(p: Any, rest: Any) -> Any:
    """A dict with an argument that all lanes share, and an argument by name."""
    return {"out": p["m"] @ p["v"], "rest": rest}


def cheap(w: Any, a: Any, k: Any) -> Any:
    """Batches for both routes."""
    return [
        np2tf.vmap(np2tf.grad(loss), (None, 0))(w, a),
        np2tf.vmap(written)(a),
        np2tf.vmap(picked)(a, k),
        np2tf.vmap(normalised, axis_name="i")(a),
    ]


def dear(w: Any, a: Any, k: Any) -> Any:
    """More batches, and derivatives of a batch."""
    return [
        cheap(w, a, k),
        np2tf.vmap(factors, out_axes=(0, 0, 1))(a),
        np2tf.vmap(of_nested, ({"m": None, "v": -1},), {"out": 1, "rest": 0})({"m": a, "v": a.T}, rest=k),
        np2tf.vmap(gathered, axis_name="i")(a),
        np2tf.vmap(np2tf.vmap(np.multiply, (None, 0)), (0, None))(a, a[0]),
        np2tf.grad(of_a_batch)(w, a[:, 0]),
    ]


@pytest.mark.parametrize(("route", "program", "at_least"), [("batches", dear, 11), ("loop", cheap, 6)])
def test_as_lanes(
    route: str, program: Any, at_least: int, monkeypatch: pytest.MonkeyPatch, took: list[str]
) -> None:
    """Results have the values, shapes, dtypes and structures of lanes, which other tests compare with JAX."""
    a, k = A[:9], np.arange(9) % 5 - 2
    # On a slow machine, the lanes of several tests take so long that they would be compiled.
    monkeypatch.setattr(vmap, "SECONDS", float("inf"))
    wanted = program(W, a, k)
    assert took == []
    monkeypatch.setattr(together, "ROUTES", (route,))
    compiled = np2tf.jit(program, tier="compile")
    assert differences(compiled(W, a, k), wanted, rtol=1e-10, atol=1e-12) == []
    assert compiled.compiled_count + compiled.graph_count == 1
    assert len(took) >= at_least


def test_an_index_out_of_bounds(took: list[str]) -> None:
    """One lane's error is NumPy's."""
    f = np2tf.jit(np2tf.vmap(lambda a, k: a[k]), tier="compile")
    np.testing.assert_array_equal(f(A, np.arange(12) % 5), A[np.arange(12), np.arange(12) % 5])
    assert took == ["_in_batches"]
    with pytest.raises(IndexError, match="out of bounds"):
        f(A, np.arange(12))


def test_effects_stay_in_order(capsys: pytest.CaptureFixture[str], took: list[str]) -> None:
    """Lanes that print, draw, or write to an array outside run one after another."""
    seen = np.zeros(5)
    rng, same_generator = np.random.default_rng(3), np.random.default_rng(3)

    def accumulate(a: Any) -> Any:
        seen[:] += a
        print("lane", a[0] > 0)
        return seen.sum() + rng.normal()

    @np2tf.jit(tier="compile")
    def program(a: Any) -> Any:
        return np2tf.vmap(accumulate)(a)

    found = program(A[:4])
    np.testing.assert_allclose(seen, A[:4].sum(0))
    np.testing.assert_allclose(found, A[:4].cumsum(0).sum(1) + same_generator.normal(size=4))
    assert capsys.readouterr().out.splitlines() == [f"lane {x > 0}" for x in A[:4, 0]]
    assert took == []


def test_the_size_of_the_graph() -> None:
    """A hundred times as many lanes make no more operations."""

    @np2tf.jit(tier="compile")
    def program(w: Any, a: Any) -> Any:
        return np2tf.vmap(np2tf.grad(loss), (None, 0))(w, a)

    sizes = []
    for count in (3, 300):
        graph = program.lower(W, np.resize(A, (count, 5))).graph
        sizes.append(len(graph.get_operations()))
    assert sizes[1] <= sizes[0] + 5


def test_a_whole_result() -> None:
    """A result that no lane changes is returned once; any other is refused."""
    f = np2tf.vmap(lambda a: np2tf.psum(a, "i"), axis_name="i", out_axes=None)
    np.testing.assert_allclose(np2tf.jit(f, tier="compile")(A), A.sum(0))
    g = np2tf.jit(np2tf.vmap(lambda a: a, out_axes=None), tier="compile")
    with pytest.raises(Exception, match="out_axes is None"):
        g(A)


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The results of calls that were compiled without `jit`."""
    made: list[Any] = []
    before = vmap.CompiledBatch.run

    def run(self: Any, *given: Any) -> Any:
        made.append(before(self, *given))
        return made[-1]

    monkeypatch.setattr(vmap.CompiledBatch, "run", run)
    monkeypatch.setattr(vmap, "MANY_LANES", 8)
    return made


def test_many_gradients_are_compiled(compiled: list[Any]) -> None:
    """Gradients per example outside of `jit`, and a batch inside of a gradient."""
    wanted = np.array([np2tf.grad(loss)(W, a) for a in A])
    found = np2tf.vmap(np2tf.grad(loss), (None, 0))(W, A)
    assert type(found) is np.ndarray
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    gradient_of_batch = np2tf.grad(lambda w: np.sum(np2tf.vmap(loss, (None, 0))(w, A)))(W)
    np.testing.assert_allclose(gradient_of_batch, wanted.sum(0), rtol=1e-12)
    assert len(compiled) == 2
    assert None not in compiled


def test_what_a_closure_reads_is_differentiated(compiled: list[Any]) -> None:
    """An array that only a closure names, with its present value at each call."""
    scale = np.ones(5)

    def scaled(w: Any, a: Any) -> Any:
        return np.sum(w * a * scale)

    per_example = np2tf.vmap(np2tf.grad(scaled), (None, 0))
    np.testing.assert_allclose(per_example(W, A), A)
    scale[:] = 2.0
    np.testing.assert_allclose(per_example(W, A), 2 * A)

    def whole(w: Any) -> Any:
        return np.sum(np2tf.vmap(lambda a: np.sum(w * a))(np2tf.device_put(A)))

    gradient = np2tf.grad(whole)(W)
    np.testing.assert_allclose(gradient, A.sum(0))
    assert len(compiled) == 3
    assert None not in compiled


def test_what_is_not_compiled(compiled: list[Any]) -> None:
    """Lanes of NumPy code stay on the host, and lanes that cannot be compiled run one after another."""
    assert type(np2tf.vmap(loss, (None, 0))(W, A)) is np.ndarray
    assert compiled == []
    seen: list[float] = []

    def noting(w: Any, a: Any) -> Any:
        seen.append(float(a[0]))
        return np.sum(w * a)

    np.testing.assert_allclose(np2tf.vmap(np2tf.grad(noting), (None, 0))(W, A), A)
    assert seen == list(A[:, 0])


def test_variables_are_read() -> None:
    """A lane may read a variable of TensorFlow."""
    weights = tf.Variable(W)

    @np2tf.jit(tier="compile")
    def program(a: Any) -> Any:
        return np2tf.vmap(lambda x: np.sum(x * weights))(a)

    np.testing.assert_allclose(program(A), A @ W)


def test_the_route_can_be_seen(took: list[str]) -> None:
    """Batches are preferred; a loop is for operations that have no batched form."""
    square: Callable[..., Any] = np2tf.jit(np2tf.vmap(lambda a: a * a), tier="compile")
    np.testing.assert_allclose(square(A), A * A)
    batched: Callable[..., Any] = np2tf.jit(np2tf.vmap(halved), tier="compile")
    assert differences(batched(A), np2tf.vmap(halved)(A)) == []
    assert took == ["_in_batches", "_in_a_loop"]


def recurrent(w: Any, a: Any) -> Any:
    """A loop of a known number of steps."""
    state = 0.0
    for k in range(12):
        state = np.tanh(w[0] * state + w[1] * a[k])
    return state**2


def test_derivatives_of_loops_are_xla_programs() -> None:
    """XLA knows the number of steps whose values it keeps: alone, and in lanes."""
    w, a = np.array([0.5, -0.7]), np.sin(np.arange(72.0)).reshape(6, 12)
    wanted = np.stack([np2tf.grad(recurrent)(w, row) for row in a])
    single = np2tf.jit(np2tf.grad(recurrent), tier="compile")
    np.testing.assert_allclose(single(w, a[0]), wanted[0], rtol=1e-12)
    batch = np2tf.jit(np2tf.vmap(np2tf.grad(recurrent), (None, 0)), tier="compile")
    np.testing.assert_allclose(batch(w, a), wanted, rtol=1e-12)
    assert (single.compiled_count, batch.compiled_count) == (1, 1)
