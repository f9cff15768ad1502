"""Callees that no text of staged code shows: pure callees are traced, and other callees stay on the host."""

from __future__ import annotations

import contextlib
import importlib
import io
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import np2tf
from np2tf.core.counts import counts
from np2tf.staging.xla import supervision
from tests.helpers.callee_programs import PROGRAMS, CalleeProgram

TIERS = ("compile", "auto")


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder for the package `pk`."""
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path / "pk"
    _forget()


def _forget() -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "pk"]:
        del sys.modules[name]


def _written(folder: Path, made: CalleeProgram) -> None:
    folder.mkdir()
    for name, text in made.sources().items():
        (folder / name).write_text(text)


def _ran(main: Any) -> tuple[Any, str]:
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        return main(), printed.getvalue()


def _assert_close(found: Any, wanted: Any) -> None:
    """Equal kinds; XLA may fuse a product and a sum, which rounds once."""
    assert type(found) is type(wanted)
    if isinstance(wanted, (list, tuple)):
        assert len(found) == len(wanted)
        for found_part, wanted_part in zip(found, wanted):
            _assert_close(found_part, wanted_part)
    elif isinstance(wanted, (str, type)):
        assert found == wanted
    else:
        np.testing.assert_allclose(found, wanted, rtol=1e-14)


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_callees(name: str, tier: str, package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # On a busy machine a call may stand still as long as one that is given up because others may wait.
    monkeypatch.setattr(supervision, "LONGEST", 10.0)
    made = PROGRAMS[name]
    _written(package, made)
    wanted = _ran(importlib.import_module("pk.main").main)
    _forget()
    with np2tf.config.using(tier=tier), np2tf.translating("pk"):
        module = importlib.import_module("pk.main")
        before = counts.compiled + counts.graph
        known = len(counts.fallbacks)
        found = _ran(module.main)
    assert found[1] == wanted[1]
    _assert_close(found[0], wanted[0])
    if tier == "compile":
        reasons = [fallback.reason for fallback in counts.fallbacks[known:]]
        assert (counts.compiled + counts.graph > before) is (made.staged is True), reasons
        if isinstance(made.staged, str):
            assert any(made.staged in reason for reason in reasons), reasons


def test_a_source_that_has_changed_since_is_not_what_is_traced(package: Path) -> None:
    made = CalleeProgram(
        """
        from .other import g

        def run(x):
            for i in range(5):
                x = x * 0.5 + g(x)
            return x
        # file other.py
        def g(x):
            return x / 4
        """,
        "run(x)",
    )
    _written(package, made)
    wanted = _ran(importlib.import_module("pk.main").main)
    _forget()
    with np2tf.config.using(tier="compile"), np2tf.translating("pk"):
        module = importlib.import_module("pk.main")
        (package / "other.py").write_text("def g(x):\n    return x / 400\n")
        known = len(counts.fallbacks)
        _assert_close(_ran(module.main), wanted)
        assert any("has changed" in fallback.reason for fallback in counts.fallbacks[known:])
