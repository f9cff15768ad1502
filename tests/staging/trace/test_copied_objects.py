"""Objects that are copied attribute by attribute, also under names that the code does not say."""

from __future__ import annotations

import numpy as np
import pytest

import np2tf
from np2tf.staging.trace.captures import Dependencies
from tests.helpers.differential import load, translation

MODULE = """import copy
import dataclasses
import numpy as np
from copy import copy as twin
from dataclasses import dataclass, replace as changed


@dataclass
class State:
    x: np.ndarray
    drift: float
    name: str = "a"


def imported(state):
    return changed(state, x=state.x * 2)


def by_module(state):
    return dataclasses.replace(state, x=state.x * 2)


def renamed(state):
    other = twin(state)
    other.x = state.x * 2
    return other


def within(state):
    from copy import copy as duplicate

    other = duplicate(state)
    other.x = state.x * 2
    return other


def of_arrays(state):
    x = state.x.copy()
    x[0] = 7.0
    return x


def of_text(state):
    return state.x * len(state.name.replace("a", "bc"))
"""
COPYING, NAMING = ("imported", "by_module", "renamed", "within"), ("of_arrays", "of_text")


@pytest.mark.parametrize("name", COPYING)
def test_a_copy_has_the_attributes_that_nobody_names(name: str) -> None:
    numpy_space, np2tf_space = load(MODULE), load(translation(MODULE))
    with np2tf.config.using(tier="compile", jit="on"):
        for drift in (1.5, 2.5):
            states = [
                space["State"](np.arange(3.0), drift, "b" * int(drift))
                for space in (numpy_space, np2tf_space)
            ]
            results = [
                space[name](state) for space, state in zip((numpy_space, np2tf_space), states, strict=True)
            ]
            np.testing.assert_array_equal(results[1].x, results[0].x)
            assert (results[1].drift, results[1].name) == (results[0].drift, results[0].name)


@pytest.mark.parametrize("name", [*COPYING, *NAMING])
def test_only_copies_of_objects_touch_every_attribute(name: str) -> None:
    assert Dependencies(load(MODULE)[name]).any_attribute == (name in COPYING)
