"""The gallery's functions: NumPy's, both translations and what is written by hand have the same results."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from np2tf import config
from tools.gallery import PAGE
from tools.gallery_functions import functions, value_of, with_translations

TEXT = PAGE.read_text(encoding="utf-8")
FUNCTIONS = functions(TEXT)
rng = np.random.default_rng(20261129)
_points = rng.uniform(0.0, 6.0, (2, 30))
_square = rng.normal(size=(4, 4))
#: name of a function -> its arguments
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "softmax": (rng.normal(size=(5, 7)),),
    "leaky_relu": (rng.normal(size=20), 0.1),
    "standardise": (np.column_stack([rng.normal(size=(9, 3)), np.ones(9)]),),
    "distances": (rng.normal(size=(6, 3)), rng.normal(size=(4, 3))),
    "one_hot": (rng.integers(0, 5, 12), 5),
    "moving_average": (rng.normal(size=40), 7),
    "heat": (rng.normal(size=30), 80),
    "power_iteration": (_square @ _square.T, 70),
    "newton_sqrt": (np.float64(7.5),),
    "escape_times": (rng.normal(size=(6, 8)) + 1j * rng.normal(size=(6, 8)), 30),
    "life": (rng.random((12, 15)) < 0.4,),
    "kalman_update": (
        rng.normal(size=4),
        _square @ _square.T,
        rng.normal(size=2),
        rng.normal(size=(2, 4)),
        np.eye(2),
    ),
    "horner": (rng.normal(size=5), rng.normal(size=11)),
    "attention": (*rng.normal(size=(3, 2, 5, 4)), rng.random((2, 5, 5)) < 0.9),
    "bilinear": (rng.normal(size=(8, 8)), *_points),
    "max_drawdown": (100.0 + np.cumsum(rng.normal(size=60)),),
    "gini": (rng.random(25),),
    "fit": (rng.normal(size=(20, 3)), rng.integers(0, 2, 20).astype(float), 0.1, 80),
    "power_spectrum": (rng.normal(size=64), 100.0),
    "top_k": (rng.permuted(np.arange(30.0).reshape(3, 10), axis=1), 4),
}


def test_the_section_is_up_to_date() -> None:
    """The page has the translations that np2tf makes today, of at least twenty functions."""
    assert with_translations(TEXT) == TEXT
    assert list(FUNCTIONS) == list(ARGUMENTS)
    assert len(FUNCTIONS) >= 20


@pytest.mark.parametrize("name", ARGUMENTS)
def test_all_versions_are_equal(name: str) -> None:
    """The results have NumPy's dtypes and values up to rounding; so have the arguments, unless by hand."""
    versions, arguments = FUNCTIONS[name], copy.deepcopy(ARGUMENTS[name])
    expected = value_of(versions.numpy, name)(*arguments)
    for text in (versions.np2tf, versions.tensorflow):
        ours = copy.deepcopy(ARGUMENTS[name])
        _check(_compiled(value_of(text, name), *ours), expected)
        _check(ours, arguments)
    import tensorflow as tf

    tensors = [tf.constant(value) if isinstance(value, np.ndarray) else value for value in ARGUMENTS[name]]
    _check(value_of(versions.by_hand, name)(*tensors), expected)


def _compiled(function: Callable[..., Any], *arguments: Any) -> Any:
    with config.using(tier="compile"):
        return function(*arguments)


def _check(found: Any, expected: Any) -> None:
    if isinstance(expected, tuple):
        for one, other in zip(found, expected, strict=True):
            _check(one, other)
        return
    found, expected = np.asarray(found), np.asarray(expected)
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
