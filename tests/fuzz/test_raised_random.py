"""Random small programs mean the same converted, and raised to plain Python again."""

from __future__ import annotations

import contextlib
import copy
import io
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import np2tf
from tests.fuzz.test_control_random import programs
from tests.helpers.array_programs import programs as array_programs
from tests.helpers.raised import module_of, operators_in, outcome, raised

quiet = {"deadline": None, "suppress_health_check": list(HealthCheck)}
MESSAGES = ("UnboundLocalError", "NameError")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the converted texts."""
    return tmp_path_factory.mktemp("raised")


def compare(source: str, folder: Path, *calls: tuple[Any, ...]) -> None:
    """Compare the converted function with the raised one: results, errors, prints, written arguments."""
    text = np2tf.convert(source).text
    function = module_of(text, folder).f
    plain = getattr(function, "__wrapped__", function)
    new = raised(function)
    if new is None:
        assert not operators_in(plain), text
        return
    for args in calls:
        assert printed(new, *copy.deepcopy(args)) == printed(plain, *copy.deepcopy(args)), text


def printed(function: types.FunctionType, *args: Any) -> Any:
    """Return the outcome of a call and what it printed; the words of an error for an unbound name differ."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        result, after = outcome(function, *args)
    if result[0] in MESSAGES:
        return "unbound"
    return result, after, out.getvalue()


@given(source=programs())
@settings(max_examples=80, **quiet)
def test_programs(source: str, folder: Path) -> None:
    compare(source, folder, (np.array([3, 1, 2]), 2), (np.array([0, 5, 1]), 0))


@given(source=programs(inner=True))
@settings(max_examples=80, **quiet)
def test_programs_with_inner_functions(source: str, folder: Path) -> None:
    compare(source, folder, (np.array([3, 1, 2]), 2), (np.array([0, 5, 1]), 0))


@given(source=array_programs())
@settings(max_examples=80, **quiet)
def test_programs_over_arrays(source: str, folder: Path) -> None:
    compare(
        source, folder, (np.arange(4.0), np.array([3.0, -1.0, 0.5, 2.0]), 12), (np.ones(4), np.ones(4), 0)
    )
