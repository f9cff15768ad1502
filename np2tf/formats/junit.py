"""Findings as JUnit's XML: each file is a suite, each finding a failed test. Notes are not failures."""

from __future__ import annotations

import re
from itertools import groupby
from xml.etree import ElementTree

from np2tf.diagnostics import Diagnostic
from np2tf.formats.listing import Listing, relative

#: Characters that XML 1.0 cannot hold.
_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(listing: Listing) -> str:
    """Return one suite for each file that was checked. A file without findings is a test that passed."""
    groups = {path: list(group) for path, group in groupby(listing.findings, lambda finding: finding.path)}
    suites = ElementTree.Element("testsuites", name="np2tf")
    total = failure_count = 0
    for path in dict.fromkeys((*listing.files, *groups)):
        findings = groups.get(path, [])
        failures = sum(finding.severity != "note" for finding in findings)
        name = _legal(relative(path))
        tests = max(1, len(findings))
        counts = {"tests": str(tests), "failures": str(failures), "errors": "0", "skipped": "0"}
        suite = ElementTree.SubElement(suites, "testsuite", {"name": name, **counts})
        if not findings:
            ElementTree.SubElement(suite, "testcase", name="np2tf", classname=_class(name))
        for finding in findings:
            _case(suite, finding, name, listing)
        total, failure_count = total + tests, failure_count + failures
    suites.attrib.update(tests=str(total), failures=str(failure_count), errors="0")
    ElementTree.indent(suites)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(suites, "unicode") + "\n"


def _case(suite: ElementTree.Element, finding: Diagnostic, name: str, listing: Listing) -> None:
    line, column, *_ = listing.place(finding)
    title = f"{finding.code} {line}:{column}"
    where = {"file": name, "line": str(line)}
    case = ElementTree.SubElement(suite, "testcase", {"name": title, "classname": _class(name), **where})
    message = _legal(listing.message(finding))
    text = f"{name}:{line}:{column}: {finding.code} {message}"
    if finding.severity == "note":
        ElementTree.SubElement(case, "system-out").text = text
    else:
        failure = ElementTree.SubElement(case, "failure", message=message, type=finding.code)
        failure.text = text


def _class(name: str) -> str:
    return name.removesuffix(".py").replace("/", ".").strip(".")


def _legal(text: str) -> str:
    return _ILLEGAL.sub("\N{REPLACEMENT CHARACTER}", text)
