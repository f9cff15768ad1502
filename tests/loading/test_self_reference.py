"""Functions and classes that name themselves, translated one at a time: when a trace reaches their call."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import np2tf

SOURCE = """
import numpy as np


def tree_map(f, tree):
    if isinstance(tree, (list, tuple)):
        return [tree_map(f, part) for part in tree]
    return f(tree)


def power(x, n):
    return x * 0 + 1.0 if n == 0 else x * power(x, n - 1)


def clipped(x, n):
    for k in range(len(x)):
        if x[k] > 2:
            x = x * 0.5
    return x if n == 0 else clipped(x + 1, n - 1)


def even(x, n):
    if x.sum() > 100:
        x = x / 2
    return x if n == 0 else odd(x * 2, n - 1)


def odd(x, n):
    return x + 1 if n == 0 else even(x * 3, n - 1)


class Vec:
    def __init__(self, data):
        self.data = data

    def __add__(self, other):
        return Vec(self.data + other.data)

    def clipped(self):
        data = self.data
        for k in range(len(data)):
            if data[k] > 2:
                data = data / 2
        return Vec(data)

    def halved(self, n):
        return self if n == 0 else type(self)(self.data * 0.5).halved(n - 1)

    @classmethod
    def of(cls, data):
        return cls(data) + Vec.ones(data)

    @staticmethod
    def ones(data):
        return Vec(data * 0 + 1)


if True:

    def indented(x, n):
        return np.sin(x) if n == 0 else indented(x * 2, n - 1)


def of_tree(x):
    parts = tree_map(lambda part: part * part, [x, [x, x * 2]])
    return np.sum(parts[0]) + np.sum(parts[1][1])


def of_power(x):
    return np.sum(power(x, 3))


def of_clipped(x):
    return np.sum(clipped(x, 3))


def of_both(x):
    return np.sum(even(x, 3))


def of_class(x):
    total = Vec(x)
    for k in range(3):
        total = (total + Vec.of(x)).clipped()
    return np.sum(total.halved(2).data)


def of_indented(x):
    return np.sum(indented(x, 2))


def of_inner(x):
    def again(y, n):
        def step(z):
            return z * x if z.sum() < 50 else z + x

        return y if n == 0 else again(step(y), n - 1)

    return np.sum(again(x, 3))
"""


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    path: Path = tmp_path_factory.mktemp("self_reference") / "self_referring.py"
    path.write_text(SOURCE)
    spec = importlib.util.spec_from_file_location("self_referring", path)
    assert spec is not None
    assert spec.loader is not None
    result = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(result)
    return result


@pytest.mark.parametrize(
    "name", ["of_tree", "of_power", "of_clipped", "of_both", "of_class", "of_indented", "of_inner"]
)
def test_gradient_is_compiled(module: ModuleType, name: str) -> None:
    function = getattr(module, name)
    x = np.array([0.25, 1.0, 2.5])
    gradient = np2tf.jit(np2tf.grad(function), tier="compile")
    found = np.asarray(gradient(x))
    steps = 1e-6 * np.eye(3)
    expected = [(function(x + step) - function(x - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    text = str(gradient.explain(x))
    assert "not compiled" not in text
    assert "runs on: host" not in text
