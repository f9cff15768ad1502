"""`shard_map` on two devices of one process, compared with NumPy on the whole arrays."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.transforms import two_devices

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return the outcome of each case in a process with two devices."""
    path = tmp_path_factory.mktemp("two_devices") / "outcomes"
    command = [sys.executable, str(HERE / "two_devices.py"), str(path)]
    environment = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONPATH": str(HERE.parents[1])}
    process = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert process.returncode == 0, process.stderr[-3000:]
    return pickle.loads(path.read_bytes())


@pytest.mark.parametrize("name", two_devices.EXPECTED)
def test_values(name: str, outcomes: Any) -> None:
    """The values are NumPy's to rounding, with its dtypes and shapes."""
    kind, given = outcomes[name]
    assert kind == "value", given
    check(given, two_devices.EXPECTED[name]())


@pytest.mark.parametrize("name", two_devices.ERRORS)
def test_errors(name: str, outcomes: Any) -> None:
    """An error says why a function cannot run in replicas."""
    kind, given = outcomes[name]
    error, text = two_devices.ERRORS[name]
    assert (kind, given[0]) == ("error", error), given
    assert text in given[1]


def check(given: Any, expected: Any) -> None:
    """Compare nested values."""
    if isinstance(expected, dict):
        assert list(given) == list(expected)
        given, expected = list(given.values()), list(expected.values())
    if isinstance(expected, (list, tuple)):
        assert len(given) == len(expected)
        for one, other in zip(given, expected, strict=True):
            check(one, other)
        return
    assert np.asarray(given).dtype == np.asarray(expected).dtype
    tolerance = (
        1e-3 if np.asarray(expected).dtype.itemsize < 8 and np.asarray(expected).dtype.kind in "fc" else 1e-12
    )
    np.testing.assert_allclose(given, expected, rtol=tolerance, atol=tolerance / 10, strict=True)
