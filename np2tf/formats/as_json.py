"""Findings as a JSON list of objects."""

from __future__ import annotations

import json

from np2tf.diagnostics import Diagnostic, codes
from np2tf.formats.listing import Listing


def render(listing: Listing) -> str:
    """Return the findings with all their fields."""
    return json.dumps([_entry(found, listing) for found in listing.findings], indent=2) + "\n"


def _entry(found: Diagnostic, listing: Listing) -> dict[str, object]:
    end_line, end_column = listing.end(found)
    return {
        "path": found.path,
        "cell": found.cell,
        "line": found.line,
        "column": found.column,
        "end_line": end_line,
        "end_column": end_column,
        "code": found.code,
        "severity": found.severity,
        "message": found.message,
        "remedy": codes()[found.code].remedy,
    }
