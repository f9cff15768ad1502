"""A pytest plugin that writes the outcome of each test into a file: `-p np2tf.cli.verify.outcomes_plugin`.

Each test adds a line of JSON as soon as it has ended, so that an interrupted run leaves the outcomes so far.
The plugin imports neither NumPy nor TensorFlow nor the translator.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest


OPTION = "--np2tf-outcomes"
_RANKS = ("passed", "skipped", "xfailed", "xpassed", "failed", "error")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that names the file."""
    parser.getgroup("np2tf").addoption(OPTION, metavar="FILE", help="write the outcomes of tests there")


def pytest_configure(config: pytest.Config) -> None:
    """Write outcomes; not in the workers of pytest-xdist, whose reports arrive in the main process."""
    file = config.getoption(OPTION)
    if file and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Writer(file))


class _Writer:
    def __init__(self, file: str) -> None:
        self._file = file
        self._reports: dict[str, dict[str, Any]] = {}

    def _write(self, **entry: Any) -> None:
        # The file is opened each time, because tests may fork, and may close open files.
        with open(self._file, "a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Write the number of tests (which is unknown here under pytest-xdist)."""
        if session.items:
            self._write(total=len(session.items))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Write the outcome of a file that cannot be collected: an error, or skipped."""
        if report.outcome != "passed":
            outcome = "skipped" if report.outcome == "skipped" else "error"
            self._write(test=report.nodeid or ".", outcome=outcome, seconds=0.0, message=_message(report))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Join the outcomes of a test's setup, call and teardown; the worst outcome counts."""
        record = self._reports.setdefault(report.nodeid, {"outcome": "passed", "seconds": 0.0, "message": ""})
        if report.when == "call":
            record["seconds"] += report.duration
        outcome = _outcome(report)
        if _RANKS.index(outcome) > _RANKS.index(record["outcome"]):
            record["outcome"], record["message"] = outcome, _message(report)
        if report.when == "teardown":
            self._write(test=report.nodeid, **self._reports.pop(report.nodeid))

    def pytest_terminal_summary(self, config: pytest.Config) -> None:
        """Write the counts of the plugin that translates."""
        plugin: Any = config.pluginmanager.get_plugin("np2tf")
        processes = plugin.collect_counts(config) if hasattr(plugin, "collect_counts") else None
        if processes is not None:
            self._write(translated=processes)


def _outcome(report: pytest.TestReport) -> str:
    if hasattr(report, "wasxfail"):
        return "xfailed" if report.skipped else "xpassed"
    if report.failed:
        return "failed" if report.when == "call" else "error"
    return str(report.outcome)


def _message(report: pytest.CollectReport | pytest.TestReport) -> str:
    """Return the last line of the error, or the reason why a test was skipped."""
    if isinstance(report.longrepr, tuple):
        return str(report.longrepr[2])
    crash = getattr(report.longrepr, "reprcrash", None)
    lines = [line for line in str(crash.message if crash else report.longrepr or "").splitlines() if line]
    wrong = [line[1:].strip() for line in lines if line.startswith("E  ")]
    return (wrong or lines or [""])[-1 if not crash else 0][:300]
