"""Findings as SARIF 2.1.0, which code scanning services read."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import quote

from np2tf.diagnostics import Diagnostic, codes
from np2tf.formats.listing import Listing, relative

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_ROOT = "SRCROOT"


def render(listing: Listing) -> str:
    """Return one run, with the rules of the codes that occur."""
    rules = sorted({finding.code for finding in listing.findings})
    driver = {"name": "np2tf", "version": listing.version, "rules": [_rule(code) for code in rules]}
    results = [_result(finding, mark, rules, listing) for finding, mark in listing.with_fingerprints()]
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_ROOT: {"uri": Path.cwd().as_uri() + "/"}},
        "invocations": [
            {"executionSuccessful": not any(finding.code == "NP2TF905" for finding in listing.findings)}
        ],
        "results": results,
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(code: str) -> dict[str, object]:
    entry = codes()[code]
    return {
        "id": code,
        "shortDescription": {"text": entry.title},
        "fullDescription": {"text": entry.why},
        "help": {"text": entry.remedy},
        "defaultConfiguration": {"level": entry.severity},
    }


def _result(finding: Diagnostic, fingerprint: str, rules: list[str], listing: Listing) -> dict[str, object]:
    line, column, end_line, end_column = listing.place(finding)
    region = {
        "startLine": line,
        "startColumn": column,
        "endLine": end_line,
        "endColumn": end_column,
    }
    location = {"artifactLocation": _artifact(finding.path), "region": region}
    return {
        "ruleId": finding.code,
        "ruleIndex": rules.index(finding.code),
        "level": finding.severity,
        "message": {"text": listing.message(finding)},
        "locations": [{"physicalLocation": location}],
        "partialFingerprints": {"np2tf/v1": fingerprint},
    }


def _artifact(path: str) -> dict[str, str]:
    """Return the location of a file: relative if it lies below the current folder, else absolute."""
    short = relative(path)
    if Path(short).is_absolute():
        return {"uri": "file://" + quote(short, errors="surrogateescape")}
    return {"uri": quote(short, errors="surrogateescape"), "uriBaseId": _ROOT}
