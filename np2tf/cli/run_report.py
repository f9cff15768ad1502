"""Show the report of a run: as text for people, as JSON for programs."""

from __future__ import annotations

import atexit
import json
import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from np2tf import __version__
from np2tf.cli.output import quantity
from np2tf.cli.report.hot_code import Hot, hot_code, share_of
from np2tf.core.counts import TakenOver
from np2tf.core.faults import note_fault
from np2tf.loading.import_hook import diagnostics_met
from np2tf.staging.report import Account, Function, Place, Report, Time
from np2tf.staging.watch import Watch

#: The maximal number of functions and diagnostics in the text. JSON has all of them.
ROWS = 10


def report_at_exit(form: str, file: Path | None, of_operations: bool = False) -> None:
    """Begin to record a report, and write it when the interpreter ends, after all exit functions.

    Args:
        form: "text" or "json".
        file: the file to write; None is standard error.
        of_operations: whether to time single operations too, for programs that work with tensors.
    """
    watch = Watch(of_operations)
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
    on_host = [asdict(row) for row in hot_code(report)]
    data = {"np2tf": __version__, **report.to_data(), "on_host": on_host, "diagnostics": entries}
    return json.dumps(data, indent=2)


def as_text(report: Report) -> str:
    """Return the report as text for people."""
    return "\n".join(_lines(report))


def _lines(report: Report) -> Iterable[str]:
    yield ""
    yield f"np2tf: {report.seconds:.2f} s in total"
    yield from _where(report)
    yield from _section("What stayed on NumPy, and what helps", hot_code(report), _hot)
    yield from _ledger(report)
    yield from _section("Slowest code that need not run on NumPy", report.fallbacks, _place)
    yield from _section("Slowest NumPy operations on NumPy arrays", report.host_calls, _place)
    functions = sorted(report.functions, key=lambda function: -function.seconds)
    yield from _section("Functions over arrays", functions, _function)
    yield from _section("Loops that continued as compiled code", report.loops, _loop)
    yield from _section("Not compiled, and why", report.unjitted, _reason)
    lines = [f"  {_relative(str(finding))}" for finding in diagnostics_met()]
    yield from _section("Left unchanged by the translation", lines, str)


def _where(report: Report) -> Iterable[str]:
    notes = {
        "compiled code": (report.compiled.calls + report.graph.calls, "call"),
        "tracing": (report.compiling.calls, "trace"),
        "TensorFlow, eager": (report.eager.calls, "operation"),
    }
    for name, seconds in share_of(report).items():
        share = 100 * seconds / max(report.seconds, 1e-9)
        count, unit = notes.get(name, (0, ""))
        note = quantity(count, unit) if count else ""
        yield f"  {name:<36}{seconds:>9.2f} s {share:>5.0f} %  {note}".rstrip()


def _ledger(report: Report) -> Iterable[str]:
    spent = {name: seconds for name, seconds in report.spent.items() if seconds}
    if not spent and not report.accounts:
        return
    lost = sum(-account.saved for account in report.accounts if account.saved < 0.0)
    saved = sum(account.saved for account in report.accounts if account.saved > 0.0)
    total = sum(spent.values()) + lost
    balance = f"saved, by estimation: {saved:.2f} s; together {saved - total:+.2f} s"
    yield f"What np2tf spent: {total:.2f} s; {balance}"
    parts = [f"{_SPENT[name]} {seconds:.2f} s" for name, seconds in spent.items()]
    parts += [f"calls that were slower than on NumPy {lost:.2f} s"] if lost else []
    yield f"  spent: {', '.join(parts)}"
    for account in sorted(report.accounts, key=lambda account: account.saved - account.spent):
        yield _account(account)


_SPENT = {
    "importing": "importing TensorFlow",
    "translating": "translating",
    "tracing": "tracing",
    "xla": "XLA",
}


def _account(account: Account) -> str:
    place = f"{_relative(account.path)}:{account.line}  {account.name}"
    return f"  {account.spent:>8.2f} s spent {account.saved:>8.2f} s saved  {place}"


def _section(title: str, rows: list[Any], show: Callable[[Any], str]) -> Iterable[str]:
    if rows:
        yield f"{title}:"
        yield from (show(row) for row in rows[:ROWS])
        if len(rows) > ROWS:
            yield f"  … and {len(rows) - ROWS} more (--report json has all)"


def _hot(row: Hot) -> str:
    return f"{_seconds_and_share(row)}  {_relative(row.path)}:{row.line}  {row.text}"


def _seconds_and_share(row: Hot) -> str:
    return f"{row.seconds:>9.2f} s {100 * row.share:>4.0f} %"


def _place(place: Place) -> str:
    return f"{_seconds(place)}  {_relative(place.path)}:{place.line}  {place.name}: {place.code or place.why}"


def _reason(place: Place) -> str:
    where = f"{_relative(place.path)}:{place.line}"
    return f"  {where}: {place.code} {place.name}: {place.why} ({quantity(place.calls, 'call')})"


def _function(function: Function) -> str:
    parts = {"compiled": function.compiled, "graph": function.graph, "on NumPy": function.host}
    texts = [f"{time.calls} {name}" for name, time in parts.items() if time.calls]
    texts += [f"{function.inlined} inside compiled callers"] if function.inlined else []
    traces = f"; {quantity(function.compiling.calls, 'trace')}, {function.compiling.seconds:.2f} s compiling"
    total = Time(sum(time.calls for time in parts.values()), function.seconds)
    text = f"{', '.join(texts)}{traces if function.compiling.calls else ''}"
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
