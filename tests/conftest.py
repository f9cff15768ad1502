"""The set-up of the whole suite: a quiet TensorFlow, and a number of processes that fits the chosen tests."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path

import pytest

from tests.helpers.forked_tests import ForkedTests

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
# Tests translate anew, and leave the user's own cache alone; the cache's tests name a folder.
os.environ.setdefault("NP2TF_CACHE", "off")

ROOT = Path(__file__).resolve().parent.parent


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """One process for a single file or test: a worker imports TensorFlow, which takes longer than most files.

    More than four workers would only wait for memory.
    """
    asked = [argument.split("::")[0] for argument in config.args]
    if len(asked) == 1 and asked[0].endswith(".py"):
        return 0
    return max(1, min(4, os.cpu_count() or 1))


def pytest_configure(config: pytest.Config) -> None:
    """Workers of xdist run their tests in forks."""
    if hasattr(config, "workerinput"):
        config.pluginmanager.register(ForkedTests())


def pytest_collection_finish() -> None:
    """Objects that imports and the collection have made stay: no look for garbage goes through them again.

    TensorFlow has a million of them. Tests that ask for a collection get a collection of younger objects.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 10, 10)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Tests marked `long` run only where they are asked for."""
    if item.get_closest_marker("long") and "long" not in item.config.option.markexpr:
        pytest.skip("takes minutes to hours: runs with -m long")


@pytest.fixture(autouse=True)
def _no_debts() -> None:
    """What other tests have spent on compiling is no reason against it here."""
    if (module := sys.modules.get("np2tf.staging.tiers.ledger")) is not None:
        module.ledger.__init__()


@pytest.fixture(scope="session")
def root() -> Path:
    """The top folder of the checkout."""
    return ROOT


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--steps``: how long the state machine runs (tests/fuzz/test_state_machine.py)."""
    parser.addoption(
        "--steps", default="600", help="steps of the indexing state machine (20000 eager: minutes)"
    )
