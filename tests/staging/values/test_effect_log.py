"""Effects of code that XLA compiles: they go by a log, and come in NumPy's order, once per call."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import np2tf
from np2tf.staging.values import output
from tests.helpers.differential import HEAD, load, translation

LOGS = """
import logging

log = logging.getLogger("of_the_log")


def f(x):
    log.info("begin %d", len(x))
    for i in range(len(x)):
        if x[i] > 0.5:
            log.info("large %d", i)
        x[i] *= 2
        for j in range(10):
            if x[i] > 1.8 and j % 4 == 1:
                log.warning("huge %d %d %s", i, j, x[i] > 1.9)
        if i % 5 == 0:
            print("at", i)
    log.info("end")
    return x.sum()
"""

IN_A_GRAPH = """
def f(x):
    out = []
    print("begin")
    for i in range(len(x)):
        if x[i] > 0.5:
            print("found", i)
            out.append(i)
    print("then", len(x))
    for i in range(len(x)):
        if x[i] < 0.1:
            print("small", i)
    return np.array(out, dtype=int)
"""

FLOATS = """
def f(x):
    for i in range(len(x)):
        print("value", x[i])
    return x.sum()
"""

WHOLE = """
def f(x, n):
    print("numbers", n, n + 1, n % 2 == 0)
    if n > 3:
        print("more than three")
    return x * n
"""


@pytest.fixture(autouse=True)
def compiled() -> Iterator[None]:
    with np2tf.config.using(jit="on", tier="compile"):
        yield


class Told(logging.Handler):
    """Prints records, so that they stand among the prints."""

    def emit(self, record: logging.LogRecord) -> None:
        print(record.levelname, record.getMessage())


@pytest.fixture
def logger() -> Iterator[None]:
    told, logger = Told(), logging.getLogger("of_the_log")
    before = logger.level, logger.propagate
    logger.addHandler(told)
    logger.setLevel(logging.INFO)
    logger.propagate = False
    yield
    logger.removeHandler(told)
    logger.level, logger.propagate = before


def functions(body: str) -> tuple[Any, Any]:
    return load(HEAD + body)["f"], load(translation(HEAD + body))["f"]


@pytest.mark.parametrize(
    ("body", "runs"),
    [(LOGS, "xla"), (IN_A_GRAPH, "graph"), (FLOATS, "graph")],
    ids=["in an XLA program", "in a loop that XLA compiles", "floats, whose last digit counts"],
)
def test_order_and_number(body: str, runs: str, logger: None, capsys: pytest.CaptureFixture[str]) -> None:
    reference, translated = functions(body)
    for seed in range(3):
        x = np.random.default_rng(seed).random(40)
        wanted = reference(x.copy()), capsys.readouterr().out
        found = translated(x.copy()), capsys.readouterr().out
        np.testing.assert_allclose(found[0], wanted[0], rtol=1e-13)
        assert found[1] == wanted[1]
        assert len(wanted[1].splitlines()) > 10
    how = translated.explain(np.zeros(40))
    assert how.runs == runs
    assert set(how.loops) == ({"xla"} if body != FLOATS else {"graph"})
    assert capsys.readouterr().out == ""


def test_numbers_that_are_inputs(capsys: pytest.CaptureFixture[str]) -> None:
    reference, translated = functions(WHOLE)
    for n in range(9):
        wanted = reference(np.arange(3.0), n), capsys.readouterr()
        found = translated(np.arange(3.0), n), capsys.readouterr()
        np.testing.assert_array_equal(found[0], wanted[0])
        assert found[1] == wanted[1]
    assert translated.explain(np.arange(3.0), 9).runs == "xla"


MANY = """
def f(x):
    if x[0] > 0:
        LINES
    return x * 2
"""


@pytest.mark.filterwarnings("ignore::np2tf.staging.host.jit.UnjittedWarning")
@pytest.mark.parametrize("lines", [3, output.QUEUE_LENGTH, output.QUEUE_LENGTH + 1])
def test_outside_of_loops(lines: int, capsys: pytest.CaptureFixture[str]) -> None:
    prints = "\n        ".join(f'print("line {k}", x[1] > {k})' for k in range(lines))
    reference, translated = functions(MANY.replace("LINES", prints))
    for x in (np.arange(1.0, 4.0), -np.ones(3), np.arange(1.0, 4.0)):
        wanted = reference(x).tolist(), capsys.readouterr().out
        assert (translated(x).tolist(), capsys.readouterr().out) == wanted


@pytest.mark.filterwarnings("ignore::np2tf.staging.host.jit.UnjittedWarning")
def test_more_than_the_log_holds(
    monkeypatch: pytest.MonkeyPatch, logger: None, capsys: pytest.CaptureFixture[str]
) -> None:
    """The call is discarded with all its effects, and repeated on the host."""
    monkeypatch.setattr(output, "RECORDS", 50)
    reference, translated = functions(LOGS)
    x = np.random.default_rng(0).random(40) + 0.4
    wanted = reference(x.copy()), capsys.readouterr().out
    assert len(wanted[1].splitlines()) > 50
    assert (translated(x.copy()), capsys.readouterr().out) == wanted
