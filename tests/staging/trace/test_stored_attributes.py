"""np2tf reads no attribute that an object of the program computes: `__getattr__` may do anything."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import np2tf
from np2tf.core.errors import NotStagedError
from np2tf.staging.compile.preparation import CallPreparation
from np2tf.staging.objects.user_objects import stored_attribute, wrapped_function
from tests.helpers.differential import load, translation

SOURCE = """
import functools
import numpy as np

ASKED = []


class Configuration:
    def __getattr__(self, name):
        ASKED.append(name)
        return {"scale": 2.0}[name]


class Backend:
    def __getattr__(self, name):
        ASKED.append(name)

        def function(*args):
            return getattr(np, name)(*args)

        function.backend = self
        return function


config = Configuration()
backend = Backend()


def doubled(x):
    for _ in range(3):
        x = x * config.scale + backend.sin(x)
    return x


class Model:
    config = config
    backend = Backend()

    def __init__(self, weight):
        self.weight = weight

    def output(self, x):
        for _ in range(3):
            x = x * self.weight + self.config.scale + self.backend.cos(x)
        return x


def of_model(model, x):
    y = np.zeros(3)
    for k in range(3):
        y[k] = model.output(x)[k]
    return y
"""


@pytest.mark.parametrize("tier", ["auto", "compile"])
@pytest.mark.parametrize(
    "call",
    [lambda m, x: m["doubled"](x), lambda m, x: m["of_model"](m["Model"](0.5), x)],
    ids=["global", "class"],
)
def test_programs(call: Callable[[dict[str, Any], np.ndarray], np.ndarray], tier: str) -> None:
    """Objects that raise KeyError for an unknown name, and that make a function for any name."""
    numpys, np2tfs = load(SOURCE), load(translation(SOURCE))
    x = np.linspace(0.0, 1.0, 3)
    expected = call(numpys, x)
    with np2tf.config.using(tier=tier):
        for _ in range(3):
            np.testing.assert_allclose(call(np2tfs, x), expected, rtol=1e-12)
    assert set(np2tfs["ASKED"]) == set(numpys["ASKED"])


def test_an_error_while_arguments_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """The call runs on the host, and says why; in strict mode it is an error."""

    def prepare(self: CallPreparation, *_: Any) -> Any:
        raise KeyError("of an object")

    monkeypatch.setattr(CallPreparation, "prepare", prepare)
    function = load(translation(SOURCE))["doubled"]
    x = np.linspace(0.0, 1.0, 3)
    with np2tf.config.using(tier="compile"):
        np.testing.assert_array_equal(function(x), load(SOURCE)["doubled"](x))
        assert "of an object" in str(function.explain(x))
    with (
        np2tf.config.using(jit="strict", tier="compile"),
        pytest.raises(NotStagedError, match="of an object"),
    ):
        function(x)


class AnyName:
    def __getattr__(self, name: str) -> Any:
        raise KeyError(name)


class Computed:
    @property
    def __wrapped__(self) -> Any:
        raise ValueError


class Slots:
    __slots__ = ("__wrapped__",)

    def __getattr__(self, name: str) -> Any:
        raise KeyError(name)


def plain() -> None:
    pass


def filled(value: Any) -> Any:
    value.__wrapped__ = plain
    return value


def module() -> types.ModuleType:
    """A module that makes its attributes on demand."""
    made = types.ModuleType("made")
    made.__getattr__ = lambda name: plain  # type: ignore[method-assign]
    return made


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (AnyName(), None),
        (filled(AnyName()), plain),
        (Computed(), None),
        (filled(Slots()), plain),
        (module(), None),
        (functools.wraps(plain)(lambda: None), plain),
        (functools.lru_cache(plain), plain),
        (functools.update_wrapper(functools.partial(plain), plain), plain),
        (plain, None),
        (3, None),
        (object(), None),
        (AnyName, None),
    ],
    ids=lambda value: type(value).__name__,
)
def test_wrapped_function(value: Any, expected: Any) -> None:
    assert wrapped_function(value) is expected


def test_functions_of_np2tf() -> None:
    assert wrapped_function(np2tf.jit(plain)) is not None
    assert stored_attribute(functools.cached_property(plain), "func") is plain
