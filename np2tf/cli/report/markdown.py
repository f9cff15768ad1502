"""The report in brief, as Markdown: for pull requests and summaries of jobs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from np2tf.cli.output import quantity
from np2tf.cli.report import tables
from np2tf.cli.report.runs import Run, milliseconds
from np2tf.cli.report.survey import Survey, percent
from np2tf.cli.report.verdicts import told

#: The maximal number of rows of a table.
ROWS = 10
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#~])")
_CODE = re.compile(r"(`[^`]*`)")


def markdown(survey: Survey, title: str, run: Run | None = None) -> str:
    """Return the report as Markdown."""
    return "\n".join(_lines(survey, title, run)) + "\n"


def _lines(survey: Survey, title: str, run: Run | None) -> Iterator[str]:
    staged_count, functions = tables.share_staged(survey)
    fates = tables.count_fates(survey.fates)
    yield f"## np2tf: {escape(title)}"
    yield ""
    yield (
        f"**{percent(staged_count, functions)}** of {quantity(functions, 'function')} over arrays "
        f"become compiled code if they take long enough: {fates['staged']} by themselves, "
        f"{fates['called']} only inside something compiled, {fates['looped']} only in their loops. "
        f"The other {fates['host']} stay on NumPy."
    )
    yield ""
    native, uses = tables.share_native(tables.names(survey))
    changes = sum(file.changes for file in survey.files)
    yield (
        f"{quantity(len(survey.files), 'file')}, {changes} would change. {native} of "
        f"{quantity(uses, 'use')} of NumPy ({percent(native, uses)}) run on TensorFlow. "
        f"{quantity(len(survey.findings), 'finding')}."
    )
    becomes = [
        (code(f"{file.name}:{fate.place}"), code(fate.name), message(told(fate)))
        for file in sorted(survey.files, key=lambda file: file.name)
        for fate in file.about_arrays
    ]
    yield from _table(("place", "function", "becomes"), becomes)
    rows = tables.packages(survey)
    if len(rows) > 1:
        yield from _table(
            ("package", "files", "functions", "compiled"),
            [
                (
                    code(row.name),
                    str(row.files),
                    str(row.functions),
                    percent(row.staged_functions, row.functions),
                )
                for row in rows
            ],
        )
    reasons = [(str(count), message(reason)) for reason, count in tables.why_on_host(survey)]
    yield from _table(("functions", "why they stay on NumPy"), reasons)
    entries = [(row.code, str(row.count), message(row.example)) for row in tables.code_rows(survey)]
    yield from _table(("code", "findings", "for example"), entries)
    if run is not None:
        yield from _run(run)


def _run(run: Run) -> Iterator[str]:
    yield ""
    functions = quantity(len(run.functions), "jitted function")
    yield (
        f"{code(run.command)} took {run.seconds:.1f} s (status {run.status}); "
        f"{len(run.compiled_functions)} of {functions} ran as compiled code."
    )
    yield ""
    yield f"np2tf spent {run.spent:.1f} s on compiling, and saved {run.saved:.1f} s by estimation."
    on_host = [(percent(share, 1), code(place), message(text)) for share, place, text in run.on_host]
    yield from _table(("time", "stayed on NumPy", "why, and what helps"), on_host)
    rows = [
        (
            code(function.name),
            str(function.compiled),
            milliseconds(function.each_compiled),
            str(function.host),
            milliseconds(function.each_host),
        )
        for function in run.called_functions
    ]
    yield from _table(("function", "compiled calls", "ms each", "NumPy calls", "ms each"), rows)


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    if not rows:
        return
    yield ""
    yield f"| {' | '.join(headings)} |"
    yield "|" + "---|" * len(headings)
    for row in rows[:ROWS]:
        yield f"| {' | '.join(row)} |"
    if len(rows) > ROWS:
        yield f"| … and {len(rows) - ROWS} more |" + " |" * (len(headings) - 1)


def escape(text: str) -> str:
    """Return a text on one line, with the characters escaped that have a meaning in Markdown."""
    return _SPECIAL.sub(r"\\\1", re.sub(r"\s+", " ", text))


def message(text: str) -> str:
    """Return a message of np2tf as Markdown; code in it stands between backquotes."""
    parts = _CODE.split(text)
    return "".join(code(part[1:-1]) if k % 2 else escape(part) for k, part in enumerate(parts))


def code(text: str) -> str:
    """Return a text as code on one line of a table; it may contain backquotes and bars."""
    text = " ".join(text.split()).replace("|", "\\|")
    longest = max((len(run_of_ticks) for run_of_ticks in re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    space = " " if longest else ""
    return f"{fence}{space}{text}{space}{fence}"
