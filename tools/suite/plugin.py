"""The pytest plugin: imports modules with NumPy replaced, limits the time of a test, records the outcomes."""

from __future__ import annotations

import faulthandler
import importlib
import json
import os
import signal
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

from suite import replaced

_STATE: dict[str, Any] = {}


class TooSlow(BaseException):
    """A test exceeds its time limit."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options that the runner passes."""
    group = parser.getgroup("numpy suite")
    group.addoption(
        "--suite-record", default=os.devnull, help="file of one JSON line for every start and end"
    )
    group.addoption("--suite-timeout", type=int, default=60, help="seconds that a test may take")
    group.addoption("--suite-skip", help="file of test ids, one a line, that are not run again")
    group.addoption("--suite-oracle", action="store_true", help="run NumPy's tests on NumPy itself")


def pytest_configure(config: pytest.Config) -> None:
    """Run every operation on TensorFlow, and make the stand-ins importable."""
    _STATE["record"] = open(config.getoption("--suite-record"), "a", encoding="utf-8")  # noqa: SIM115
    _STATE["timeout"] = config.getoption("--suite-timeout")
    _STATE["oracle"] = config.getoption("--suite-oracle")
    signal.signal(signal.SIGALRM, _stop)
    if not _STATE["oracle"]:
        import np2tf

        np2tf.config.eager = "tensorflow"
        replaced.install()


def _stop(number: int, frame: FrameType | None) -> None:
    raise TooSlow


class SuiteModule(pytest.Module):
    """A module of NumPy's tests with NumPy replaced."""

    def _getobj(self) -> Any:
        try:
            return importlib.import_module(replaced.module_name(self.path))
        except pytest.skip.Exception:
            raise
        except Exception as error:
            raise self.CollectError(traceback.format_exc()) from error


def pytest_pycollect_makemodule(module_path: Path, parent: Any) -> pytest.Module | None:
    """Collect a test module by way of its stand-in."""
    return None if _STATE["oracle"] else SuiteModule.from_parent(parent, path=module_path)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Remove the tests that ran before a crash."""
    path = config.getoption("--suite-skip")
    if path:
        done = set(Path(path).read_text(encoding="utf-8").splitlines())
        items[:] = [item for item in items if item.nodeid not in done]


def _write(**row: Any) -> None:
    _STATE["record"].write(json.dumps(row) + "\n")
    _STATE["record"].flush()


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """Record a module that cannot be imported as one failure."""
    if report.failed:
        _write(id=report.nodeid, outcome="failed", host=0, seconds=0, cause=str(report.longrepr)[-400:])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[Any]:
    """Record that a test starts, so that a test which ends the process is known, and record its outcome."""
    from np2tf.core.counts import counts

    _write(id=item.nodeid, outcome="started")
    _STATE.update(outcome="passed", cause="", begun=time.monotonic(), host=counts.host)
    np.random.seed(0)  # whether some tests fail depends on what they draw
    signal.alarm(_STATE["timeout"])
    # A test that hangs inside TensorFlow ends the process.
    faulthandler.dump_traceback_later(3 * _STATE["timeout"], exit=True)
    try:
        return (yield)
    finally:
        signal.alarm(0)
        faulthandler.cancel_dump_traceback_later()
        _write(
            id=item.nodeid,
            outcome=_STATE["outcome"],
            host=counts.host - _STATE["host"],
            seconds=round(time.monotonic() - _STATE["begun"], 2),
            cause=_STATE["cause"],
        )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[Any]:
    """Keep the outcome of a test and, in short, why it failed."""
    report = yield
    if report.skipped:
        _STATE["outcome"] = "xfailed" if hasattr(report, "wasxfail") else "skipped"
    elif report.failed:
        _STATE["outcome"] = "failed"
        _STATE["cause"] = _cause(call) or str(report.longrepr)
    return report


def _cause(call: pytest.CallInfo[None]) -> str:
    """Return the exception, and the place in the op library (else in the test) that raised it."""
    if call.excinfo is None:
        return ""
    error = call.excinfo.value
    frames = traceback.extract_tb(error.__traceback__)
    np2tf_frames = [frame for frame in frames if f"{os.sep}np2tf{os.sep}" in frame.filename]
    tests = [frame for frame in frames if f"{os.sep}tests{os.sep}" in frame.filename]
    last = (np2tf_frames or tests or frames)[-1:]
    where = "".join(f" @ {Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in last)
    line = "".join(f" <- {frame.line}" for frame in tests[-1:])
    text = " ".join(str(error).split())[:200]
    return f"{type(error).__name__}: {text}{where}{line}"


def pytest_unconfigure() -> None:
    """Record that the session ended by itself."""
    _write(id="", outcome="finished")
    _STATE["record"].close()
