"""Try a package that nobody has looked at before: run its tests on plain NumPy and translated, and compare
each.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tools.packages.fetch import FetchError
from tools.packages.layout import test_arguments
from tools.packages.runs import MODES, Run, execute
from tools.packages.sdist import Installed, add, installed

RESULTS = "results"
#: Test tools that packages use without declaring them: import name -> distribution.
_TOOLS = {
    "pytest_mock": "pytest-mock",
    "pytest_cases": "pytest-cases",
    "pytest_subtests": "pytest-subtests",
    "pytest_benchmark": "pytest-benchmark",
    "pytest_check": "pytest-check",
    "sklearn": "scikit-learn",
    "skimage": "scikit-image",
    "dask": "distributed",
    "pkg_resources": "setuptools<81",
    **{
        name: name
        for name in ("hypothesis", "pandas", "sympy", "parameterized", "ddt", "nose", "mock", "six")
    },
    **{name: name for name in ("numba", "nbval", "testfixtures", "requests", "tqdm", "numpoly", "xarray")},
}
#: If one file cannot be imported because a package is missing, the other files are run all the same.
_OPTIONS = ("--continue-on-collection-errors",)
_ABSENT = re.compile(r"No module named '([\w.]+)'")
_CALLS = re.compile(r"jitted calls: (\d+) compiled, (\d+) graph, (\d+) on NumPy")


def on_numpy(wanted: str, folder: Path, timeout: float) -> dict[str, Any]:
    """Return the record of a package with its tests on NumPy. The record is made once and kept in `folder`.

    A package is kept if it is pure Python, its tests end in time, and at least one test passes.
    """
    file = folder / RESULTS / f"{wanted.replace('==', '-')}.json"
    if file.exists():
        return dict(json.loads(file.read_text(encoding="utf-8")))
    record: dict[str, Any] = {"package": wanted, "kept": False}
    try:
        found = installed(wanted, folder)
        record |= _tried(found, folder / wanted.replace("==", "-"), timeout)
    except (FetchError, OSError, ValueError) as error:
        record["reason"] = str(error)
    _write(file, record)
    return record


def _tried(found: Installed, place: Path, timeout: float) -> dict[str, Any]:
    tests = test_arguments(found.source)
    if not tests:
        return {"reason": "its source distribution has no tests"}
    if not found.modules:
        return {"reason": "it has no modules"}
    arguments, python = (*_OPTIONS, *tests), str(found.python)
    run = execute(found.source, arguments, timeout=timeout, python=python)
    absent = {_TOOLS[name] for name in _ABSENT.findall(run.output) if name in _TOOLS}
    if absent and add(found.python, sorted(absent), place):
        run = execute(found.source, arguments, timeout=timeout, python=python)
    (place / "numpy.txt").write_text(run.output, encoding="utf-8")
    record = {
        "modules": found.modules,
        "arguments": arguments,
        "source": str(found.source.relative_to(place.parent)),
        "python": str(found.python.relative_to(place.parent)),
        "numpy": {**_outcome(run), "passed": sorted(run.passed), "version": version("numpy")},
    }
    if not run.ended:
        return {**record, "reason": f"its tests take more than {timeout:g} s on NumPy"}
    if not run.passed:
        return {**record, "reason": f"none of its tests passes on NumPy: {_why(run)}"}
    return {**record, "kept": True}


def translated(
    record: Mapping[str, Any], folder: Path, timeout: float, mode: str = "default"
) -> dict[str, Any]:
    """Return the record with the same tests on the translated package, test by test."""
    run = execute(
        folder / record["source"],
        record["arguments"],
        record["modules"],
        timeout,
        MODES[mode],
        str(folder / record["python"]),
    )
    place = folder / record["package"].replace("==", "-")
    (place / "translated.txt").write_text(run.output, encoding="utf-8")
    on_numpy = set(record["numpy"]["passed"])
    calls = _CALLS.search(run.output)
    counted = zip(("compiled", "graph", "host"), map(int, calls.groups()) if calls else (0, 0, 0))
    made = {
        **record,
        "translated": {
            **_outcome(run),
            "passed": len(on_numpy & run.passed),
            "calls": dict(counted),
            "fails_only_translated": {
                name: run.errors.get(name, "it did not run" if run.ended else "not in time")
                for name in sorted(on_numpy - run.passed)
            },
            "nothing_translated": "ERROR: nothing of" in run.output,
        },
    }
    _write(folder / RESULTS / f"{record['package'].replace('==', '-')}.translated.json", made)
    return made


def _outcome(run: Run) -> dict[str, Any]:
    counts = {kind: list(run.outcomes.values()).count(kind) for kind in ("failed", "error", "skipped")}
    return {**counts, "seconds": round(run.seconds, 1), "ended": run.ended}


def _why(run: Run) -> str:
    last = [*run.errors.values(), *(line for line in run.output.splitlines() if line.strip())]
    return last[0] if run.errors else last[-1] if last else "pytest printed nothing"


def _write(file: Path, record: Mapping[str, Any]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
