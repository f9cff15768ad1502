"""Run the test modules in several processes: a process that dies takes no other test with it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from suite.replaced import NUMPY_FOLDER

TOOLS = Path(__file__).resolve().parent.parent
#: One process runs several modules together, up to this many lines of source.
LINES = 4000
#: A process that dies is started again, without the tests that it has run, at most so often.
RESTARTS = 25


@dataclass(frozen=True)
class Outcome:
    """The outcome of one test.

    Attributes:
        id: path, class, name and parameters, as pytest spells them, relative to the numpy package.
        outcome: passed, failed, crashed, skipped or xfailed.
        host: how many operations were handed to NumPy while the test ran.
        seconds: how long the test took.
        cause: the exception, and where it was raised.
    """

    id: str
    outcome: str
    host: int
    seconds: float
    cause: str

    @property
    def module(self) -> str:
        """Return the test's file."""
        return self.id.partition("::")[0]


def batches(modules: Iterable[str]) -> list[list[str]]:
    """Return the modules in groups that are large enough for a process, the longest module first."""
    lengths = {name: (NUMPY_FOLDER / name).read_text(encoding="utf-8").count("\n") for name in modules}
    made: list[list[str]] = []
    room = 0
    for name in sorted(lengths, key=lambda name: -lengths[name]):
        if room < lengths[name]:
            made.append([])
            room = LINES
        made[-1].append(name)
        room -= lengths[name]
    return made


def run(modules: Iterable[str], jobs: int, timeout: int, options: list[str], quiet: bool) -> list[Outcome]:
    """Return the outcomes of all tests of these modules, sorted by id.

    Args:
        modules: files relative to the numpy package.
        jobs: how many processes run at a time.
        timeout: seconds that one test may take.
        options: more arguments for pytest, such as ``-k name``.
        quiet: whether to print no progress.
    """
    outcomes: list[Outcome] = []
    groups = batches(modules)
    with ThreadPoolExecutor(jobs) as pool:
        for done, (group, made) in enumerate(
            pool.map(lambda group: (group, _run_group(group, timeout, options)), groups), 1
        ):
            outcomes += made
            if not quiet:
                bad = sum(outcome.outcome in ("failed", "crashed") for outcome in made)
                print(
                    f"[{done}/{len(groups)}] {' '.join(group)[:90]}: {len(made)} tests, {bad} failed",
                    flush=True,
                )
    return sorted(outcomes, key=lambda outcome: outcome.id)


def _run_group(group: list[str], timeout: int, options: list[str]) -> list[Outcome]:
    with tempfile.TemporaryDirectory() as folder:
        record, skip = Path(folder, "record"), Path(folder, "skip")
        record.touch()
        for _ in range(RESTARTS):
            finished, crashed, rows = _read(record)
            skip.write_text("\n".join([*rows, *crashed]), encoding="utf-8")
            if finished:
                break
            _start(group, record, skip, timeout, options)
        _, crashed, rows = _read(record)
        for name in crashed:
            rows[name] = Outcome(name, "crashed", 0, 0.0, "the process ended, or hung, while this test ran")
        return list(rows.values())


def _read(record: Path) -> tuple[bool, list[str], dict[str, Outcome]]:
    """Read the record of a session.

    Returns:
        True if the session ended by itself, the tests that started and never ended, and the outcomes of the
        other tests.
    """
    rows: dict[str, Outcome] = {}
    started: dict[str, None] = {}
    finished = False
    for line in record.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row["outcome"] == "finished":
            finished = True
        elif row["outcome"] == "started":
            started[row["id"]] = None
        else:
            rows[row["id"]] = Outcome(**row)
    return finished, [name for name in started if name not in rows], rows


def _start(group: list[str], record: Path, skip: Path, timeout: int, options: list[str]) -> None:
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(TOOLS.parent), str(TOOLS), os.environ.get("PYTHONPATH", "")]),
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "CUDA_VISIBLE_DEVICES": "-1",
        # With this setting, tests that need many gigabytes skip themselves.
        "NPY_AVAILABLE_MEM": "1 GB",
    }
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "--tb=no",
        "-p",
        "suite.plugin",
        "-p",
        "no:cacheprovider",
    ]
    command.append("--continue-on-collection-errors")
    command += ["-c", str(TOOLS / "suite" / "pytest.ini"), f"--rootdir={NUMPY_FOLDER}"]
    command += [f"--suite-record={record}", f"--suite-skip={skip}", f"--suite-timeout={timeout}", *options]
    command += [str(NUMPY_FOLDER / name) for name in group]
    # The record tells how the session ended: TensorFlow may end a process, so that its status says little.
    subprocess.run(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False
    )
