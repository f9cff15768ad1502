"""The report as one HTML page that needs no other file, with its charts."""

from __future__ import annotations

import importlib.resources
import json
import re
from collections.abc import Mapping, Sequence
from math import pi
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from np2tf.cli.report import tables
from np2tf.cli.report.runs import Run, milliseconds
from np2tf.cli.report.survey import FileSurvey, Survey, percent
from np2tf.translator.batch.patches import LineMatcher

# -- charts --------------------------------------------------------------------------------------------------
# Shares and counts as SVG, coloured by classes of the page's style sheet.

_RADIUS = 42.0
_GAP = 1.2


def bar(parts: Mapping[str, float], whole: float | None = None, label: str = "") -> Markup:
    """Return a bar of adjacent parts, as wide as the element around it.

    Args:
        parts: class of the colour -> size.
        whole: the size of the full width; by default the sum of the parts.
        label: the chart in words, for readers who cannot see it.
    """
    total = whole or sum(parts.values())
    rects, x = [], 0.0
    for name, size in parts.items():
        width = 100 * size / total if total else 0.0
        if width > 0:
            rects.append(
                Markup('<rect class="{}" x="{}" y="0" width="{}" height="10"/>').format(
                    name, f"{x:.3f}", f"{width:.3f}"
                )
            )
        x += width
    start_tag = Markup('<svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" role="img"')
    return start_tag + Markup(' aria-label="{}">{}</svg>').format(label, Markup("").join(rects))


def ring(parts: Mapping[str, float], share: str, below: str) -> Markup:
    """Return a ring of parts with a text in it."""
    total = sum(parts.values())
    around = 2 * pi * _RADIUS
    arcs, offset = [], 0.0
    sizes = {name: size for name, size in parts.items() if size > 0}
    for name, size in sizes.items():
        length = around * size / total
        gap = min(_GAP, length / 2) if len(sizes) > 1 else 0.0
        arc = '<circle class="{}" cx="50" cy="50" r="{}" stroke-dasharray="{} {}" stroke-dashoffset="{}"/>'
        numbers = (f"{length - gap:.3f}", f"{around - length + gap:.3f}", f"{-offset:.3f}")
        arcs.append(Markup(arc).format(name, _RADIUS, *numbers))
        offset += length
    if not arcs:
        arcs.append(Markup('<circle class="none" cx="50" cy="50" r="{}"/>').format(_RADIUS))
    text = Markup('<text x="50" y="50">{}</text><text class="below" x="50" y="64">{}</text>')
    return Markup(
        '<svg class="ring" viewBox="0 0 100 100" role="img" aria-label="{}"><g>{}</g>{}</svg>'
    ).format(f"{share} {below}", Markup("").join(arcs), text.format(share, below))


# -- page ----------------------------------------------------------------------------------------------------
# The report as one HTML page that needs no other file.

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
        title: the name of the repository.
        date: the time at which the report is made, as text.
    """
    environment = html_environment()
    environment.filters |= {"told": message_markup, "breakable": breakable, "milliseconds": milliseconds}
    template = environment.from_string(resource("page.html.jinja"))
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
        bar=bar,
        ring=ring,
        percent=percent,
        style=Markup(resource("colours.css") + resource("page.css")),
        script=Markup(resource("highlight.js") + resource("page.js")),
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


def html_environment() -> Environment:
    """Return what renders templates of pages: every text is escaped, and every name must exist."""
    return Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


def resource(name: str, package: str = "np2tf.cli.report") -> str:
    """Return the text of a file that stands beside the modules of a package."""
    return (importlib.resources.files(package) / name).read_text(encoding="utf-8")


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
            "line": file.line_of(fate),
            "name": fate.name,
            "fate": fate.fate,
            "kind": tables.FATES[fate.fate],
            "reason": f"{fate.reason} (line {fate.at})" if fate.at else fate.reason,
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
