"""Show the report of a run: as text for people, as JSON for programs."""

from __future__ import annotations

import atexit
import json
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from np2tf import __version__
from np2tf.core.counts import TakenOver
from np2tf.core.faults import note_fault
from np2tf.loading.import_hook import diagnostics_met
from np2tf.staging.report import Function, Place, Report, Time, Watch

#: The maximal number of functions and diagnostics in the text. JSON has all of them.
ROWS = 10


def report_at_exit(form: str, file: Path | None) -> None:
    """Begin to record a report, and write it when the interpreter ends, after all exit functions.

    Args:
        form: "text" or "json".
        file: the file to write; None is standard error.
    """
    watch = Watch()
    process = os.getpid()

    def write() -> None:
        if os.getpid() != process:  # a copy of this process, by fork
            return
        try:
            report = watch.stop()
            text = as_json(report) if form == "json" else as_text(report)
        except Exception as error:
            note_fault(error)
            return
        if file is None:
            sys.stdout.flush()
            print(text, file=sys.stderr)
            return
        try:
            file.write_text(text + "\n", encoding="utf-8")
        except OSError as error:
            print(f"np2tf run: NP2TF906 {file}: {error.strerror or error}", file=sys.stderr)

    atexit.register(write)


def as_json(report: Report) -> str:
    """Return the complete report as JSON."""
    entries = [
        {"code": finding.code, "path": finding.path, "line": finding.line, "message": finding.message}
        for finding in diagnostics_met()
    ]
    return json.dumps({"np2tf": __version__, **report.to_data(), "diagnostics": entries}, indent=2)


def as_text(report: Report) -> str:
    """Return the report as text for people."""
    return "\n".join(_lines(report))


def _lines(report: Report) -> Iterable[str]:
    yield ""
    yield f"np2tf: {report.seconds:.2f} s in total"
    yield from _where(report)
    yield from _section("Slowest code that need not run on NumPy", report.fallbacks, _place)
    yield from _section("Slowest NumPy operations on NumPy arrays", report.host_calls, _place)
    functions = sorted(report.functions.values(), key=lambda function: -function.seconds)
    yield from _section("Jitted functions", functions, _function)
    yield from _section("Loops that continued as compiled code", report.loops, _loop)
    yield from _section("Not compiled, and why", list(report.unjitted.values()), _reason)
    lines = [f"  {_relative(str(finding))}" for finding in diagnostics_met()]
    yield from _section("Left unchanged by the translation", lines, str)


def _where(report: Report) -> Iterable[str]:
    rows = (
        ("compiled by XLA", report.compiled, "calls"),
        ("TensorFlow graphs", report.graph, "calls"),
        ("tracing, compiling", report.compiling, "traces"),
        ("TensorFlow, eager", report.eager, "operations"),
        ("NumPy", report.host, "operations"),
    )
    for name, time, unit in rows:
        yield f"  {name:<20}{time.seconds:>9.3f} s{time.calls:>10} {unit}"
    yield f"  {'everything else':<20}{report.other_seconds:>9.3f} s"


def _section(title: str, rows: list[Any], show: Callable[[Any], str]) -> Iterable[str]:
    if rows:
        yield f"{title}:"
        yield from (show(row) for row in rows[:ROWS])
        if len(rows) > ROWS:
            yield f"  … and {len(rows) - ROWS} more (--report json has all)"


def _place(place: Place) -> str:
    return f"{_seconds(place)}  {_relative(place.path)}:{place.line}  {place.name}: {place.code or place.why}"


def _reason(place: Place) -> str:
    where = f"{_relative(place.path)}:{place.line}"
    return f"  {where}: {place.code} {place.name}: {place.why} ({place.calls} calls)"


def _function(function: Function) -> str:
    parts = {"compiled": function.compiled, "graph": function.graph, "on NumPy": function.host}
    ran = ", ".join(f"{time.calls} {name}" for name, time in parts.items() if time.calls)
    traces = f"; {function.compiling.calls} traces, {function.compiling.seconds:.2f} s compiling"
    total = Time(sum(time.calls for time in parts.values()), function.seconds)
    text = f"{ran}{traces if function.compiling.calls else ''}"
    return f"{_seconds(total)}  {_relative(function.path)}:{function.line}  {function.name}: {text}"


def _loop(loop: TakenOver) -> str:
    back = f"; {loop.returned}× back to NumPy" if loop.returned else ""
    text = f"from iteration {loop.round} on: {loop.host:.2f} s before, {loop.compiling:.2f} s compiling"
    where = f"{_relative(loop.path)}:{loop.line}  {loop.name}"
    return (
        f"{_seconds(Time(loop.times, loop.compiled))}  {where}: {text}, {loop.compiled:.2f} s compiled{back}"
    )


def _seconds(time: Time) -> str:
    return f"{time.seconds:>9.3f} s{time.calls:>8}×"


def _relative(path: str) -> str:
    here = os.getcwd() + os.sep
    return path.removeprefix(here)
