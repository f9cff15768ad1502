"""Findings as a JSON list of objects."""

from __future__ import annotations

import json

from np2tf.diagnostics import Diagnostic, codes
from np2tf.formats.listing import Listing


def render(listing: Listing) -> str:
    """Return the findings with all their fields."""
    return json.dumps([_entry(finding, listing) for finding in listing.findings], indent=2) + "\n"


def _entry(finding: Diagnostic, listing: Listing) -> dict[str, object]:
    end_line, end_column = listing.end(finding)
    return {
        "path": finding.path,
        "cell": finding.cell,
        "line": finding.line,
        "column": finding.column,
        "end_line": end_line,
        "end_column": end_column,
        "code": finding.code,
        "severity": finding.severity,
        "message": finding.message,
        "remedy": codes()[finding.code].remedy,
    }
