"""A pytest plugin: xdist's workers are replaced before they need too much memory.

Neither TensorFlow nor XLA frees compiled code before a process ends, and the suite compiles thousands of
functions. A worker that has become too large ends before its next test begins, and leaves a note of that;
the test runs in the worker that takes its place. A worker that ends without such a note has crashed, as ever.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest

#: Bytes of memory that a worker may have, looked at before each test. A worker that has compiled for five
#: minutes takes a quarter longer for the same tests; a new one takes 15 seconds to begin.
LIMIT = int(float(os.environ.get("NP2TF_TEST_WORKER_GB", "5")) * 1e9)


def _note(run: str, nodeid: str) -> Path:
    """The file by which a worker says that it has ended on purpose, before a test."""
    digest = hashlib.blake2b(nodeid.encode(), digest_size=16).hexdigest()
    return Path(tempfile.gettempdir()) / f"np2tf-recycled-{run}-{digest}"


def _resident() -> int:
    """Bytes of memory that this process has; 0 where the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


class Recycling:
    """The hooks, for a worker and for the process that distributes the tests.

    Attributes:
        count: how many tests this worker has begun.
    """

    def __init__(self) -> None:
        self.count = 0

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> None:
        """End a worker that is too large, unless the test would be its first."""
        worker = getattr(item.config, "workerinput", None)
        if worker is not None and self.count and _resident() > LIMIT:
            _note(worker["testrunuid"], item.nodeid).touch()
            os._exit(0)
        self.count += 1

    @pytest.hookimpl(optionalhook=True)
    def pytest_handlecrashitem(self, crashitem: str, report: Any, sched: Any) -> None:
        """Give the test back to the other workers where its worker has ended on purpose."""
        note = _note(report.node.workerinput["testrunuid"], crashitem)
        if note.exists():
            note.unlink()
            report.outcome, report.when, report.longrepr = "passed", "setup", None
            sched.mark_test_pending(crashitem)
