"""Findings as workflow commands, which GitHub shows beside the lines of a pull request."""

from __future__ import annotations

from np2tf.diagnostics import Diagnostic
from np2tf.formats.listing import Listing, relative

_COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}


def render(listing: Listing) -> str:
    """Return one workflow command for each finding."""
    return "".join(_command(finding, listing) for finding in listing.findings)


def _command(finding: Diagnostic, listing: Listing) -> str:
    line, column, end_line, end_column = listing.place(finding)
    path = relative(finding.path)
    properties = {"title": f"np2tf ({finding.code})", "file": path, "line": line, "endLine": end_line}
    if end_line == line:  # GitHub refuses columns of a range over several lines
        properties |= {"col": column, "endColumn": end_column}
    parameters = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items())
    text = f"{path}:{line}:{column}: {finding.code} {listing.message(finding)}"
    return f"::{_COMMANDS[finding.severity]} {parameters}::{_data(text)}\n"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
