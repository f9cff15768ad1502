"""A loop whose arrays grow is written out if it is small; else it runs on the host, with compiled callees."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import np2tf
from np2tf.staging.control import unrolling
from np2tf.staging.tiers.constants import MOST_LARGE_LOOPS
from tests.helpers.differential import load, translation
from tests.helpers.selections import every_second

HELPER = """
import numpy as np


def smooth(x):
    for _ in range(3):
        x = np.tanh(x * 0.5 + np.mean(x)) + np.cumsum(x) / x.size
    return x
"""
#: Functions of an array and a number of rounds whose iterations have arrays of other shapes each.
GROWTH = {
    "append": """
        for _ in range(n):
            x = np.append(x, smooth(x)[-1])
        return x
    """,
    "concatenate": """
        for k in range(n):
            x = np.concatenate([x, smooth(x)[:1] + k])
        return x
    """,
    "a while loop": """
        size = len(x) + n
        while len(x) < size:
            x = np.append(x, smooth(x)[-1])
        return x
    """,
    "arrays that shrink": """
        for _ in range(n):
            x = smooth(x)[1:]
        return x
    """,
}
#: Functions whose iterations have the same shapes, however many operations they have.
CONSTANT_SHAPES = {
    "layers in a list": """
        for k in [*range(n)]:
            x = smooth(x) + k
        return x
    """,
    "a list that is indexed": """
        weights = [np.ones(3) * k for k in range(n)]
        for k in range(n):
            x = smooth(x) + weights[k].sum()
        return x
    """,
}


def _functions(body: str) -> tuple[Any, dict[str, Any]]:
    lines = [line[4:] for line in body.strip("\n").split("\n")]
    source = HELPER + "\n\ndef f(x, n):\n" + "\n".join(lines) + "\n"
    return load(source)["f"], load(translation(source))


def _call_both(body: str, count: int) -> tuple[dict[str, Any], np.ndarray]:
    """Compare one call with NumPy's, and return np2tf's functions and the call's array."""
    numpys, space = _functions(body)
    x = np.random.default_rng(0).random(40)
    np.testing.assert_allclose(space["f"](x, count), numpys(x, count), rtol=1e-12)
    return space, x


@pytest.fixture(autouse=True)
def compile_at_once(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(unrolling, "MOST_OPS", 400)
    with np2tf.config.using(tier="compile"):
        yield


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", every_second(GROWTH))
def test_a_large_loop_runs_on_the_host(name: str) -> None:
    space, x = _call_both(GROWTH[name], 20)
    own = space["f"]
    assert own.compiled_count + own.graph_count == 0
    assert own.explain(x, 20).code == "NP2TF559"
    assert "change shape" in own.explain(x, 20).reason
    smooth = space["smooth"]
    assert smooth.compiled_count + smooth.graph_count >= 20
    assert smooth.trace_count <= 8


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", GROWTH)
def test_a_small_loop_is_compiled(name: str) -> None:
    space, _ = _call_both(GROWTH[name], 3)
    own = space["f"]
    assert own.compiled_count + own.graph_count == 1


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CONSTANT_SHAPES)
def test_a_loop_over_equal_shapes_is_compiled(name: str) -> None:
    space, x = _call_both(CONSTANT_SHAPES[name], 40)
    own = space["f"]
    assert own.compiled_count + own.graph_count == 1
    assert own.explain(x, 40).code == ""


@pytest.mark.filterwarnings("ignore")
def test_a_function_with_large_loops_is_not_traced_for_ever() -> None:
    numpys, space = _functions(GROWTH["append"])
    own = space["f"]
    for n in range(20, 30):
        x = np.random.default_rng(n).random(n)
        np.testing.assert_allclose(own(x, 20), numpys(x, 20), rtol=1e-12)
    assert own.trace_count <= MOST_LARGE_LOOPS
    assert own.explain(x, 20).code == "NP2TF559"
