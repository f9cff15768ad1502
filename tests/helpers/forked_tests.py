"""A pytest plugin: xdist's workers collect the tests, and run them in forks of themselves.

Neither TensorFlow nor XLA frees compiled code before a process ends, and the suite compiles thousands of
functions: a process that has compiled for five minutes takes a quarter longer for the same tests. A fork that
has become too large ends, and the next one begins with everything imported and collected. So no module of the
tests may run TensorFlow while it is imported: a process in which TensorFlow has threads cannot be forked.
"""

from __future__ import annotations

import os
import sys
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest
from xdist.remote import serialize_warning_message
from xdist.workermanage import unserialize_warning_message

from tests.helpers.warm_python import warm_python

#: Bytes of memory that a fork may have, looked at after each test.
LIMIT = int(float(os.environ.get("NP2TF_TEST_WORKER_GB", "2.5")) * 1e9)


class ForkedTests:
    """The hooks of a worker."""

    def __init__(self) -> None:
        self._fork: _Fork | None = None

    @pytest.hookimpl
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool:
        """Run a test in the worker's fork, and report what the fork reports."""
        if self._fork is None:
            warm_python()  # which all forks share
            self._fork = _Fork(item.session, self)
        # (Within a module a new fork would set the module's fixtures up again.)
        is_large = self._fork.bytes > (LIMIT if nextitem and nextitem.path != item.path else 2 * LIMIT)
        is_last = nextitem is None or is_large
        reports, warnings = self._fork.run(item, None if is_last else nextitem)
        if is_last or self._fork.has_ended:
            self._fork.end()
            self._fork = None
        hook, config = item.ihook, item.config
        hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        for warning in warnings:
            message = unserialize_warning_message(warning.pop("warning_message"))
            config.hook.pytest_warning_recorded.call_historic(kwargs={**warning, "warning_message": message})
        for data in reports:
            report = config.hook.pytest_report_from_serializable(config=config, data=data)
            hook.pytest_runtest_logreport(report=report)
        hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True

    @pytest.hookimpl(optionalhook=True, tryfirst=True)
    def pytest_timeout_set_timer(self) -> bool:
        """The fork has the timer of a test."""
        return True


class _Fork:
    """A fork of this process, which runs tests one by one.

    Attributes:
        bytes: how much memory it has.
        has_ended: whether a test has ended it.
    """

    def __init__(self, session: pytest.Session, hooks: ForkedTests) -> None:
        self.bytes = 0
        self.has_ended = False
        context = sys.modules.get("tensorflow.python.eager.context")
        assert (
            context is None or context.context_safe() is None or context.context()._context_handle is None
        ), "a module of the tests runs TensorFlow while it is imported: this process cannot be forked"
        self._places = {id(item): place for place, item in enumerate(session.items)}
        self._connection, of_fork = Pipe()
        self._pid = os.fork()
        if not self._pid:
            self._connection.close()
            try:
                _serve(session, of_fork, hooks)
            finally:
                os._exit(1)
        of_fork.close()

    def run(self, item: pytest.Item, nextitem: pytest.Item | None) -> tuple[list[Any], list[Any]]:
        """Run a test; return its reports and warnings, serialised."""
        try:
            self._connection.send((self._places[id(item)], nextitem and self._places[id(nextitem)]))
            reports, warnings, self.bytes = self._connection.recv()
        except (EOFError, OSError):
            self.has_ended = True
            status = os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])
            told = f"the process that ran the test has ended: {status} (negative: the number of a signal)"
            report = pytest.TestReport(item.nodeid, item.location, {}, "failed", told, "call")
            return [item.config.hook.pytest_report_to_serializable(config=item.config, report=report)], []
        return reports, warnings

    def end(self) -> None:
        """Let the process end."""
        self._connection.close()
        if not self.has_ended:
            os.waitpid(self._pid, 0)


class _Outcome:
    """The hooks of a fork, which gather what a test reports."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self.reports: list[Any] = []
        self.warnings: list[Any] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Gather a report."""
        hook = self._config.hook
        self.reports.append(hook.pytest_report_to_serializable(config=self._config, report=report))

    def pytest_warning_recorded(self, warning_message: Any, when: str, nodeid: str, location: Any) -> None:
        """Gather a warning."""
        self.warnings.append(
            {
                "warning_message": serialize_warning_message(warning_message),
                "when": when,
                "nodeid": nodeid,
                "location": location,
            }
        )


def _serve(session: pytest.Session, connection: Connection, hooks: ForkedTests) -> None:
    """Run the tests that are asked for, until the connection is closed."""
    config, manager = session.config, session.config.pluginmanager
    # Only the worker itself talks to the process that distributes the tests. (Its class is of a module that
    # is sent to the worker as text.)
    interactor = next(one for one in manager.get_plugins() if type(one).__name__ == "WorkerInteractor")
    for plugin in (interactor, hooks):
        manager.unregister(plugin)
    outcome = _Outcome(config)
    manager.register(outcome)
    while True:
        # (What is registered is told of all warnings that there have been.)
        outcome.reports, outcome.warnings = [], []
        try:
            place, next_place = connection.recv()
        except EOFError:
            os._exit(0)
        nextitem = None if next_place is None else session.items[next_place]
        config.hook.pytest_runtest_protocol(item=session.items[place], nextitem=nextitem)
        connection.send((outcome.reports, outcome.warnings, _resident()))


def _resident() -> int:
    """Bytes of memory that this process has; 0 where the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")
