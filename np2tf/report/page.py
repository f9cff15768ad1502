"""The report as one HTML page that needs no other file."""

from __future__ import annotations

import importlib.resources
import json
import re
from collections.abc import Sequence
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from np2tf.disk.matching import LineMatcher
from np2tf.report import charts, tables
from np2tf.report.runs import Run, milliseconds
from np2tf.report.survey import FileSurvey, Survey, percent

#: Characters that end a script, or begin a comment in a script.
_UNSAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
#: How np2tf provides a name -> the class of its colour.
SUPPORT_COLOURS = {
    "native": "staged",
    "drawn": "called",
    "host": "host",
    "kept": "plain",
    **dict.fromkeys(("no", "unknown"), "refused"),
}


def page(survey: Survey, title: str, date: str, version: str, run: Run | None = None) -> str:
    """Return the page.

    Args:
        survey: the survey of the repository.
        title: the name of the repository.
        date: the time at which the report is made, as text.
        version: the version of np2tf.
        run: the run of a program; None if no program was run.
    """
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"told": message_markup, "breakable": breakable, "milliseconds": milliseconds}
    template = environment.from_string(_resource("page.html.jinja"))
    rows = tables.names(survey)
    return template.render(
        title=title,
        made=date,
        version=version,
        survey=survey,
        files=sorted(survey.files, key=lambda file: file.name),
        fates=tables.count_fates(survey.fates),
        told={short: fate for fate, short in tables.FATES.items()},
        staged=tables.share_staged(survey),
        native=tables.share_native(rows),
        packages=tables.packages(survey),
        reasons=tables.why_on_host(survey),
        found=tables.code_rows(survey),
        names=rows,
        counted=tables.count_fates,
        support=tables.SUPPORT,
        supported=tables.uses_by_support(rows),
        colours=SUPPORT_COLOURS,
        run=run,
        bar=charts.bar,
        ring=charts.ring,
        percent=percent,
        style=Markup(_resource("page.css")),
        script=Markup(_resource("page.js")),
        data=embed_json(_data(survey)),
    )


def message_markup(text: str) -> Markup:
    """Return a message of np2tf as HTML; code in it stands between backquotes."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return Markup("{}").format(text)
    return Markup("").join(
        Markup("<code>{}</code>" if k % 2 else "{}").format(part) for k, part in enumerate(parts)
    )


def breakable(path: str) -> Markup:
    """Return a path that may be broken into lines after each folder."""
    return Markup("/<wbr>").join(path.split("/"))


def embed_json(value: object) -> Markup:
    """Return a value as JSON for a script element: no part of it can be read as HTML."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for character, replacement in _UNSAFE.items():
        text = text.replace(character, replacement)
    return Markup(text.encode("utf-8", "replace").decode("utf-8"))


def _resource(name: str) -> str:
    return (importlib.resources.files("np2tf.report") / name).read_text(encoding="utf-8")


def _data(survey: Survey) -> dict[str, Any]:
    rows = tables.code_rows(survey)
    entries = {row.code: {"title": row.title, "why": row.why, "remedy": row.remedy} for row in rows}
    return {"codes": entries, "files": {file.name: _file(file) for file in survey.files}}


def _file(file: FileSurvey) -> dict[str, Any]:
    before, after = lines_of(file.before), lines_of(file.after)
    findings = [
        {
            "line": finding.line,
            "row": file.line_of(finding),
            "column": finding.column,
            "end": finding.end,
            "cell": finding.cell,
            "code": finding.code,
            "severity": finding.severity,
            "message": finding.message,
        }
        for finding in file.findings
    ]
    fates = [
        {
            "line": fate.line,
            "name": fate.name,
            "fate": fate.fate,
            "kind": tables.FATES[fate.fate],
            "reason": fate.reason,
        }
        for fate in file.fates
    ]
    return {"lines": before, "edits": edits(before, after), "findings": findings, "fates": fates}


def lines_of(text: str) -> list[str]:
    """Return the lines of a source as Python counts them, without their ends."""
    lines = re.split(r"\r\n|\r|\n", text.removeprefix("\ufeff"))
    return lines[:-1] if lines[-1] == "" else lines


def edits(before: Sequence[str], after: Sequence[str]) -> list[tuple[int, int, list[str]]]:
    """Return the edits of a translation: the first line, the line behind the last (from 0), the new lines."""
    if before == after:
        return []
    return [
        (first, behind, list(after[new:new_behind]))
        for tag, first, behind, new, new_behind in LineMatcher(before, after).get_opcodes()
        if tag != "equal"
    ]
