"""Findings as GitLab's code quality report."""

from __future__ import annotations

import json

from np2tf.diagnostics import Diagnostic
from np2tf.formats.listing import Listing, relative

_SEVERITIES = {"error": "major", "warning": "minor", "note": "info"}


def render(listing: Listing) -> str:
    """Return a list of issues. GitLab recognises known issues by their fingerprints."""
    issues = [_issue(finding, mark, listing) for finding, mark in listing.with_fingerprints()]
    return json.dumps(issues, indent=2) + "\n"


def _issue(finding: Diagnostic, fingerprint: str, listing: Listing) -> dict[str, object]:
    line, column, end_line, end_column = listing.place(finding)
    return {
        "check_name": finding.code,
        "description": f"{finding.code}: {listing.message(finding)}",
        "fingerprint": fingerprint,
        "severity": _SEVERITIES[finding.severity],
        "location": {
            "path": relative(finding.path),
            "positions": {
                "begin": {"line": line, "column": column},
                "end": {"line": end_line, "column": end_column},
            },
        },
    }
